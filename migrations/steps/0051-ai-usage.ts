import type { Knex } from 'knex';

/** What was asked of language models, by day, run and purpose: budgets are kept against it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table ai_usage (
      -- of the call's begin, in UTC
      day date not null,
      -- the run that asked; null for what a user asked for directly. No foreign key: use outlives runs
      run_id uuid,
      purpose text not null,
      provider text not null,
      model text not null,
      -- requests sent, repeated ones too
      calls bigint not null default 0,
      tokens_in bigint not null default 0,
      tokens_out bigint not null default 0,
      -- for calls under way, and for those whose end nobody learnt: they count as spent
      tokens_reserved bigint not null default 0,
      id uuid not null default uuidv7() primary key,
      unique nulls not distinct (day, run_id, purpose, provider, model)
    );
    create index on ai_usage (run_id) where run_id is not null;
  `);
}
