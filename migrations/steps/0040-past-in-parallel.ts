import type { Knex } from 'knex';

/** Lets the database's workers gather what tables held before. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- an aggregate keeps all of its query in one process unless it says that it may leave it
    create or replace aggregate first_changes (jsonb) (sfunc = jsonb_concat, stype = jsonb, parallel = safe);
  `);
}
