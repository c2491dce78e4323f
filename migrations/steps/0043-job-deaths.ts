import type { Knex } from 'knex';

/** Jobs count the workers that die with them without getting on. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- runs in a row whose worker fell silent before it stored anything new
    alter table jobs add column deaths integer not null default 0;
  `);
}
