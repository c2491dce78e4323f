import type { Knex } from 'knex';

/** Flows that wait for an approval, which are looked at whenever somebody's rights change: few among many versions. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index process_flow_versions_pending on process_flow_versions (process_id) where status = 'pending';
  `);
}
