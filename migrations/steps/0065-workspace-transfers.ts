import type { Knex } from 'knex';

/** Archives of whole workspaces that are being imported: what each holds, row by row, and what is to be done with it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table workspace_transfers (
      id uuid primary key default uuidv7(),
      filename text not null,
      status text not null default 'parsing'
        check (status in ('parsing', 'previewed', 'applying', 'applied', 'failed')),
      -- as the archive's manifest tells them
      format_version text,
      source_url text,
      -- the archive, as long as it is kept
      file_id uuid not null,
      -- the job that reads it or, later, applies it
      job_id uuid,
      diff jsonb,
      result jsonb,
      error_message text,
      created_by uuid references users on delete set null,
      created_at timestamptz not null default now(),
      previewed_at timestamptz,
      applied_at timestamptz
    );
    create index workspace_transfers_created on workspace_transfers (created_at);

    -- Without foreign keys: rows are written by the hundred thousand, and go when the transfer has ended.
    create table workspace_transfer_rows (
      transfer_id uuid not null,
      -- the table that it is a row of
      kind text not null,
      line integer not null,
      content jsonb not null,
      -- what identifies it, as text
      ref text not null,
      -- how many rows of its own table it hangs below: parents are written first
      depth integer not null default 0,
      action text check (action in ('create', 'update', 'unchanged', 'conflict')),
      -- {code, message} of what is left alone
      reason jsonb,
      done boolean not null default false,
      primary key (transfer_id, kind, line)
    );
    create index workspace_transfer_rows_ref on workspace_transfer_rows (transfer_id, kind, ref);
    create index workspace_transfer_rows_open on workspace_transfer_rows (transfer_id, kind, depth, line)
      where action in ('create', 'update') and not done;

    -- Ids of the archive, and those of the same things here.
    create table workspace_transfer_ids (
      transfer_id uuid not null,
      from_id text not null,
      to_id text not null,
      primary key (transfer_id, from_id)
    );
  `);
}
