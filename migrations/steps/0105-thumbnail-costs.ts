import type { Knex } from 'knex';

/** Whether the maker of a saved report's picture saw any costs; pictures from before may show some. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table saved_reports add column thumbnail_with_costs boolean not null default true`);
}
