import type { Knex } from 'knex';

/** Formulas that compute attributes of cards, and how each last ran. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table calculations (
      id uuid primary key default uuidv7(),
      name text not null,
      description text,
      target_type_key text not null,
      target_field_key text not null,
      formula text not null,
      execution_order integer not null default 0,
      is_active boolean not null default false,
      created_by uuid references users (id) on delete set null,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp()
    );
    create index calculations_target on calculations (target_type_key, target_field_key);

    -- Apart from the formulas, since writers of cards touch it beside each other; a row may be missing.
    create table calculation_runs (
      calculation_id uuid primary key references calculations (id) on delete cascade,
      last_error text,
      last_run_at timestamptz
    );
  `);
}
