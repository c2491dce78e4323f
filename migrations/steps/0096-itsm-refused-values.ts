import type { Knex } from 'knex';

/** A value that a side has refused waits with a question, which tells the side; and plans keep what a deletion took away. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table itsm_questions add column refused_side text check (refused_side in ('local', 'remote'));
    alter table itsm_plan_rows add column held jsonb;
  `);
}
