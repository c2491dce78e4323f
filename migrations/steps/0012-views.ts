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
  `);
}
