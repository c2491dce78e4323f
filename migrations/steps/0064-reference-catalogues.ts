import type { Knex } from 'knex';

/** Reference catalogues that were loaded, each in the place of the bundled one of its kind. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table reference_catalogues (
      kind text primary key check (kind in ('capability', 'process', 'value_stream')),
      catalogue_version text not null,
      source text not null,
      -- in the order in which they were given, parents first: {id, parent_id, level, names, descriptions, industry}
      nodes jsonb not null,
      loaded_at timestamptz not null default now()
    );
  `);
}
