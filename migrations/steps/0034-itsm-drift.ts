import type { Knex } from 'knex';

/** What mappings know of the remote's dictionary, and up to where they have followed the feed. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table itsm_mappings
      -- when the remote's dictionary was last compared with the one that is kept
      add column drift_checked_at timestamptz,
      -- changes of the inventory for which a run was asked for
      add column followed_position bigint;
  `);
}
