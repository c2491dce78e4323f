import Type, { type TSchema } from 'typebox';
import { decideModernization } from '../../domain/analysis/modernizations/modernizations.decide.ts';
import { listModernizations } from '../../domain/analysis/modernizations/modernizations.list.ts';
import {
  type ModernizationsAsked,
  startModernizations,
} from '../../domain/analysis/modernizations/modernizations.start.ts';
import type { ModernizationStatus } from '../../domain/analysis/modernizations/modernizations.types.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { sendJson } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer } from '../schemas/common.ts';
import * as schemas from '../schemas/modernizations.ts';
import type { App } from '../types.ts';

const own = { module: 'ai_analysis', tag: 'AI analysis' } as const;
const root = '/api/v1/ai-analysis/modernizations';

/** What should be modernised, by lifecycle, suitability, plans, costs, dependants and criticality. */
export function registerModernizationRoutes(app: App): void {
  app.addSchema(schemas.ModernizationSchema as TSchema);

  operation(app, {
    ...own,
    method: 'POST',
    url: `${root}/analyse`,
    id: 'analyseModernizations',
    summary: 'Find out what should be modernised, as a job',
    description:
      'Judges all active cards of a type, by a formula that the documentation tells. No model is needed. What earlier runs found of the type is replaced when the run ends. 409 while a run of the kind is under way.',
    permission: 'ai_analysis.manage',
    body: schemas.ModernizationsBody,
    bodyExample: { target_type: 'Application', modernization_type: 'general' },
    errors: ['wrong_state'],
    answers: { 202: { description: 'The run has been started', schema: Type.Ref('StartedRun#') } },
    handler: async ({ ctx, body, reply }) => {
      const { target_type = 'Application', modernization_type = 'general' } = body;
      const run = await startModernizations(ctx, { target_type, modernization_type } as ModernizationsAsked);
      reply.code(202).header('location', run.links.job);
      return run;
    },
  });

  operation(app, {
    ...own,
    method: 'GET',
    url: root,
    id: 'listModernizations',
    summary: 'List what should be modernised, the most pressing first',
    description:
      'As the last run over each type found it. Without costs.view scores and their order are those that would be without costs.',
    permission: 'ai_analysis.view',
    permissionNote: 'inventory.view; relations.view',
    query: schemas.ModernizationsQuery,
    answers: { 200: { description: 'Candidates', schema: listAnswer(Type.Ref('Modernization#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listModernizations(ctx, query)),
  });

  operation(app, {
    ...own,
    method: 'PATCH',
    url: `${root}/:modernization_id/status`,
    id: 'decideModernization',
    summary: 'Accept or dismiss what is proposed for a card',
    description:
      'It stays decided for as often as the same is proposed for the card; `pending` takes it back. Dismissed candidates are listed still, and counted no more.',
    permission: 'ai_analysis.manage',
    permissionNote: 'ai_analysis.view; inventory.view; relations.view',
    params: Type.Object({ modernization_id: Uuid }, closed),
    body: schemas.ModernizationStatusBody,
    bodyExample: { status: 'accepted' },
    answers: { 200: { description: 'The candidate', schema: Type.Ref('Modernization#') } },
    handler: async ({ ctx, params, body, reply }) =>
      sendJson(
        reply,
        await decideModernization(ctx, params.modernization_id, body.status as ModernizationStatus),
      ),
  });
}
