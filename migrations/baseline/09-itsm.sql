-- ITSM synchronisation: connections, mappings, pairs, runs and plans.

create table itsm_connections (
  id uuid primary key default uuidv7(),
  name text not null,
  kind text not null check (kind in ('servicenow', 'itop', 'netbox', 'http')),
  -- scheme and host
  instance_url text not null,
  auth_type text not null check (auth_type in ('basic', 'oauth2', 'token', 'none')),
  grant_type text check (grant_type in ('password', 'client_credentials', 'refresh_token')),
  username text,
  client_id text,
  -- PEM
  ca text,
  client_certificate text,
  -- encrypted object
  secrets text not null,
  is_active boolean not null default true,
  last_tested_at timestamptz,
  test_status text check (test_status in ('passed', 'failed')),
  test_message text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- of local times in records
  time_zone text,
  -- the lists of a connection of kind http
  sources jsonb check ((sources is not null) = (kind = 'http')),
  -- how records are created if not by inserting into their table, and the column for the id of the card
  new_records jsonb,
  correlation_column text check (correlation_column is null or kind = 'servicenow'),
  owner_id uuid references users (id) on delete set null,
  -- the rights of the owner when becoming the owner
  rights jsonb not null default '{"permissions": "*"}',
  paused_reason text,
  check ((auth_type = 'oauth2') = (grant_type is not null))
);
create unique index itsm_connections_name on itsm_connections (lower(name));

-- Unlogged: written with every request, and learned again after a crash.
create unlogged table itsm_account_limits (
  account text primary key,
  state jsonb
);

-- Mappings of card types to tables of a remote.
create table itsm_mappings (
  id uuid primary key default uuidv7(),
  connection_id uuid not null references itsm_connections on delete restrict,
  card_type_key text not null,
  remote_table text not null,
  sync_direction text not null check (sync_direction in ('pull', 'push', 'bidirectional')),
  sync_mode text not null check (sync_mode in ('additive', 'conservative', 'strict')),
  -- in the query language of the remote, and in the filter language of lists; null: everything
  filter_query text,
  card_filter text,
  -- values of new cards and records beside the mapped ones
  card_defaults jsonb not null default '{}',
  record_defaults jsonb not null default '{}',
  max_deletions integer not null check (max_deletions >= 0),
  max_deletion_ratio double precision not null check (max_deletion_ratio between 0 and 1),
  quarantine_minutes integer not null check (quarantine_minutes >= 0),
  complete_reads integer not null check (complete_reads >= 0),
  -- bounds up to which a plan is applied without review; null: unbounded
  auto_apply boolean not null default false,
  auto_apply_max_changes integer check (auto_apply_max_changes >= 0),
  auto_apply_max_ratio double precision check (auto_apply_max_ratio between 0 and 1),
  -- a scheduled run reads everything when the last full read is older
  complete_every_hours integer not null check (complete_every_hours > 0),
  -- changes of the inventory are pushed within seconds
  follows_changes boolean not null default false,
  -- null: only started by hand
  schedule_key text unique references job_schedules (key) deferrable initially deferred,
  -- when a failing or stopped run was last notified; null: no problem
  told_at timestamptz,
  is_active boolean not null default true,
  -- columns of the remote table at the last check, and their changes since
  dictionary jsonb,
  dictionary_at timestamptz,
  drift jsonb,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- when the remote columns were last compared with the stored ones
  drift_checked_at timestamptz,
  -- the feed position up to which changes have started a run
  followed_position bigint,
  -- since when a scheduled run waits for the end of another; null: none does
  due_at timestamptz
);
create unique index itsm_mappings_table on itsm_mappings (connection_id, card_type_key, remote_table);

create table itsm_field_mappings (
  mapping_id uuid not null references itsm_mappings on delete cascade,
  position integer not null,
  card_field text not null,
  remote_field text not null,
  direction text not null check (direction in ('remote_leads', 'local_leads', 'newest_wins', 'manual')),
  transform_type text not null
    check (transform_type in ('direct', 'value_map', 'date_format', 'boolean', 'reference', 'expression')),
  transform_config jsonb not null default '{}',
  is_identity boolean not null default false,
  primary key (mapping_id, position)
);

create table itsm_relation_mappings (
  mapping_id uuid not null references itsm_mappings on delete cascade,
  position integer not null,
  relation_type_key text not null,
  -- key of the relation type in the remote
  remote_type text not null,
  -- the mapping of the cards at the other end, of the same connection; null: this one
  target_mapping_id uuid references itsm_mappings on delete cascade,
  -- the remote stores it with the target first
  reversed boolean not null default false,
  primary key (mapping_id, position)
);

-- The sync state of a mapping.
create table itsm_books (
  mapping_id uuid primary key references itsm_mappings on delete cascade,
  -- up to where changes were read: in the remote by its clock, in the inventory by feed position
  watermark timestamptz,
  links_watermark timestamptz,
  local_position bigint,
  -- records to read again although they have not changed
  again text[] not null default '{}',
  complete_read_at timestamptz,
  -- last full read of a run in one direction only; such a run does not replace a run in both directions
  pulled_read_at timestamptz,
  pushed_read_at timestamptz,
  -- up to where runs in one direction have read the feed (pull) or the remote (push)
  pulled_position bigint,
  pushed_watermark timestamptz
);

-- Pairs of cards and records with the values that both sides last agreed on. Pairs of which both sides are gone are kept,
-- so that a record or card that is restored finds its counterpart.
create table itsm_pairs (
  mapping_id uuid not null references itsm_mappings on delete cascade,
  remote_id text not null,
  -- no reference: may have been deleted or merged since
  card_id uuid not null,
  origin text not null check (origin in ('pulled', 'pushed', 'linked')),
  state text not null check (state in ('linked', 'quarantined', 'ended', 'unmapped', 'removed')),
  gone text check (gone in ('local', 'remote')),
  evidence text check (evidence in ('tombstone', 'look', 'readings', 'inventory')),
  since timestamptz,
  -- by card field: {local, remote}, each in the format of its side
  base jsonb not null default '{}',
  absences integer not null default 0,
  primary key (mapping_id, remote_id),
  check ((state in ('quarantined', 'ended', 'removed')) = (gone is not null)),
  check ((state in ('quarantined', 'removed')) = (evidence is not null and since is not null))
);
create index itsm_pairs_card on itsm_pairs (card_id);

-- Relations that existed on both sides after the last run, by the ids of the records at their ends.
create table itsm_links (
  mapping_id uuid not null references itsm_mappings on delete cascade,
  relation_type text not null,
  source text not null,
  target text not null,
  -- key of the relation in the remote, if it has one
  remote_relation_id text,
  primary key (mapping_id, relation_type, source, target)
);
create index itsm_links_target on itsm_links (mapping_id, target);

create table itsm_runs (
  id uuid primary key default uuidv7(),
  connection_id uuid not null references itsm_connections on delete cascade,
  -- null once the mapping is deleted
  mapping_id uuid references itsm_mappings on delete set null,
  job_id uuid,
  direction text not null check (direction in ('pull', 'push', 'bidirectional')),
  trigger text not null check (trigger in ('manual', 'schedule', 'changes', 'undo')),
  -- review: the plan needs a decision of a person; superseded: replaced by a later run before it was applied
  status text not null
    check (status in ('queued', 'running', 'review', 'completed', 'failed', 'cancelled', 'superseded')),
  stage text not null check (stage in ('read', 'match', 'plan', 'review', 'apply', 'verify', 'done')),
  -- full read, or changes only
  complete boolean not null,
  auto_apply boolean not null,
  -- the mapping as it was when the run started
  mapping jsonb,
  -- where reading and planning resume
  checkpoint jsonb,
  -- why the plan needs confirmation
  stopped text,
  stopped_overruled_by uuid references users on delete set null,
  -- written to the sync state when all rows have ended
  closing jsonb,
  plan_made_at timestamptz,
  -- counts by outcome, durations of stages
  stats jsonb not null default '{}',
  remote_calls integer not null default 0,
  error_code text,
  error_message text,
  -- the run that this one undoes
  undo_of uuid references itsm_runs on delete set null,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz
);
-- Runs of one mapping never overlap.
create unique index itsm_runs_alone on itsm_runs (mapping_id) where status in ('queued', 'running', 'review');
create index itsm_runs_mapping on itsm_runs (mapping_id, id);
create index itsm_runs_connection on itsm_runs (connection_id, id);

-- The rows of a plan. Only their progress changes once the plan is made: half of each page is free for these updates, and no
-- index covers the column, so they are heap-only.
create table itsm_plan_rows (
  run_id uuid not null references itsm_runs on delete cascade,
  no integer not null,
  action text not null,
  side text check (side in ('local', 'remote')),
  remote_id text,
  card_id uuid,
  -- the whole row as the engine uses it
  row jsonb not null,
  approval text check (approval in ('approved', 'rejected')),
  decided_by uuid references users on delete set null,
  progress text not null default 'pending'
    check (progress in ('pending', 'begun', 'applied', 'stale', 'refused', 'skipped')),
  message text,
  made_id text,
  ended_at timestamptz,
  -- what a deletion removed
  held jsonb,
  -- when the review item that this row repeats was opened
  open_since timestamptz,
  primary key (run_id, no)
) with (fillfactor = 50);
create index itsm_plan_rows_card on itsm_plan_rows (card_id) where card_id is not null;
create index itsm_plan_rows_remote on itsm_plan_rows (run_id, remote_id) where remote_id is not null;
-- Only rare actions: most rows have one of the three common ones.
create index itsm_plan_rows_rare on itsm_plan_rows (run_id, action, no)
  where action not in ('create', 'update', 'relate');

-- Records that a run has observed, until its plan is made.
create table itsm_run_records (
  run_id uuid not null references itsm_runs on delete cascade,
  remote_id text not null,
  -- null: unchanged since the last run
  record jsonb,
  -- read as part of a page
  shown boolean not null default true,
  -- result of reading it by its key
  look text check (look in ('there', 'gone', 'unknown')),
  -- the deletion as the remote reports it
  tombstone jsonb,
  -- the class that a record now has in the remote
  reclassified text,
  primary key (run_id, remote_id)
);

-- The relations of the remote as last read, so that a delta of records sees all of them.
create table itsm_remote_links (
  mapping_id uuid not null references itsm_mappings on delete cascade,
  remote_relation_id text not null,
  -- key of the relation type in the remote
  remote_type text not null,
  from_id text not null,
  to_id text not null,
  -- the last run that read it
  run_id uuid not null,
  primary key (mapping_id, remote_relation_id)
);
create index itsm_remote_links_from on itsm_remote_links (mapping_id, from_id);
create index itsm_remote_links_to on itsm_remote_links (mapping_id, to_id);

create table itsm_run_log (
  run_id uuid not null references itsm_runs on delete cascade,
  id bigint generated always as identity,
  at timestamptz not null default now(),
  level text not null check (level in ('info', 'warning', 'error')),
  stage text not null,
  message text not null,
  primary key (run_id, id)
);

-- Review items: conflicts and uncertain matches that need a decision of a person.
create table itsm_questions (
  id uuid primary key default uuidv7(),
  mapping_id uuid not null references itsm_mappings on delete cascade,
  kind text not null check (kind in ('conflict', 'match')),
  remote_id text,
  card_id uuid,
  -- the field that changed on both sides; null for a deletion or a match
  path text,
  local jsonb,
  remote jsonb,
  reason text not null,
  candidates jsonb not null default '[]',
  -- the last run that reported it
  run_id uuid references itsm_runs on delete set null,
  asked_at timestamptz not null default now(),
  -- of a value that a side refused
  refused_side text check (refused_side in ('local', 'remote'))
);
create unique index itsm_questions_one on itsm_questions
  (mapping_id, kind, coalesce(remote_id, ''), coalesce(card_id::text, ''), coalesce(path, ''));

-- Decisions on conflicts; each applies while both sides have these values.
create table itsm_resolutions (
  id uuid primary key default uuidv7(),
  mapping_id uuid not null references itsm_mappings on delete cascade,
  remote_id text not null,
  path text,
  winner text not null check (winner in ('local', 'remote')),
  local jsonb,
  remote jsonb,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now()
);
create unique index itsm_resolutions_one on itsm_resolutions (mapping_id, remote_id, coalesce(path, ''));

-- Decisions on matches: the card of a record; null: a new card.
create table itsm_decisions (
  mapping_id uuid not null references itsm_mappings on delete cascade,
  remote_id text not null,
  card_id uuid,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  primary key (mapping_id, remote_id)
);

-- Records whose values refer to records or cards without a pair; they are planned again when the pair exists.
create table itsm_waiting_records (
  mapping_id uuid not null references itsm_mappings on delete cascade,
  remote_id text not null,
  -- the run that found it while planning; null once its plan is in force
  run_id uuid references itsm_runs on delete cascade,
  -- as last read; null: as both sides last agreed
  record jsonb,
  -- records and cards that must have a pair before its values can be resolved; all null: resolved by the run
  records text[],
  cards uuid[],
  unique nulls not distinct (mapping_id, remote_id, run_id)
);
create index itsm_waiting_records_run on itsm_waiting_records (run_id) where run_id is not null;
