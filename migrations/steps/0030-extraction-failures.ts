import type { Knex } from 'knex';

/** When somebody was last told that an extraction schedule fails. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- null: its last run that ended went well, or failed before this was noted
    alter table extraction_schedules add column failure_told_at timestamptz;
  `);
}
