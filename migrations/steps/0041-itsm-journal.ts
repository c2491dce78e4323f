import type { Knex } from 'knex';

/** Rows of a plan note how they have ended where they stand: half of each page is left for it, and no index tells of it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index itsm_plan_rows_open;
    alter table itsm_plan_rows set (fillfactor = 50);
  `);
}
