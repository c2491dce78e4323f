import Type from 'typebox';
import { linkCards, unlinkCard } from '../../../domain/governance/risks/risks.cards.ts';
import {
  createRisk,
  deleteRisk,
  type Promotion,
  patchRisk,
  promoteFinding,
  type RiskInput,
} from '../../../domain/governance/risks/risks.commands.ts';
import { importRisks } from '../../../domain/governance/risks/risks.import.ts';
import {
  cardRiskFilters,
  listCardRisks,
  listRisks,
  readRisk,
  readRiskMetrics,
  riskFilters,
  riskSorts,
} from '../../../domain/governance/risks/risks.list.ts';
import type { CardRole } from '../../../domain/governance/risks/risks.model.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { created, ok, routesOf } from '../../operation.ts';
import { listAnswer, listQuery } from '../../schemas/common.ts';
import * as schemas from '../../schemas/risks.ts';
import type { App } from '../../types.ts';

const MIB = 1024 * 1024;
const readingGroup = { tag: 'Risks', module: 'grc', permission: 'risks.view' } as const;
const maintainingGroup = { tag: 'Risks', module: 'grc', permission: 'risks.manage' } as const;
const risk = schemas.RiskSchema;
const listed = listAnswer(schemas.RiskItemSchema);

/** The risk register. */
export function registerRiskRoutes(app: App): void {
  const reading = routesOf(app, readingGroup);
  const maintaining = routesOf(app, maintainingGroup);

  reading.get('/api/v1/risks', {
    id: 'listRisks',
    summary: 'List risks',
    description:
      'With `sort_by=level` the most severe come first in ascending order. `search` searches reference, title and description.',
    query: listQuery(riskSorts, 'updated_at', riskFilters),
    answers: ok('Risks, last changed first', listed),
    handler: ({ ctx, query }) => listRisks(ctx, query),
  });

  maintaining.post('/api/v1/risks', {
    id: 'createRisk',
    summary: 'Create a risk',
    description:
      'It gets the next reference and the status `identified`. Its owner gets a notification and a to-do; cards are linked as `affected`.',
    body: schemas.RiskCreateBody,

    answers: created('The risk', risk),
    handler: ({ ctx, body }) => createRisk(ctx, body as RiskInput & { title: string }),
  });

  reading.get('/api/v1/risks/metrics', {
    id: 'readRiskMetrics',
    summary: 'Read figures over risks',
    description:
      'Over the risks that match the filter. `by_level` counts the residual level where it is known, else the initial one.',
    query: object({
      ...riskFilters,
      search: Type.Optional(Type.String({ maxLength: 200, description: 'Words to look for' })),
    }),
    answers: ok('The figures', schemas.RiskMetricsSchema),
    handler: ({ ctx, query }) => readRiskMetrics(ctx, query),
  });

  maintaining.post('/api/v1/risks/bulk-import', {
    id: 'importRisks',
    summary: 'Import risks',
    description:
      'Rows are independent: the others are imported if one fails or is skipped. Rows whose reference or title is in the register or in an earlier row are skipped. Owners and cards that are not found are warnings.',
    body: schemas.RiskImportBody,

    bodyLimit: 32 * MIB,
    answers: ok('The result of each row', schemas.RiskImportSchema),
    handler: ({ ctx, body }) => importRisks(ctx, body.items, body.dry_run),
  });

  maintaining.post('/api/v1/risks/promote/compliance/:finding_id', {
    id: 'promoteComplianceFinding',
    summary: 'Create a risk from a compliance finding',
    description:
      'On the finding’s card, with one task to remedy it. The finding becomes `risk_tracked` and follows the risk from then on. Repeated, it returns the existing risk and writes nothing. The body replaces what the finding suggests.',
    permissionNote: 'compliance.view; grc.view',
    body: schemas.PromotionBody,

    answers: {
      200: { description: 'The risk that the finding has already', schema: risk, headers: ['ETag'] },
      201: { description: 'The new risk', schema: risk, headers: ['ETag'] },
    },
    handler: async ({ ctx, params, body, reply }) => {
      const { text, isNew } = await promoteFinding(ctx, params.finding_id, (body ?? {}) as Promotion);
      reply.code(isNew ? 201 : 200);
      return text;
    },
  });

  registerOneRiskRoutes(app);
}

/** Operations on one risk, and the risks of a card. */
function registerOneRiskRoutes(app: App): void {
  const reading = routesOf(app, readingGroup);
  const maintaining = routesOf(app, maintainingGroup);

  reading.get('/api/v1/risks/:risk_id', {
    id: 'getRisk',
    summary: 'Read a risk',
    answers: ok('The risk', risk),
    handler: ({ ctx, params }) => readRisk(ctx, params.risk_id),
  });

  maintaining.patch('/api/v1/risks/:risk_id', {
    id: 'patchRisk',
    summary: 'Change a risk',
    description:
      'From `identified` to `analysed`, `mitigation_planned`, `in_progress`, `mitigated`, `monitoring` and `closed`; `accepted` from any but `mitigated` and `closed`, with a rationale; back to `in_progress` from `mitigated`, `monitoring`, `accepted` and `closed`. A refusal names what is `allowed`. A closed risk can only be reopened.',
    body: schemas.RiskPatchBody,

    headers: ['If-Match'],
    answers: ok('The risk', risk),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => patchRisk(ctx, params.risk_id, body as RiskInput),
  });

  maintaining.delete('/api/v1/risks/:risk_id', {
    id: 'deleteRisk',
    summary: 'Delete a risk',
    description: 'With its tasks and links. The findings that it tracked are `in_review`.',
    headers: ['If-Match'],
    handler: ({ ctx, params }) => deleteRisk(ctx, params.risk_id),
  });

  maintaining.post('/api/v1/risks/:risk_id/cards', {
    id: 'linkRiskCards',
    summary: 'Link cards to a risk',
    description: 'Cards that are linked already take the role.',
    body: schemas.CardLinkBody,
    headers: ['If-Match'],
    answers: ok('The risk', risk, 'ETag'),
    errors: ['conflict', 'wrong_state'],
    handler: ({ ctx, params, body }) => linkCards(ctx, params.risk_id, body.card_ids, body.role as CardRole),
  });

  maintaining.delete('/api/v1/risks/:risk_id/cards/:card_id', {
    id: 'unlinkRiskCard',
    summary: 'Unlink a card from a risk',
    headers: ['If-Match'],
    answers: ok('The risk', risk, 'ETag'),
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => unlinkCard(ctx, params.risk_id, params.card_id),
  });

  reading.get('/api/v1/cards/:card_id/risks', {
    id: 'listCardRisks',
    summary: 'List the risks of a card',
    permissionNote: 'inventory.view, or a stakeholder role that shows the card',
    query: listQuery(riskSorts, 'updated_at', cardRiskFilters),
    answers: ok('Risks, last changed first', listed),
    handler: ({ ctx, params, query }) => listCardRisks(ctx, params.card_id, query),
  });
}
