import Type from 'typebox';
import {
  decideModernization,
  modernizationList,
  Priority,
  startModernizations,
} from '../../../domain/analysis/modernizations/modernizations.list.ts';
import {
  Modernization,
  ModernizationDecision,
} from '../../../domain/analysis/modernizations/modernizations.model.ts';
import { modernizationTypes } from '../../../domain/analysis/modernizations/modernizations.types.ts';
import { StartedRunSchema, startedRunQuery } from '../../../domain/analysis/runs/runs.ts';
import {
  Choice,
  itemComponent,
  Nullable,
  object,
  partialObject,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { sendStarted } from './analysis-runs.routes.ts';

const columns = Modernization.shown.columns;
const { decided_by, decided_at } = ModernizationDecision.columns;

const ModernizationSchema = itemComponent('Modernization', {
  ...columns,
  cluster_id: Nullable(Uuid),
  card_name: Type.String(),
  priority: Priority,
  decided_by,
  decided_at: Nullable(decided_at),
});

const ModernizationsBody = partialObject({
  target_type: columns.target_type,
  modernization_type: Choice(
    ['general', ...modernizationTypes],
    '`general`: all types; otherwise only this one',
  ),
});

const ModernizationStatusBody = object({ status: columns.status });

const root = '/api/v1/ai-analysis/modernizations';

/** Modernization proposals by lifecycle, suitability, plans, costs, dependants and criticality. */
export function registerModernizationRoutes(app: App): void {
  const own = routesOf(app, { module: 'ai_analysis', tag: 'AI analysis', permission: 'ai_analysis.manage' });

  own.post('analyseModernizations', '/api/v1/ai-analysis/modernizations/analyse', {
    summary: 'Propose modernizations, as a job',
    description:
      'Scores all active cards of a type by a documented formula, without a language model. When the run ends, its proposals replace those of earlier runs over the type. The response is 409 while a run of this kind is in progress.',
    query: startedRunQuery,
    body: ModernizationsBody,
    errors: ['wrong_state'],
    responses: { 202: { description: 'The run has been started', schema: StartedRunSchema } },
    handler: async ({ ctx, body, query, reply }) => {
      const { target_type = 'Application', modernization_type = 'general' } = body;
      const asked = { target_type, modernization_type };
      return sendStarted(reply, await startModernizations(ctx, asked, query.dry_run));
    },
  });

  own.list('listModernizations', root, modernizationList, {
    summary: 'List proposed modernizations, the highest score first',
    description:
      'The results of the last run over each type. Without costs.view scores and their order do not include costs.',
    permissionNote: 'inventory.view; relations.view',
    responses: page('Proposals', ModernizationSchema),
  });

  own.patch('decideModernization', '/api/v1/ai-analysis/modernizations/:modernization_id/status', {
    ifMatch: false,
    summary: 'Accept or dismiss a proposed modernization',
    description:
      'The decision also applies when later runs propose the same for the card; `pending` deletes it. Dismissed proposals are still listed, but no longer counted.',
    permissionNote: 'ai_analysis.view; inventory.view; relations.view',
    body: ModernizationStatusBody,
    responses: ok('The proposal', ModernizationSchema),
    handler: ({ ctx, params, body }) => decideModernization(ctx, params.modernization_id, body.status),
  });
}
