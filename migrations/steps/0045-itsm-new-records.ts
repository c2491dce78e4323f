import type { Knex } from 'knex';

/** By which way new records go in where not by their table, and the column that keeps who made them. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table itsm_connections
      add column new_records jsonb check (new_records is null or kind = 'servicenow'),
      add column correlation_column text check (correlation_column is null or kind = 'servicenow');
  `);
}
