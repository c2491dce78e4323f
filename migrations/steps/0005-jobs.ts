import type { Knex } from 'knex';

/** Jobs (the truth behind the queue), their schedules, stored files and KPI snapshots. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table jobs (
      id uuid primary key default uuidv7(),
      kind text not null,
      queue text not null,
      status text not null default 'queued'
        check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
      payload jsonb not null default '{}',
      owner_id uuid,
      -- what the owner may see was frozen into these rights; a stored result remembers them
      rights jsonb not null default '{}',
      request_id text,
      progress double precision not null default 0,
      message text,
      counts jsonb,
      result jsonb,
      result_file_id uuid,
      error jsonb,
      checkpoint jsonb,
      -- grows with every run; names the run in the queue
      attempt integer not null default 1,
      -- runs that ended without a word: killed workers, lost databases
      crashes integer not null default 0,
      -- runs that ended with an unexpected error
      failures integer not null default 0,
      cancel_requested boolean not null default false,
      run_after timestamptz not null default now(),
      handed_over_at timestamptz,
      lease_owner text,
      lease_until timestamptz,
      schedule_key text,
      slot timestamptz,
      created_at timestamptz not null default now(),
      started_at timestamptz,
      finished_at timestamptz
    );
    create index jobs_open on jobs (queue, run_after) where status in ('queued', 'running');
    create index jobs_owner on jobs (owner_id, id desc);
    create index jobs_finished on jobs (finished_at) where finished_at is not null;
    -- any number of schedulers fire a slot once
    create unique index jobs_slot on jobs (schedule_key, slot) where schedule_key is not null;

    create table job_schedules (
      key text primary key,
      kind text not null,
      queue text not null,
      payload jsonb not null default '{}',
      cron text not null,
      time_zone text not null default 'UTC',
      enabled boolean not null default true,
      last_slot timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );

    create table files (
      id uuid primary key default uuidv7(),
      name text not null,
      media_type text not null,
      size bigint not null,
      sha256 text not null,
      owner_id uuid,
      -- whether cost values may stand in it
      with_costs boolean not null default false,
      created_at timestamptz not null default now(),
      expires_at timestamptz
    );
    create index files_expiry on files (expires_at) where expires_at is not null;

    create table kpi_snapshots (
      slot timestamptz primary key,
      position bigint not null,
      metrics jsonb not null,
      taken_at timestamptz not null default now()
    );
  `);
}
