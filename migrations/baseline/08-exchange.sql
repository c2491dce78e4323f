-- Exchange: imports, extraction schedules, migration from other tools, web portals.

create table import_card_rows (
  job_id uuid not null,
  line integer not null,
  type text,
  id uuid,
  external_id text,
  name text,
  status text,
  -- how the row names its parent; null: the parent stays
  parent_by text check (parent_by in ('root', 'id', 'external_id', 'path')),
  parent_id uuid,
  parent_external_id text,
  parent_path text[],
  -- the capability level, if the row sets it
  level text,
  errors jsonb,
  -- errors that only apply if the row creates a card
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
  -- the new parent
  parent_id uuid,
  -- the line that creates the parent
  parent_line integer,
  -- the new level of a capability; null: it stays
  level text,
  -- whether the row changes the parent or the status of an existing card
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

create table extraction_schedules (
  id uuid primary key default uuidv7(),
  name text not null,
  -- cron expression, time zone and switch are in the job schedule only
  schedule_key text not null unique references job_schedules (key) deferrable initially deferred,
  paused_reason text,
  -- the rights of the owner when saving; data must be visible with these and with the current ones
  owner_id uuid references users (id) on delete set null,
  rights jsonb not null,
  -- the request of an export
  request jsonb not null,
  incremental boolean not null default false,
  -- everything up to here was delivered by this request
  position bigint,
  -- kind and address; credentials are encrypted in `secret`
  destination jsonb not null,
  secret text,
  keep_runs integer not null check (keep_runs > 0),
  keep_days integer check (keep_days > 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- when the last failure was notified; null: the last run succeeded
  failure_notified_at timestamptz
);

create table extraction_runs (
  id uuid primary key default uuidv7(),
  schedule_id uuid not null references extraction_schedules (id) on delete cascade,
  job_id uuid not null unique,
  trigger text not null check (trigger in ('schedule', 'manual')),
  -- the scheduled time; part of the file names
  slot timestamptz not null,
  status text not null default 'queued' check (status in ('queued', 'running', 'succeeded', 'failed')),
  attempts integer not null default 0,
  -- as it was when the run started: its files are removed there
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

create table migrations (
  id uuid primary key default uuidv7(),
  name text not null,
  source_type text not null,
  status text not null default 'uploaded'
    check (status in ('uploaded', 'parsed', 'previewed', 'applying', 'applied')),
  file_id uuid not null,
  file_name text not null,
  file_hash text not null,
  file_size bigint not null,
  include_archived boolean not null default false,
  snapshot_version text,
  -- the blocks of the file with their columns: {native_type, rows, columns: [...]}
  blocks jsonb not null default '[]',
  stats jsonb,
  metamodel_diff jsonb,
  -- as saved: {native type: {column: target}}; null until first saved
  field_mappings jsonb,
  error_message text,
  -- the current or last job
  job_id uuid,
  created_by uuid references users (id) on delete set null,
  parsed_at timestamptz,
  previewed_at timestamptz,
  applied_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
-- A file is staged once for each source.
create unique index migrations_file on migrations (source_type, file_hash);
create index migrations_created on migrations (created_at, id);
create index migrations_creator on migrations (created_by) where created_by is not null;

create table migration_rows (
  migration_id uuid not null references migrations (id) on delete cascade,
  line integer not null,
  sheet text not null,
  "row" integer not null,
  native_type text not null,
  -- by column, all as text; without empty cells
  cells jsonb not null,
  primary key (migration_id, line)
);

create table migration_records (
  migration_id uuid not null references migrations (id) on delete cascade,
  -- from 1: the line of cards equals that of their row; other records follow
  line integer not null,
  id uuid not null default uuidv7(),
  entity_kind text not null check (entity_kind in ('metamodel_type', 'metamodel_field', 'metamodel_relation_type',
    'user', 'tag_group', 'tag', 'card', 'relation', 'subscription', 'document', 'comment', 'card_tag')),
  source_id text not null,
  source_type text not null,
  card_type_key text,
  display_name text,
  action text not null default 'create' check (action in ('create', 'update', 'skip', 'conflict')),
  status text not null default 'pending' check (status in ('pending', 'applied', 'error')),
  diff jsonb,
  -- members of diff that are costs
  cost_keys text[] not null default '{}',
  error_message text,
  target_id uuid,
  sheet text,
  "row" integer,
  -- values that were not migrated: [{field, code, message}]
  left_out jsonb,
  -- of a card: its row for the import
  payload jsonb,
  -- of a card: references in its cells, to be resolved to other records
  refs jsonb,
  -- of a card: its name with the names above it, in lower case
  path text,
  -- the parent of a card, the ends of a relation, or the card that a comment or document belongs to: a record or a card
  relation_type text,
  source_line integer,
  source_card uuid,
  target_line integer,
  target_card uuid,
  primary key (migration_id, line)
);
create unique index migration_records_id on migration_records (id);
create index migration_records_list on migration_records (migration_id, entity_kind, line);
create index migration_records_key on migration_records (migration_id, card_type_key, lower(source_id))
  where entity_kind = 'card';
create index migration_records_name on migration_records (migration_id, card_type_key, lower(display_name))
  where entity_kind = 'card';
create index migration_records_path on migration_records (migration_id, card_type_key, path)
  where entity_kind = 'card' and path is not null;
create index migration_records_ends on migration_records (migration_id, source_line) where source_line is not null;

create table web_portals (
  id uuid primary key default uuidv7(),
  name text not null,
  slug text not null,
  description text,
  -- no reference: a portal outlives its type and is empty then
  card_type text not null,
  -- which active cards of the type are shown
  filters jsonb not null default '{}',
  -- the fields of a card that are shown beside its name
  display_fields jsonb not null default '[]',
  card_config jsonb not null default '{}',
  is_published boolean not null default false,
  created_by uuid references users (id) on delete set null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create unique index web_portals_slug on web_portals (slug);
create index web_portals_created on web_portals (created_at, id);
create index web_portals_created_by on web_portals (created_by);
