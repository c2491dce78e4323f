import type { Knex } from 'knex';

/**
 * New records of iTop may go in by reconciliation keys. Which ways a kind offers is told by the code alone; the constraint that
 * named one kind has no name of its own, so it is found by what it says.
 */
export async function up(knex: Knex): Promise<void> {
  const { rows } = await knex.raw(
    `select conname from pg_constraint where conrelid = 'itsm_connections'::regclass and contype = 'c'
       and pg_get_constraintdef(oid) like '%new_records%'`,
  );
  for (const { conname } of rows) {
    await knex.raw('alter table itsm_connections drop constraint ??', [conname]);
  }
}
