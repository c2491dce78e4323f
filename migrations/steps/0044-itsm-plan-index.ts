import type { Knex } from 'knex';

/**
 * Rows of a plan are looked up by an action where it is a rare one; of the common ones most rows of the plan are, and these
 * are many to be told to an index.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index itsm_plan_rows_action;
    create index itsm_plan_rows_rare on itsm_plan_rows (run_id, action, no)
      where action not in ('create', 'update', 'relate');
  `);
}
