import type { Knex } from 'knex';

/** Wrong codes of a second factor are counted apart from wrong passwords, which anybody can send. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table two_factor
      add column failed_codes integer not null default 0,
      add column locked_until timestamptz;
  `);
}
