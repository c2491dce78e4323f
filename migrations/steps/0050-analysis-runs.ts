import type { Knex } from 'knex';

/** Runs of analyses over the inventory, each carried out by a job. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table analysis_runs (
      id uuid primary key default uuidv7(),
      analysis_type text not null,
      status text not null default 'running' check (status in ('running', 'completed', 'failed', 'cancelled')),
      -- what was asked for
      parameters jsonb not null default '{}',
      -- of what was learned and applied; null where nothing is
      model_version text,
      -- figures by name; never costs
      results jsonb,
      -- by part of the analysis: what a language model had a hand in
      model_parts jsonb not null default '[]',
      error_code text,
      error_message text,
      -- jobs go before the runs that they carried out
      job_id uuid,
      created_by uuid references users on delete set null,
      created_at timestamptz not null default now(),
      started_at timestamptz,
      completed_at timestamptz
    );
    create unique index analysis_runs_one on analysis_runs (analysis_type) where status = 'running';
    create index analysis_runs_job on analysis_runs (job_id);
  `);
}
