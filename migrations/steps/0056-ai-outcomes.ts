import type { Knex } from 'knex';

/** What became of questions to language models, all in all: for monitoring, which wants counts that never go down. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table ai_outcomes (
      provider text not null,
      purpose text not null,
      -- answered, or why not
      outcome text not null,
      questions bigint not null default 0,
      -- requests sent, repeated ones too
      calls bigint not null default 0,
      tokens_in bigint not null default 0,
      tokens_out bigint not null default 0,
      primary key (provider, purpose, outcome)
    );
  `);
}
