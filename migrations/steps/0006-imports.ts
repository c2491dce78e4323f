import type { Knex } from 'knex';

/**
 * What an import keeps between its batches: the rows of the file, what is to be done with each, and what became of
 * it. They outlive a crash, since a job goes on where it was. Without foreign keys: rows are written by the hundred
 * thousand, and removed when the job has ended.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table import_card_rows (
      job_id uuid not null,
      line integer not null,
      type text,
      id uuid,
      external_id text,
      name text,
      status text,
      -- how the row names its parent; null leaves it as it is
      parent_by text check (parent_by in ('root', 'id', 'external_id', 'path')),
      parent_id uuid,
      parent_external_id text,
      parent_path text[],
      -- the capability level, where the row sets it
      level text,
      errors jsonb,
      -- faults that only count when the row makes a new card
      new_errors jsonb,
      bytes integer not null,
      payload json,
      primary key (job_id, line)
    );

    create table import_card_plan (
      job_id uuid not null,
      batch integer not null,
      line integer not null,
      card_id uuid not null,
      is_new boolean not null,
      -- the parent that the card shall have
      parent_id uuid,
      -- the row that makes the parent
      parent_line integer,
      -- the level that a capability shall have; null leaves it as it is
      level text,
      -- whether the row changes the place or the status of an existing card
      structural boolean not null,
      primary key (job_id, batch, line)
    );

    create table import_relation_rows (
      job_id uuid not null,
      line integer not null,
      type text,
      id uuid,
      source_id uuid,
      source_external_id text,
      target_id uuid,
      target_external_id text,
      errors jsonb,
      bytes integer not null,
      payload json,
      primary key (job_id, line)
    );

    create table import_relation_plan (
      job_id uuid not null,
      batch integer not null,
      line integer not null,
      relation_id uuid not null,
      is_new boolean not null,
      type text not null,
      source_id uuid not null,
      target_id uuid not null,
      primary key (job_id, batch, line)
    );

    create table import_outcomes (
      job_id uuid not null,
      line integer not null,
      outcome text not null check (outcome in ('created', 'updated', 'unchanged', 'failed', 'skipped')),
      errors jsonb,
      primary key (job_id, line)
    );
  `);
}
