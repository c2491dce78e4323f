import { type Db, inTransaction, query, type Sql } from '../../../platform/database.ts';
import type { AiSettings } from './ai.provider.ts';

// Reservations are serialised, so that each sees all earlier ones; the lock is held for milliseconds.
const BUDGET_LOCK = 7203051;

/** The purpose of a call, and its model. */
export interface AiUse {
  /** The run whose budget it uses; null for a direct request of a user. */
  runId: string | null;
  /** What the tokens are used for, such as `suggest`. */
  purpose: string;
  provider: string;
  model: string;
}

/** Tokens reserved for a call, until {@link recordUsage} records its usage. */
export interface Reservation extends AiUse {
  day: string;
  tokens: number;
}

/** The budget that a call would exceed. */
export type SpentBudget = 'tokens_per_run' | 'tokens_per_day' | 'calls_per_day';

type Budgets = Pick<AiSettings, SpentBudget>;

/**
 * Reserves tokens for a call, and counts the call, unless it would exceed a budget. It commits at once, so that
 * concurrent workers cannot exceed the budget together. Reservations of crashed workers count as used.
 * @param tokens an upper bound for the call.
 */
export async function reserveTokens(
  db: Db,
  use: AiUse,
  tokens: number,
  budgets: Budgets,
): Promise<Reservation | SpentBudget> {
  return await inTransaction(db, async (sql) => {
    await query(sql).run`select pg_advisory_xact_lock(${BUDGET_LOCK})`;
    const { day, calls, today, run } = await spent(sql, use.runId);
    if (run + tokens > budgets.tokens_per_run) return 'tokens_per_run';
    if (today + tokens > budgets.tokens_per_day) return 'tokens_per_day';
    if (calls + 1 > budgets.calls_per_day) return 'calls_per_day';
    await query(sql).run`insert into ai_usage (day, run_id, purpose, provider, model, calls, tokens_reserved)
       values (${day}, ${use.runId}, ${use.purpose}, ${use.provider}, ${use.model}, 1, ${tokens})
       on conflict (day, run_id, purpose, provider, model) do update
       set calls = ai_usage.calls + 1, tokens_reserved = ai_usage.tokens_reserved + excluded.tokens_reserved`;
    return { ...use, day, tokens };
  });
}

/** Replaces the reservation of a call by its usage. */
export async function recordUsage(
  db: Db,
  reservation: Reservation,
  used: { tokensIn: number; tokensOut: number },
): Promise<void> {
  await db('ai_usage')
    .where({ day: reservation.day })
    .whereRaw('run_id is not distinct from ?::uuid', [reservation.runId])
    .where({ purpose: reservation.purpose, provider: reservation.provider, model: reservation.model })
    .update({
      tokens_in: db.raw('tokens_in + ?', [used.tokensIn]),
      tokens_out: db.raw('tokens_out + ?', [used.tokensOut]),
      tokens_reserved: db.raw('tokens_reserved - ?', [reservation.tokens]),
    });
}

async function spent(
  sql: Sql,
  runId: string | null,
): Promise<{ day: string; calls: number; today: number; run: number }> {
  const rows = await query(sql).rows`with present as (select (now() at time zone 'utc')::date as day)
     select present.day,
       coalesce(sum(calls) filter (where u.day = present.day), 0)::float8 as calls,
       coalesce(sum(tokens_in + tokens_out + tokens_reserved) filter (where u.day = present.day),
       0)::float8 as today,
       coalesce(sum(tokens_in + tokens_out + tokens_reserved) filter (where u.run_id = ${runId}::uuid),
       0)::float8 as run
     from present left join ai_usage u on u.day = present.day or u.run_id = ${runId}::uuid
     group by present.day`;
  return rows[0];
}

/** The outcome of a request to a model. */
export interface AiOutcome {
  provider: string;
  purpose: string;
  /** `answered`, or the kind of the failure, such as `budget`. */
  outcome: string;
  /** Requests sent, including retries. */
  calls: number;
  tokensIn: number;
  tokensOut: number;
}

/** The number of requests of a provider and purpose with the same outcome. */
export interface AiOutcomes extends AiOutcome {
  questions: number;
}

/** Counts a completed request. */
export async function countOutcome(
  db: Db,
  { provider, purpose, outcome, calls, tokensIn, tokensOut }: AiOutcome,
): Promise<void> {
  await query(db).run`insert into ai_outcomes as o (provider, purpose, outcome, questions, calls, tokens_in,
    tokens_out)
     values (${provider}, ${purpose}, ${outcome}, 1, ${calls}, ${tokensIn}, ${tokensOut})
     on conflict (provider, purpose, outcome) do update set questions = o.questions + 1,
       calls = o.calls + excluded.calls, tokens_in = o.tokens_in + excluded.tokens_in,
       tokens_out = o.tokens_out + excluded.tokens_out`;
}

/** The outcomes of all requests of all processes. */
export async function readOutcomes(sql: Sql): Promise<AiOutcomes[]> {
  return await query(sql).rows`select provider, purpose, outcome, questions::float8 as questions,
    calls::float8 as calls,
       tokens_in::float8 as "tokensIn", tokens_out::float8 as "tokensOut"
     from ai_outcomes order by provider, purpose, outcome`;
}
