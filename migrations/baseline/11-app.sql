-- Workspace transfer: archives that are being imported.

create table workspace_transfers (
  id uuid primary key default uuidv7(),
  filename text not null,
  status text not null default 'parsing'
    check (status in ('parsing', 'previewed', 'applying', 'applied', 'failed')),
  -- from the manifest of the archive
  format_version text,
  source_url text,
  -- the archive, until its retention ends
  file_id uuid not null,
  -- the job that reads or applies it
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

-- No references: hundreds of thousands of rows are written, and deleted when the transfer ends.
create table workspace_transfer_rows (
  transfer_id uuid not null,
  -- table of the row
  kind text not null,
  line integer not null,
  content jsonb not null,
  -- identifies it, as text
  ref text not null,
  -- the number of parents in its own table; parents are written first
  depth integer not null default 0,
  action text check (action in ('create', 'update', 'unchanged', 'conflict')),
  -- {code, message} of a row that is not applied
  reason jsonb,
  done boolean not null default false,
  primary key (transfer_id, kind, line)
);
create index workspace_transfer_rows_ref on workspace_transfer_rows (transfer_id, kind, ref);
create index workspace_transfer_rows_open on workspace_transfer_rows (transfer_id, kind, depth, line)
  where action in ('create', 'update') and not done;

-- Ids in the archive and the ids of the same objects in this workspace.
create table workspace_transfer_ids (
  transfer_id uuid not null,
  from_id text not null,
  to_id text not null,
  primary key (transfer_id, from_id)
);
