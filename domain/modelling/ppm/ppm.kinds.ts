import type { Knex } from 'knex';
import type { Sql } from '../../../platform/database.ts';
import type { AttendedCard } from '../../collaboration/attended.card.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { Condition, ListSpec } from '../../kernel/lists/lists.types.ts';
import type { PpmRow } from './ppm.types.ts';

/** One write to a row of an initiative, inside its command. */
export interface PpmWrite {
  work: Work;
  ctx: Ctx;
  initiative: AttendedCard;
  /** Null for a new row. */
  before: PpmRow | null;
}

/** A write whose row stands, or is gone (`after` is null). */
export interface PpmChange extends PpmWrite {
  after: PpmRow | null;
}

/** One kind of rows that initiatives have: what its commands, lists and events need to know, declared once. */
export interface PpmKind {
  /** The first part of its event types. */
  entity:
    | 'ppm_report'
    | 'ppm_cost_line'
    | 'ppm_budget_line'
    | 'ppm_risk'
    | 'ppm_wbs'
    | 'ppm_task'
    | 'ppm_task_comment'
    | 'ppm_dependency';
  /** What messages call it. */
  what: string;
  table: string;
  /** How many an initiative may have; absent where that is counted by something else. */
  most?: number;
  /** Columns that hold costs; who may not see the initiative's costs writes no such row. */
  costs?: readonly string[];
  /** Whether writes of it come one after the other for each initiative, since they depend on each other. */
  alone?: boolean;
  /** Members that its events tell besides the id, to whom they are of use. */
  told?: readonly string[];
  /** @throws EstateError where the caller, who may write rows of the kind, may not write this one. */
  guard?(row: PpmRow, ctx: Ctx): void;
  /** What the list is sorted by unless asked otherwise; `created_at` where absent. */
  defaultSort?: string;
  /** The conditions of a list's own filters. */
  asked?(filter: Record<string, unknown>): Condition[];
  list(sql: Sql, ctx: Ctx, cardId: string): ListSpec | Promise<ListSpec>;
  /**
   * Looks at columns that are to be written; may change them.
   * @throws EstateError for what does not fit.
   */
  check?(values: Partial<PpmRow>, write: PpmWrite): Promise<void> | void;
  /** Takes away what hangs on a row that is about to go, with an event for each. */
  release?(row: PpmRow, write: PpmWrite): Promise<void>;
  /** Does what follows from a write; before its event, so that undoing, backwards, finds the row as it was. */
  follow?(change: PpmChange): Promise<void>;
}

/** A user's name beside an id, over the alias `t`. */
export const nameOf = (column: string): string =>
  `(select u.display_name from users u where u.id = t.${column})`;

/** How many rows an initiative has. */
export async function countRows(sql: Knex.Transaction, table: string, cardId: string): Promise<number> {
  const { rows } = await sql.raw(`select count(*)::int as n from ${table} where card_id = ?::uuid`, [cardId]);
  return rows[0].n;
}
