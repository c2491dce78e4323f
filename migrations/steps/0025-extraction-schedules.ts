import type { Knex } from 'knex';

/** Extractions that run by themselves, and the history of their runs. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table extraction_schedules (
      id uuid primary key default uuidv7(),
      name text not null,
      -- when it runs stands there alone: cron, time zone, and whether it is switched on
      schedule_key text not null unique references job_schedules (key) deferrable initially deferred,
      paused_reason text,
      -- what is extracted is what the owner saw when saying so, and still sees
      owner_id uuid references users (id) on delete set null,
      rights jsonb not null,
      -- an export as its request describes it
      request jsonb not null,
      incremental boolean not null default false,
      -- of the same request, everything up to here was delivered
      position bigint,
      -- kind and address; what opens it is sealed
      destination jsonb not null,
      secret text,
      keep_runs integer not null check (keep_runs > 0),
      keep_days integer check (keep_days > 0),
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );

    create table extraction_runs (
      id uuid primary key default uuidv7(),
      schedule_id uuid not null references extraction_schedules (id) on delete cascade,
      job_id uuid not null unique,
      trigger text not null check (trigger in ('schedule', 'manual')),
      -- the moment it stands for; names its files
      slot timestamptz not null,
      status text not null default 'queued' check (status in ('queued', 'running', 'succeeded', 'failed')),
      attempts integer not null default 0,
      -- where its destination was when it began: there its files are removed
      destination jsonb,
      rows bigint,
      bytes bigint,
      sha256 text,
      after_position bigint,
      position bigint,
      file_id uuid,
      manifest_id uuid,
      error jsonb,
      created_at timestamptz not null default now(),
      started_at timestamptz,
      finished_at timestamptz,
      -- when its files were removed
      removed_at timestamptz
    );
    create unique index extraction_runs_slot on extraction_runs (schedule_id, slot);
    create index extraction_runs_kept on extraction_runs (schedule_id, id) where status = 'succeeded' and removed_at is null;
  `);
}
