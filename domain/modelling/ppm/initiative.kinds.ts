import { type Db, embed, fragment } from '../../../platform/database.ts';
import { loadCards, requireCard } from '../../inventory/cards/cards.load.ts';
import { saveCards } from '../../inventory/cards/cards.save.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { columnSorts } from '../../kernel/lists/lists.run.ts';
import type { Fragment } from '../../kernel/lists/lists.types.ts';
import { hasCostRole, may } from '../../kernel/permissions/policy.ts';
import { blankErrors, dayErrors, refuse, requireAssignable } from './ppm.checks.ts';
import { nameOf, type PpmKind, ppmMembers, requireInitiative, requirePpmReader } from './ppm.kinds.ts';
import {
  BudgetLine,
  type BudgetLineRow,
  CostLine,
  type CostLineRow,
  MAX_LINES,
  MAX_NOTES,
  ProjectRisk,
  type ProjectRiskRow,
  StatusReport,
  type StatusReportRow,
} from './ppm.model.ts';

const reporter = `case when t.reporter_id is null then null
  else json_build_object('id', t.reporter_id, 'display_name', coalesce(${nameOf('reporter_id')}, '')) end`;

/** The members of a status report, over the alias `t`. */
export const statusReportMembers = { ...ppmMembers({ model: StatusReport }), reporter };

/** The order in which the newest report of an initiative comes first. */
export const NEWEST_FIRST = 't.report_date desc, t.created_at desc, t.id desc';

/** What people report on the state of an initiative from time to time. */
export const statusReports: PpmKind<StatusReportRow> = {
  model: StatusReport,
  entity: 'ppm_report',
  what: 'status report',
  limit: MAX_NOTES,
  eventMembers: ['report_date'],
  sorts: { report_date: { sql: 't.report_date::text', type: 'text', filled: true } },
  defaultSort: 'report_date',
  defaultDir: 'desc',
  search: `fold(coalesce(t.summary, '') || ' ' || coalesce(t.accomplishments, '') || ' ' || coalesce(t.next_steps, ''))`,
  members: () => ({ reporter }),
  check(values, { ctx, before }) {
    refuse(dayErrors(values, ['report_date']));
    if (before === null) values.reporter_id = ctx.caller.userId;
  },
};

/** What could happen to an initiative, with its score: probability times impact, 1 to 25. */
export const projectRisks: PpmKind<ProjectRiskRow> = {
  model: ProjectRisk,
  entity: 'ppm_risk',
  what: 'project risk',
  limit: MAX_NOTES,
  eventMembers: ['title'],
  sorts: {
    risk_score: { sql: '(t.probability * t.impact)', type: 'bigint', filled: true },
    ...columnSorts('t', ProjectRisk, 'status'),
    title: { sql: 'fold(t.title)', type: 'text', filled: true },
  },
  search: `fold(t.title || ' ' || coalesce(t.description, '') || ' ' || coalesce(t.mitigation, ''))`,
  members: () => ({ risk_score: 't.probability * t.impact', owner_name: nameOf('owner_id') }),
  async check(values, { work, before }) {
    refuse(blankErrors(values, ['title']));
    await requireAssignable(work.sql, values, before, 'owner_id');
  },
};

/** The card's attribute that shows the sum of the lines of a table. */
const summed = { ppm_cost_lines: 'costActual', ppm_budget_lines: 'costBudget' } as const;
export type LineTable = keyof typeof summed;

/** A column that holds costs, over the alias `t`: null for users who do not see the costs of the initiative. */
function cost(ctx: Ctx, column: string): string | Fragment {
  if (may(ctx.caller, 'costs.view')) return `t.${column}`;
  return fragment`case when ${embed(hasCostRole(ctx.caller, 't.card_id'))} then t.${embed(column)} end`;
}

const category = { sql: 't.category', type: 'text', filled: true } as const;

/** What an initiative costs, planned and spent. Amounts are no sort fields, because an order would reveal them. */
export const costLines: PpmKind<CostLineRow> = {
  model: CostLine,
  entity: 'ppm_cost_line',
  what: 'cost line',
  limit: MAX_LINES,
  costs: ['planned', 'actual'],
  exclusive: true,
  eventMembers: ['description', 'category'],
  sorts: {
    date: { sql: 't.date::text', type: 'text' },
    description: { sql: 'fold(t.description)', type: 'text', filled: true },
    category,
  },
  search: 'fold(t.description)',
  members: (_sql, ctx) => ({ planned: cost(ctx, 'planned'), actual: cost(ctx, 'actual') }),
  check(values) {
    refuse([...blankErrors(values, ['description']), ...dayErrors(values, ['date'])]);
  },
  afterWrite: ({ work, ctx, initiative }) => writeSum(work, ctx, initiative.id, 'ppm_cost_lines'),
};

/** What an initiative may cost, by fiscal year. */
export const budgetLines: PpmKind<BudgetLineRow> = {
  model: BudgetLine,
  entity: 'ppm_budget_line',
  what: 'budget line',
  limit: MAX_LINES,
  costs: ['amount'],
  exclusive: true,
  eventMembers: ['fiscal_year', 'category'],
  sorts: { fiscal_year: { sql: 't.fiscal_year', type: 'bigint', filled: true }, category },
  members: (_sql, ctx) => ({ amount: cost(ctx, 'amount') }),
  afterWrite: ({ work, ctx, initiative }) => writeSum(work, ctx, initiative.id, 'ppm_budget_lines'),
};

/**
 * Writes the sum of the lines into the initiative's card, null for zero, and scores the card again. Approval stays,
 * because nobody has changed the card's content. The card must be locked.
 */
export async function writeSum(work: Work, ctx: Ctx, cardId: string, table: LineTable): Promise<void> {
  const before = requireCard(await loadCards(work, ctx, [cardId]), cardId);
  // after the last line is deleted, `before.sums` has no entry that would clear the attribute
  const sums = { [summed[table]]: null, ...before.sums };
  await saveCards(work, ctx, [{ before, after: { ...before, sums } }]);
}

/** Which lines an initiative has. @throws EstateError `forbidden`, `not_found`. */
export async function readHasCosts(
  ctx: Ctx,
  initiativeId: string,
): Promise<{ has_budget_lines: boolean; has_cost_lines: boolean }> {
  requirePpmReader(ctx);
  const { id } = await requireInitiative(ctx.db, ctx, initiativeId);
  const has = async (table: LineTable) =>
    (await (ctx.db as Db)(table).where({ card_id: id }).first('id')) !== undefined;
  return { has_budget_lines: await has('ppm_budget_lines'), has_cost_lines: await has('ppm_cost_lines') };
}
