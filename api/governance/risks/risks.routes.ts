import Type from 'typebox';
import { linkCards, MAX_CARDS, unlinkCard } from '../../../domain/governance/risks/risks.cards.ts';
import {
  createRisk,
  deleteRisk,
  type Promotion,
  patchRisk,
  promoteFinding,
  type RiskInput,
} from '../../../domain/governance/risks/risks.commands.ts';
import { linkFinding, unlinkFinding } from '../../../domain/governance/risks/risks.findings.ts';
import { ImportItem, importRisks } from '../../../domain/governance/risks/risks.import.ts';
import { cardRiskList, readRiskMetrics, riskList } from '../../../domain/governance/risks/risks.list.ts';
import {
  type CardRole,
  cardRoles,
  impacts,
  levels,
  probabilities,
  Risk,
  RiskCard,
  riskCategories,
  riskStatuses,
  Text,
  Title,
} from '../../../domain/governance/risks/risks.model.ts';
import {
  Choice,
  Count,
  component,
  DateOnly,
  Flag,
  Nullable,
  NullableId,
  NullableText,
  OptionalText,
  object,
  partialObject,
  TextUpTo,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { created, ok, routesOf } from '../../operation.ts';
import { bodiesOf, filterSchemas, listResponse } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { FindingSchema } from '../compliance/findings.routes.ts';

const { initial_probability: Probability } = Risk.columns;
const { initial_impact: Impact } = Risk.columns;
const Level = Choice(levels);
const { category: Category } = Risk.columns;
const CardIds = (minItems: number) =>
  Type.Array(Uuid, { minItems, maxItems: MAX_CARDS, description: 'Duplicates count once' });

const cardLink = object({
  card_id: Uuid,
  card_name: Type.String(),
  card_type: Type.String(),
  role: RiskCard.columns.role,
});
const riskMembers = {
  ...Risk.columns,
  initial_level: Level,
  residual_level: Nullable(Level),
  owner_name: Nullable(Type.String()),
  cards: Type.Array(cardLink, { description: 'Linked cards that the caller sees' }),
};
const RiskSchema = component('Risk', riskMembers);

const estimate = { category: Category, initial_probability: Probability, initial_impact: Impact };
const plan = {
  owner_id: NullableId('An active user'),
  target_resolution_date: Nullable(DateOnly),
};
const RiskCreateBody = bodiesOf(
  { title: Title },
  { description: Text, ...estimate, ...plan, card_ids: CardIds(0) },
).create;
const RiskPatchBody = partialObject({
  title: Title,
  description: Nullable(Text),
  ...estimate,
  residual_probability: Nullable(Probability),
  residual_impact: Nullable(Impact),
  ...plan,
  status: Choice(riskStatuses, 'Refused with `wrong_state` if it cannot follow the current status'),
  acceptance_rationale: Nullable(
    TextUpTo(10_000, 'Required for `accepted`; cleared when the status changes to another one'),
  ),
});
const CardLinkBody = object({
  card_ids: CardIds(1),
  role: Choice(cardRoles, { default: 'affected' }),
});
const PromotionBody = partialObject({
  title: Nullable(Title),
  description: Nullable(Text),
  category: Nullable(Category),
  initial_probability: Nullable(Probability),
  initial_impact: Nullable(Impact),
  ...plan,
});

const counts = (values: readonly string[]) =>
  object(Object.fromEntries(values.map((value) => [value, Count])));
const Matrix = (of: string) =>
  Type.Array(Type.Array(Count), {
    description: `Four rows of four: by ${of} probability (${probabilities.join(', ')}) and, in each row, impact (${impacts.join(', ')})`,
  });
const RiskMetricsSchema = component('RiskMetrics', {
  total: Count,
  by_status: counts(riskStatuses),
  by_level: counts(levels),
  by_category: counts(riskCategories),
  overdue: Count,
  created_this_month: Type.Integer({ minimum: 0, description: 'Since the first of the month in UTC' }),
  initial_matrix: Matrix('initial'),
  residual_matrix: Matrix('residual'),
});

const RiskImportBody = object({
  items: Type.Array(ImportItem, { minItems: 1, maxItems: 2000 }),
  dry_run: Flag('Preview the import without writing'),
});
const RiskImportSchema = component('RiskImport', {
  results: Type.Array(
    object({
      row_index: Type.Integer(),
      status: Choice(['created', 'skipped', 'failed']),
      id: NullableId('Of a skipped row the existing risk; null in a dry run'),
      reference: Nullable(Type.String()),
      error: NullableText('Why the row was skipped or failed'),
      warnings: Type.Array(Type.String()),
    }),
  ),
  created: Count,
  skipped: Count,
  failed: Count,
  dry_run: Type.Boolean(),
});

const MIB = 1024 * 1024;
const readingGroup = { tag: 'Risks', module: 'grc', permission: 'risks.view' } as const;
const maintainingGroup = { tag: 'Risks', module: 'grc', permission: 'risks.manage' } as const;
const listed = listResponse(RiskSchema);

/** The risk register. */
export function registerRiskRoutes(app: App): void {
  const reading = routesOf(app, readingGroup);
  const maintaining = routesOf(app, maintainingGroup);

  reading.list('listRisks', '/api/v1/risks', riskList, {
    summary: 'List risks',
    description:
      'With `sort_by=level` the most severe come first in ascending order. `search` searches reference, title and description.',
    responses: ok('Risks, last changed first', listed),
  });

  maintaining.post('createRisk', '/api/v1/risks', {
    summary: 'Create a risk',
    description:
      'It gets the next reference and the status `identified`. Its owner gets a notification and a to-do; cards are linked as `affected`.',
    body: RiskCreateBody,
    responses: created('The risk', RiskSchema),
    handler: ({ ctx, body }) => createRisk(ctx, body as RiskInput & { title: string }),
  });

  reading.get('readRiskMetrics', '/api/v1/risks/metrics', {
    summary: 'Read figures over risks',
    description:
      'Over the risks that match the filter. `by_level` counts the residual level where it is known, else the initial one.',
    query: object({
      ...filterSchemas(riskList),
      search: OptionalText(200, 'Words to look for'),
    }),
    responses: ok('The figures', RiskMetricsSchema),
    handler: ({ ctx, query }) => readRiskMetrics(ctx, query),
  });

  maintaining.post('importRisks', '/api/v1/risks/bulk-import', {
    summary: 'Import risks',
    description:
      'Rows are independent: the others are imported if one fails or is skipped. Rows whose reference or title is in the register or in an earlier row are skipped. Owners and cards that are not found are warnings.',
    body: RiskImportBody,
    bodyLimit: 32 * MIB,
    responses: ok('The result of each row', RiskImportSchema),
    handler: ({ ctx, body }) => importRisks(ctx, body.items, body.dry_run),
  });

  maintaining.post('promoteComplianceFinding', '/api/v1/risks/promote/compliance/:finding_id', {
    summary: 'Create a risk from a compliance finding',
    description:
      'On the finding’s card, with one task to remedy it. The finding becomes `risk_tracked` and follows the risk from then on. Repeated, it returns the existing risk and writes nothing. The body replaces what the finding suggests.',
    permissionNote: 'compliance.view; grc.view',
    body: PromotionBody,
    responses: {
      200: { description: 'The risk that the finding has already', schema: RiskSchema, headers: ['ETag'] },
      201: { description: 'The new risk', schema: RiskSchema, headers: ['ETag'] },
    },
    handler: async ({ ctx, params, body, reply }) => {
      const { text, isNew } = await promoteFinding(ctx, params.finding_id, body as Promotion);
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

  reading.item('getRisk', '/api/v1/risks/:risk_id', riskList, 'risk', {
    summary: 'Read a risk',
    responses: ok('The risk', RiskSchema),
  });

  maintaining.patch('patchRisk', '/api/v1/risks/:risk_id', {
    summary: 'Change a risk',
    description:
      'From `identified` to `analysed`, `mitigation_planned`, `in_progress`, `mitigated`, `monitoring` and `closed`; `accepted` from any but `mitigated` and `closed`, with a rationale; back to `in_progress` from `mitigated`, `monitoring`, `accepted` and `closed`. A refusal names what is `allowed`. A closed risk can only be reopened.',
    body: RiskPatchBody,
    responses: ok('The risk', RiskSchema),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => patchRisk(ctx, params.risk_id, body as RiskInput),
  });

  maintaining.delete('deleteRisk', '/api/v1/risks/:risk_id', {
    summary: 'Delete a risk',
    description: 'With its tasks and links. The findings that it tracked are `in_review`.',
    ifMatch: true,
    handler: ({ ctx, params }) => deleteRisk(ctx, params.risk_id),
  });

  maintaining.post('linkRiskCards', '/api/v1/risks/:risk_id/cards', {
    summary: 'Link cards to a risk',
    description: 'Cards that are linked already take the role.',
    body: CardLinkBody,
    ifMatch: true,
    responses: ok('The risk', RiskSchema, 'ETag'),
    errors: ['conflict', 'wrong_state'],
    handler: ({ ctx, params, body }) => linkCards(ctx, params.risk_id, body.card_ids, body.role as CardRole),
  });

  maintaining.delete('unlinkRiskCard', '/api/v1/risks/:risk_id/cards/:card_id', {
    summary: 'Unlink a card from a risk',
    ifMatch: true,
    responses: ok('The risk', RiskSchema, 'ETag'),
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => unlinkCard(ctx, params.risk_id, params.card_id),
  });

  const tracking = { permissionNote: 'compliance.view; grc.view', ifMatch: true } as const;
  const finding = ok('The finding', FindingSchema, 'ETag');

  maintaining.put('linkComplianceFinding', '/api/v1/compliance/findings/:finding_id/risk', {
    ...tracking,
    summary: 'Let an existing risk track a finding',
    description:
      'The finding follows the risk, as if it had been promoted to it, and its card is linked to the risk. Refused for a closed risk, and for a finding that another risk tracks.',
    body: object({ risk_id: Uuid }),
    responses: finding,
    errors: ['conflict', 'wrong_state'],
    handler: ({ ctx, params, body }) => linkFinding(ctx, params.finding_id, body.risk_id),
  });

  maintaining.delete('unlinkComplianceFinding', '/api/v1/compliance/findings/:finding_id/risk', {
    ...tracking,
    summary: 'Stop the tracking of a finding by its risk',
    description: 'The finding is `in_review`; the risk and its cards are not changed.',
    responses: finding,
    handler: ({ ctx, params }) => unlinkFinding(ctx, params.finding_id),
  });

  reading.list('listCardRisks', '/api/v1/cards/:card_id/risks', cardRiskList, {
    summary: 'List the risks of a card',
    permissionNote: 'inventory.view, or a stakeholder role that shows the card',
    responses: ok('Risks, last changed first', listed),
  });
}
