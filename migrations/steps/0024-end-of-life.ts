import type { Knex } from 'knex';

/** What the world says of products: their release cycles, and until when each is supported. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table eol_products (
      name text primary key,
      label text not null,
      category text,
      aliases text[] not null default '{}',
      link text,
      source text not null check (source in ('api', 'file', 'bundled')),
      -- of the facts, so that what has not changed is not written
      digest text not null,
      -- validators of the last answer, for conditional requests
      etag text,
      last_modified text,
      -- when the source last confirmed the facts, and when they last changed
      checked_at timestamptz not null,
      changed_at timestamptz not null
    );

    -- Where a date is not known the flag beside it says whether the phase is over (or, for lts, applies).
    create table eol_cycles (
      product text not null references eol_products (name) on delete cascade,
      cycle text not null,
      codename text,
      release_date date,
      support_until date,
      is_supported boolean,
      eol_from date,
      is_eol boolean,
      lts_from date,
      is_lts boolean,
      discontinued_from date,
      is_discontinued boolean,
      latest text,
      latest_release_date date,
      link text,
      primary key (product, cycle)
    );
  `);
}
