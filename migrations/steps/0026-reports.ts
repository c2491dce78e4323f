import type { Knex } from 'knex';

/** Saved reports, and what the tables as they were at a moment are made of. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table saved_reports (
      id uuid primary key default uuidv7(),
      owner_id uuid not null references users (id) on delete cascade,
      name text not null,
      description text,
      report_type text not null,
      config jsonb not null,
      thumbnail text,
      visibility text not null default 'private' check (visibility in ('private', 'shared', 'public')),
      -- ids of users: with the row, so that one event tells all of it
      shared_with jsonb not null default '[]',
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp()
    );
    create index saved_reports_owner on saved_reports (owner_id);

    -- The changes of one row, given newest first, as one: each field with its first change. Most rows have one event,
    -- whose changes are taken as they are.
    create aggregate first_changes (jsonb) (sfunc = jsonb_concat, stype = jsonb);
  `);
}
