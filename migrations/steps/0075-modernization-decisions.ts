import type { Knex } from 'knex';

/** What people decided of what is proposed for a card, which outlives the runs that propose it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table modernization_decisions (
      id uuid primary key default uuidv7(),
      card_id uuid not null,
      modernization_type text not null,
      -- none: pending
      status text not null check (status in ('accepted', 'dismissed')),
      decided_by uuid references users on delete set null,
      decided_at timestamptz not null default now(),
      unique (card_id, modernization_type)
    );
  `);
}
