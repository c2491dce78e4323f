import Type from 'typebox';
import { previewOutgoing } from '../../../domain/analysis/ai/ai.outgoing.ts';
import { listAiUsage } from '../../../domain/analysis/ai/ai.usage.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { DateOnly, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { apiAddress } from '../../../integrations/models/models.open.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { AiPreviewSchema, AiUsageSchema } from '../../schemas/ai.ts';
import { listQuery } from '../../schemas/common.ts';
import type { App } from '../../types.ts';
import { settingsOf } from './settings.routes.ts';

/** Preview of the data sent to the AI provider, and usage. */
export function registerAiSettingRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Settings' });

  routes.get('/api/v1/settings/ai/preview', {
    id: 'previewAiSettings',
    summary: 'Preview the data of a card that the AI provider would get',
    description: 'With the current settings and your rights. Nothing is sent.',
    permission: 'admin.settings',
    permissionNote: 'inventory.view for all cards; otherwise only cards that a stakeholder role shows',
    query: object({ card_id: Type.String({ ...Uuid, description: 'The card' }) }),
    answers: ok('The card as it would be sent', AiPreviewSchema),
    errors: ['not_found'],
    handler: async ({ ctx, query, request }) => {
      const { ai } = (await settingsOf(services, request)).values;
      const preview = await previewOutgoing(ctx, ai, query.card_id);
      return { provider_type: ai.provider_type, address: apiAddress(ai), ...preview };
    },
  });

  routes.get('/api/v1/settings/ai/usage', {
    id: 'listAiUsage',
    summary: 'List the usage and cost of language models',
    description: 'By day in UTC, run, purpose and model; the budgets limit these amounts.',
    permission: 'admin.settings',
    query: listQuery(['day', 'purpose'], 'day', {
      day: Type.Optional(Type.String({ ...DateOnly, description: 'In UTC' })),
      run_id: Type.Optional(Type.String({ ...Uuid, description: 'Only usage of this analysis run' })),
    }),
    answers: page('Use', AiUsageSchema),
    handler: ({ ctx, query }) => listAiUsage(ctx, query),
  });
}
