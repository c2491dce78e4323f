import type { Knex } from 'knex';

/** A scheduled run whose time comes while another is not over waits for that one's end. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table itsm_mappings
      -- since when; null: none waits
      add column due_at timestamptz;
  `);
}
