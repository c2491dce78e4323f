import { sqlState } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';

/** The planner's estimate (in its own unit, a page read in order) up to which a query is answered at once. */
export const COST_LIMIT = 1_000_000;

/** How long a query may take, in milliseconds: asked for at once, and as a job. */
export const TIME_LIMITS = { atOnce: 20_000, job: 15 * 60_000 };

interface Explained {
  'QUERY PLAN': [{ Plan: { 'Total Cost': number } }];
}

/** The planner's estimate of a statement, from the row that `EXPLAIN (FORMAT JSON)` answers. */
export const costOf = (row: unknown): number => (row as Explained)['QUERY PLAN'][0].Plan['Total Cost'];

/** @throws EstateError `query_too_heavy` for an estimate beyond the limit. */
export function guardCost(cost: number): void {
  if (cost <= COST_LIMIT) return;
  throw new EstateError(
    'query_too_heavy',
    'The query would take long: send it with "Prefer: respond-async" to have it answered by a job, or ask about fewer cards or relations.',
    { extra: { estimated_cost: Math.round(cost), limit: COST_LIMIT } },
  );
}

/** The refusal of a query that has taken too long; other errors stay as they are. */
export function tooLong(error: unknown, limitMs: number): unknown {
  // query_canceled: by the statement's time limit
  if (sqlState(error) !== '57014') return error;
  return new EstateError(
    'query_too_heavy',
    `The query was ended after ${limitMs / 1000} seconds: ask about fewer cards or relations${limitMs < TIME_LIMITS.job ? ', or send it with "Prefer: respond-async"' : ''}.`,
    { cause: error },
  );
}
