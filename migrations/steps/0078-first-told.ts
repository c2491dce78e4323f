import type { Knex } from 'knex';

/** Finds the first change of a field among the events of a row. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- the first value that is not null, in the order in which they come; any_value itself is free to take another, and
    -- parts of it, counted side by side, may be put together in any order
    create aggregate first_told (anyelement) (sfunc = any_value_transfn, stype = anyelement, parallel = safe);
  `);
}
