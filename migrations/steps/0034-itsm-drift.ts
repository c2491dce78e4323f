import type { Knex } from 'knex';

/** When the remote's dictionary was last compared with what a mapping remembers of it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table itsm_mappings add column drift_checked_at timestamptz');
}
