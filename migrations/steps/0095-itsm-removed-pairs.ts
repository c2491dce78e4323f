import type { Knex } from 'knex';

/**
 * Pairs of which both sides are gone are kept, so that a record that comes back finds its archived card, and a card that is
 * restored finds its record.
 */
export async function up(knex: Knex): Promise<void> {
  const { rows } = await knex.raw(
    `select conname from pg_constraint where conrelid = 'itsm_pairs'::regclass and contype = 'c'
       and pg_get_constraintdef(oid) ~ '\\mstate\\M'`,
  );
  for (const { conname } of rows) await knex.raw('alter table itsm_pairs drop constraint ??', [conname]);
  await knex.raw(`
    alter table itsm_pairs
      add check (state in ('linked', 'quarantined', 'ended', 'unmapped', 'removed')),
      add check ((state in ('quarantined', 'ended', 'removed')) = (gone is not null)),
      add check ((state in ('quarantined', 'removed')) = (evidence is not null and since is not null))
  `);
}
