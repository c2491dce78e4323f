import type { Knex } from 'knex';

/** A record that a look did not find in its table may be in another one: the class that it has now. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table itsm_run_records add column reclassified text');
}
