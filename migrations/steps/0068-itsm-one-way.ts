import type { Knex } from 'knex';

/**
 * Runs of one direction of a mapping that goes both ways remember for themselves how far they have read: what they have
 * seen to is not all that a run both ways has to see.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table itsm_books
      -- when a run that only pulls, or only pushes, has last read everything
      add column pulled_read_at timestamptz,
      add column pushed_read_at timestamptz,
      -- up to where those that pull have read the feed, and those that push the remote
      add column pulled_position bigint,
      add column pushed_watermark timestamptz
  `);
}
