import type { Knex } from 'knex';

/** Favourites, and the saved views of the inventory. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table favorites (
      id uuid primary key default uuidv7(),
      user_id uuid not null references users (id) on delete cascade,
      card_id uuid not null references cards (id) on delete cascade,
      created_at timestamptz not null default clock_timestamp(),
      unique (user_id, card_id)
    );
    create index favorites_card on favorites (card_id);

    create table bookmarks (
      id uuid primary key default uuidv7(),
      owner_id uuid not null references users (id) on delete cascade,
      name text not null,
      card_type text,
      filters jsonb,
      columns jsonb,
      sort jsonb,
      is_default boolean not null default false,
      visibility text not null default 'private' check (visibility in ('private', 'shared', 'public')),
      odata_enabled boolean not null default false,
      -- [{user_id, can_edit}]: with the row, so that one event tells all of it
      shared_with jsonb not null default '[]',
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp()
    );
    create index bookmarks_owner on bookmarks (owner_id);
  `);
}
