import type { Db, Sql } from '../../../platform/database.ts';

/** The outcome of a question to a model. */
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

/** The number of questions of a provider and purpose with the same outcome. */
export interface AiOutcomes extends AiOutcome {
  questions: number;
}

/** Counts a question that has ended. */
export async function noteOutcome(
  db: Db,
  { provider, purpose, outcome, calls, tokensIn, tokensOut }: AiOutcome,
): Promise<void> {
  await db.raw(
    `insert into ai_outcomes as o (provider, purpose, outcome, questions, calls, tokens_in, tokens_out)
     values (?, ?, ?, 1, ?, ?, ?)
     on conflict (provider, purpose, outcome) do update set questions = o.questions + 1,
       calls = o.calls + excluded.calls, tokens_in = o.tokens_in + excluded.tokens_in,
       tokens_out = o.tokens_out + excluded.tokens_out`,
    [provider, purpose, outcome, calls, tokensIn, tokensOut],
  );
}

/** The outcomes of all questions of all processes. */
export async function readOutcomes(sql: Sql): Promise<AiOutcomes[]> {
  const { rows } = await sql.raw(
    `select provider, purpose, outcome, questions::float8 as questions, calls::float8 as calls,
       tokens_in::float8 as "tokensIn", tokens_out::float8 as "tokensOut"
     from ai_outcomes order by provider, purpose, outcome`,
  );
  return rows;
}
