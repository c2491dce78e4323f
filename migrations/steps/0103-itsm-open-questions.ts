import type { Knex } from 'knex';

/** Rows of a plan that repeat a question which was open before say since when. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table itsm_plan_rows add column open_since timestamptz');
}
