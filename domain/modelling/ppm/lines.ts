import type { Knex } from 'knex';
import { loadCards, requireCard } from '../../inventory/cards/cards.load.ts';
import { saveCards } from '../../inventory/cards/cards.save.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { Fragment, ListSpec } from '../../kernel/lists/lists.types.ts';
import { holderWithin, holdsCostRole, may } from '../../kernel/permissions/policy.ts';
import { requireInitiative, requirePpmReader } from './initiatives.ts';
import { blankFaults, dayFaults, refuse } from './ppm.checks.ts';
import type { PpmChange, PpmKind } from './ppm.kinds.ts';
import { MAX_LINES } from './ppm.types.ts';

/** The card's attribute that shows what the lines of a table come to. */
const summed = { ppm_cost_lines: 'costActual', ppm_budget_lines: 'costBudget' } as const;
export type LineTable = keyof typeof summed;

/** A column that holds costs, over the alias `t`: null for those who see no costs of the initiative. */
function cost(ctx: Ctx, column: string): string | Fragment {
  if (may(ctx.caller, 'costs.view')) return `t.${column}`;
  return {
    sql: `case when ${holdsCostRole('t.card_id')}
      then t.${column} end`,
    bindings: [holderWithin(ctx.caller, 'costs.view')],
  };
}

const shared = { id: 't.id', idType: 'uuid', defaultSort: 'created_at', defaultDir: 'asc' } as const;
const created: ListSpec['sorts'] = {
  created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
};
const times = { created_at: 'utc(t.created_at)', updated_at: 'utc(t.updated_at)' };

/** What an initiative costs, planned and spent. The amounts are no sort fields, since an order would tell them. */
export const costLines: PpmKind = {
  entity: 'ppm_cost_line',
  what: 'cost line',
  table: 'ppm_cost_lines',
  most: MAX_LINES,
  costs: ['planned', 'actual'],
  alone: true,
  told: ['description', 'category'],
  list: (_sql, ctx) => ({
    ...shared,
    name: 'ppm-costs',
    from: 'ppm_cost_lines t',
    sorts: {
      ...created,
      date: { sql: 't.date::text', type: 'text' },
      description: { sql: 'fold(t.description)', type: 'text', filled: true },
      category: { sql: 't.category', type: 'text', filled: true },
    },
    search: 'fold(t.description)',
    members: {
      id: 't.id',
      initiative_id: 't.card_id',
      description: 't.description',
      category: 't.category',
      planned: cost(ctx, 'planned'),
      actual: cost(ctx, 'actual'),
      date: 't.date',
      ...times,
    },
  }),
  check(values) {
    refuse([...blankFaults(values, ['description']), ...dayFaults(values, ['date'])]);
  },
  follow: (change) => followLine(change, 'ppm_cost_lines'),
};

/** What an initiative may cost, by fiscal year. */
export const budgetLines: PpmKind = {
  entity: 'ppm_budget_line',
  what: 'budget line',
  table: 'ppm_budget_lines',
  most: MAX_LINES,
  costs: ['amount'],
  alone: true,
  told: ['fiscal_year', 'category'],
  list: (_sql, ctx) => ({
    ...shared,
    name: 'ppm-budgets',
    from: 'ppm_budget_lines t',
    sorts: {
      ...created,
      fiscal_year: { sql: 't.fiscal_year', type: 'bigint', filled: true },
      category: { sql: 't.category', type: 'text', filled: true },
    },
    members: {
      id: 't.id',
      initiative_id: 't.card_id',
      fiscal_year: 't.fiscal_year',
      category: 't.category',
      amount: cost(ctx, 'amount'),
      ...times,
    },
  }),
  follow: (change) => followLine(change, 'ppm_budget_lines'),
};

const followLine = ({ work, ctx, initiative }: PpmChange, table: LineTable): Promise<void> =>
  writeSum(work, ctx, initiative.id, table);

/**
 * Writes into the initiative's card what its lines come to, null for zero, and scores the card anew. Nobody has changed
 * the card's content, so that its approval stays. The card must be locked.
 */
export async function writeSum(work: Work, ctx: Ctx, cardId: string, table: LineTable): Promise<void> {
  const found = await loadCards(work, ctx, [cardId]);
  const before = requireCard(found, cardId);
  // without any line left the sum is nothing, which the card is to be told once more
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
    (await (ctx.db as Knex)(table).where({ card_id: id }).first('id')) !== undefined;
  return { has_budget_lines: await has('ppm_budget_lines'), has_cost_lines: await has('ppm_cost_lines') };
}
