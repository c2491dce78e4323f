import {
  decideModernization,
  listModernizations,
  modernizationFilters,
  modernizationSorts,
  startModernizations,
} from '../../../domain/analysis/modernizations/modernizations.list.ts';
import { ok, page, routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/analysis.ts';
import { listQuery } from '../../schemas/common.ts';
import type { App } from '../../types.ts';
import { sendStarted } from './analysis-runs.routes.ts';

const root = '/api/v1/ai-analysis/modernizations';

/** Modernization proposals by lifecycle, suitability, plans, costs, dependants and criticality. */
export function registerModernizationRoutes(app: App): void {
  const own = routesOf(app, { module: 'ai_analysis', tag: 'AI analysis' });

  own.post('/api/v1/ai-analysis/modernizations/analyse', {
    id: 'analyseModernizations',
    summary: 'Propose modernizations, as a job',
    description:
      'Scores all active cards of a type by a documented formula, without a language model. When the run ends, its proposals replace those of earlier runs over the type. The response is 409 while a run of this kind is in progress.',
    permission: 'ai_analysis.manage',
    body: schemas.ModernizationsBody,

    errors: ['wrong_state'],
    answers: { 202: { description: 'The run has been started', schema: schemas.StartedRunSchema } },
    handler: async ({ ctx, body, reply }) => {
      const { target_type = 'Application', modernization_type = 'general' } = body;
      return sendStarted(reply, await startModernizations(ctx, { target_type, modernization_type }));
    },
  });

  own.get(root, {
    id: 'listModernizations',
    summary: 'List proposed modernizations, the highest score first',
    description:
      'The results of the last run over each type. Without costs.view scores and their order do not include costs.',
    permission: 'ai_analysis.view',
    permissionNote: 'inventory.view; relations.view',
    query: listQuery(modernizationSorts, 'score', modernizationFilters),
    answers: page('Proposals', schemas.ModernizationSchema),
    handler: ({ ctx, query }) => listModernizations(ctx, query),
  });

  own.patch('/api/v1/ai-analysis/modernizations/:modernization_id/status', {
    id: 'decideModernization',
    summary: 'Accept or dismiss a proposed modernization',
    description:
      'The decision also applies when later runs propose the same for the card; `pending` deletes it. Dismissed proposals are still listed, but no longer counted.',
    permission: 'ai_analysis.manage',
    permissionNote: 'ai_analysis.view; inventory.view; relations.view',
    body: schemas.ModernizationStatusBody,

    answers: ok('The proposal', schemas.ModernizationSchema),
    handler: ({ ctx, params, body }) => decideModernization(ctx, params.modernization_id, body.status),
  });
}
