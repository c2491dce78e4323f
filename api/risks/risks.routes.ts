import Type, { type TSchema } from 'typebox';
import { linkCards, unlinkCard } from '../../domain/governance/risks/risks.cards.ts';
import {
  createRisk,
  deleteRisk,
  patchRisk,
  type RiskInput,
} from '../../domain/governance/risks/risks.commands.ts';
import { importRisks } from '../../domain/governance/risks/risks.import.ts';
import {
  cardRiskFilters,
  listCardRisks,
  listRisks,
  readRisk,
  riskFilters,
  riskSorts,
} from '../../domain/governance/risks/risks.list.ts';
import { readRiskMetrics } from '../../domain/governance/risks/risks.metrics.ts';
import { type Promotion, promoteFinding } from '../../domain/governance/risks/risks.promote.ts';
import type { CardRole } from '../../domain/governance/risks/risks.types.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import * as schemas from '../schemas/risks.ts';
import type { App } from '../types.ts';

const MIB = 1024 * 1024;
const reading = { tag: 'Risks', module: 'grc', permission: 'risks.view' } as const;
const maintaining = { tag: 'Risks', module: 'grc', permission: 'risks.manage' } as const;
const Params = Type.Object({ risk_id: Uuid }, closed);
const risk = Type.Ref('Risk#');
const listed = listAnswer(Type.Ref('RiskItem#'));

/** The risk register. */
export function registerRiskRoutes(app: App): void {
  const shared: TSchema[] = [
    schemas.RiskSchema,
    schemas.RiskItemSchema,
    schemas.RiskMetricsSchema,
    schemas.RiskImportSchema,
  ];
  for (const schema of shared) app.addSchema(schema);

  operation(app, {
    ...reading,
    method: 'GET',
    url: '/api/v1/risks',
    id: 'listRisks',
    summary: 'List risks',
    description:
      'With `sort_by=level` the gravest come first when they ascend. `search` looks into reference, title and description.',
    query: listQuery(riskSorts, 'updated_at', riskFilters),
    answers: { 200: { description: 'Risks, what was changed last first', schema: listed } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listRisks(ctx, query)),
  });

  operation(app, {
    ...maintaining,
    method: 'POST',
    url: '/api/v1/risks',
    id: 'createRisk',
    summary: 'Write a risk',
    description:
      'It gets the next reference, and begins as `identified`. Its owner is told and asked to see to it; cards are linked as `affected`.',
    body: schemas.RiskCreateBody,
    bodyExample: {
      title: 'The data centre has one power line',
      category: 'technology',
      initial_probability: 'low',
      initial_impact: 'critical',
      target_resolution_date: '2031-06-30',
    },
    answers: { 201: { description: 'The risk', schema: risk, headers: ['ETag'] } },
    handler: async ({ ctx, body, reply }) =>
      sendResource(reply.code(201), await createRisk(ctx, body as RiskInput & { title: string })),
  });

  operation(app, {
    ...reading,
    method: 'GET',
    url: '/api/v1/risks/metrics',
    id: 'readRiskMetrics',
    summary: 'Read figures over risks',
    description:
      'Over the risks that the filter lets through. `by_level` counts the residual level where it is known, else the initial one.',
    query: Type.Object(
      {
        ...riskFilters,
        search: Type.Optional(Type.String({ maxLength: 200, description: 'Words to look for' })),
      },
      closed,
    ),
    answers: { 200: { description: 'The figures', schema: Type.Ref('RiskMetrics#') } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await readRiskMetrics(ctx, query)),
  });

  operation(app, {
    ...maintaining,
    method: 'POST',
    url: '/api/v1/risks/bulk-import',
    id: 'importRisks',
    summary: 'Import risks',
    description:
      'Each row stands for itself: one that fails or is skipped stops no other. Skipped are rows whose reference, or else title, the register or a row before has. Owners and cards that are not found are warnings.',
    body: schemas.RiskImportBody,
    bodyExample: {
      items: [
        {
          row_index: 1,
          title: 'The only administrator leaves',
          category: 'operational',
          initial_probability: 'high',
          owner_email: 'owner@estate.example',
          card_names: ['Payroll'],
        },
      ],
      dry_run: true,
    },
    bodyLimit: 32 * MIB,
    answers: { 200: { description: 'What became of each row', schema: Type.Ref('RiskImport#') } },
    handler: async ({ ctx, body }) => await importRisks(ctx, body.items, body.dry_run),
  });

  operation(app, {
    ...maintaining,
    method: 'POST',
    url: '/api/v1/risks/promote/compliance/:finding_id',
    id: 'promoteComplianceFinding',
    summary: 'Make a risk of a finding about a regulation',
    description:
      'On the finding’s card, with one task to remedy it. The finding becomes `risk_tracked` and follows the risk from then on. Repeated it gives back the risk that is there, and nothing is written. The body replaces what the finding suggests.',
    permissionNote: 'compliance.view; grc.view',
    params: Type.Object({ finding_id: Uuid }, closed),
    body: schemas.PromotionBody,
    bodyExample: { initial_probability: 'high' },
    answers: {
      200: { description: 'The risk that the finding has already', schema: risk, headers: ['ETag'] },
      201: { description: 'The new risk', schema: risk, headers: ['ETag'] },
    },
    handler: async ({ ctx, params, body, reply }) => {
      const { text, isNew } = await promoteFinding(ctx, params.finding_id, (body ?? {}) as Promotion);
      return sendResource(reply.code(isNew ? 201 : 200), text);
    },
  });

  registerSingleRiskRoutes(app);
}

/** One risk. */
function registerSingleRiskRoutes(app: App): void {
  operation(app, {
    ...reading,
    method: 'GET',
    url: '/api/v1/risks/:risk_id',
    id: 'getRisk',
    summary: 'Read a risk',
    params: Params,
    answers: { 200: { description: 'The risk', schema: risk } },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readRisk(ctx, params.risk_id)),
  });

  operation(app, {
    ...maintaining,
    method: 'PATCH',
    url: '/api/v1/risks/:risk_id',
    id: 'patchRisk',
    summary: 'Change a risk',
    description:
      'From `identified` to `analysed`, `mitigation_planned`, `in_progress`, `mitigated`, `monitoring` and `closed`; `accepted` from any but `mitigated` and `closed`, with a rationale; back to `in_progress` from `mitigated`, `monitoring`, `accepted` and `closed`. A refusal names what is `allowed`. A closed risk is opened again and nothing else.',
    params: Params,
    body: schemas.RiskPatchBody,
    bodyExample: { status: 'accepted', acceptance_rationale: 'Costs more than it saves.' },
    headers: ['If-Match'],
    answers: { 200: { description: 'The risk', schema: risk } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchRisk(ctx, params.risk_id, body as RiskInput)),
  });

  operation(app, {
    ...maintaining,
    method: 'DELETE',
    url: '/api/v1/risks/:risk_id',
    id: 'deleteRisk',
    summary: 'Delete a risk',
    description: 'With its tasks and links. The findings that it tracked are `in_review`.',
    params: Params,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    handler: async ({ ctx, params, reply }) => {
      await deleteRisk(ctx, params.risk_id);
      return reply.code(204).send();
    },
  });

  operation(app, {
    ...maintaining,
    method: 'POST',
    url: '/api/v1/risks/:risk_id/cards',
    id: 'linkRiskCards',
    summary: 'Link cards to a risk',
    description: 'Cards that are linked already take the role.',
    params: Params,
    body: schemas.CardLinkBody,
    headers: ['If-Match'],
    answers: { 200: { description: 'The risk', schema: risk, headers: ['ETag'] } },
    errors: ['conflict', 'wrong_state'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await linkCards(ctx, params.risk_id, body.card_ids, body.role as CardRole)),
  });

  operation(app, {
    ...maintaining,
    method: 'DELETE',
    url: '/api/v1/risks/:risk_id/cards/:card_id',
    id: 'unlinkRiskCard',
    summary: 'Take a card off a risk',
    params: Type.Object({ risk_id: Uuid, card_id: Uuid }, closed),
    headers: ['If-Match'],
    answers: { 200: { description: 'The risk', schema: risk, headers: ['ETag'] } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, reply }) =>
      sendResource(reply, await unlinkCard(ctx, params.risk_id, params.card_id)),
  });

  operation(app, {
    ...reading,
    method: 'GET',
    url: '/api/v1/cards/:card_id/risks',
    id: 'listCardRisks',
    summary: 'List the risks of a card',
    permissionNote: 'inventory.view, or a stakeholder role that shows the card',
    params: Type.Object({ card_id: Uuid }, closed),
    query: listQuery(riskSorts, 'updated_at', cardRiskFilters),
    answers: { 200: { description: 'Risks, what was changed last first', schema: listed } },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listCardRisks(ctx, params.card_id, query)),
  });
}
