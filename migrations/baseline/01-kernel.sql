-- Kernel: settings, the change feed, mutation batches, idempotency, cursors, jobs, files.

create extension if not exists unaccent;
create extension if not exists pg_trgm;

-- Lower case without accents, whatever the locale of the database. unaccent() is only STABLE because its dictionary may
-- be altered; the dictionary named here never is, so the wrapper may be indexed.
create function fold(value text) returns text
  language sql immutable strict parallel safe
  return lower(public.unaccent('public.unaccent'::regdictionary, value) collate pg_c_utf8);

-- A timestamp in the format of answers: RFC 3339 in UTC with milliseconds. STABLE like to_char(), so that the planner can
-- inline it, which halves its cost.
create function utc(value timestamptz) returns text
  language sql stable strict parallel safe
  return to_char(value at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

create table settings (
  key text primary key,
  value jsonb not null,
  updated_at timestamptz not null default now(),
  updated_by uuid
);

create table topic_versions (
  topic text primary key,
  version bigint not null default 1
);

create sequence events_position_seq as bigint cache 1;

create table events (
  position bigint primary key,
  id uuid not null default uuidv7(),
  event_type text not null,
  at timestamptz not null default clock_timestamp(),
  scope text not null default 'inventory' check (scope in ('inventory', 'audit', 'user')),
  user_id uuid,
  card_id uuid,
  card_type text,
  peer_card_id uuid,
  peer_card_type text,
  relation_id uuid,
  relation_type text,
  recipient_id uuid,
  batch_id uuid,
  job_id uuid,
  request_id text,
  origin text,
  -- keys of data.changes whose values are costs
  cost_keys text[],
  data jsonb not null default '{}'
);
create index events_card on events (card_id, position desc) where card_id is not null;
create index events_peer_card on events (peer_card_id, position desc) where peer_card_id is not null;
create index events_at on events (at);
create index events_user on events (user_id, position desc) where user_id is not null;
create index events_batch on events (batch_id, position) where batch_id is not null;
-- Events that contain the name or address of a user, for erasure.
create index events_identity on events ((coalesce(data ->> 'id', data ->> 'user_id')))
  where event_type in ('auth.registered', 'user.created', 'user.updated', 'user.deleted');
create index events_object on events ((data ->> 'id'), position);
-- Events that are part of the history of several cards.
create index events_cards on events using gin ((data -> 'card_ids')) where data ? 'card_ids';

-- The data of an event without its cost values.
create function cut_costs(data jsonb, cost_keys text[]) returns jsonb
  language sql immutable parallel safe
  return case when data -> 'changes' is null then data
         else jsonb_set(data, '{changes}', (data -> 'changes') - cost_keys) end;

-- Raises the versions of topics in a fixed order. To be called only under the lock of record_events.
create function raise_topics(topics text[]) returns void language sql as $$
  insert into topic_versions (topic) select distinct unnest(topics) order by 1
  on conflict (topic) do update set version = topic_versions.version + 1
$$;

create table mutation_batches (
  id uuid primary key,
  tool_name text not null,
  actor_user_id uuid,
  origin text not null,
  dry_run boolean not null default false,
  -- a hash; set while a dry-run batch can still be confirmed
  confirm_token_hash text,
  confirm_token_expires_at timestamptz,
  row_count integer not null default 0,
  summary jsonb,
  created_at timestamptz not null default now(),
  committed_at timestamptz,
  -- the batch that undid this one
  rolled_back_by uuid,
  rolled_back_at timestamptz
);
create index mutation_batches_created on mutation_batches (created_at desc, id);
create index mutation_batches_rolled_back on mutation_batches (rolled_back_by) where rolled_back_by is not null;

create function record_batch(batch jsonb) returns void language sql as $$
  insert into mutation_batches (id, tool_name, actor_user_id, origin, row_count, committed_at)
  select (batch ->> 'id')::uuid, batch ->> 'tool_name', (batch ->> 'actor_user_id')::uuid, batch ->> 'origin',
         coalesce((batch ->> 'row_count')::integer, 0), now()
  where batch is not null
  on conflict (id) do nothing
$$;

-- The only way into `events`: records the events of one transaction and raises its topics. It is the last statement of the
-- transaction and takes the advisory lock of the feed, so positions grow in commit order and a reader never skips a row
-- whose transaction commits late. `batch` is null for events outside of batches, such as logins.
-- Returns the position of the last event.
create function record_events(rows jsonb, topics text[], batch jsonb default null) returns bigint
  language plpgsql as $$
declare
  last bigint;
begin
  -- before the lock of the feed: the first transaction of a batch inserts its row
  perform record_batch(batch);
  perform pg_advisory_xact_lock(7203001);
  insert into events (position, event_type, scope, user_id, card_id, card_type, peer_card_id, peer_card_type,
                      relation_id, relation_type, recipient_id, batch_id, job_id, request_id, origin,
                      cost_keys, data)
  select nextval('events_position_seq'), e.event_type, coalesce(e.scope, 'inventory'), e.user_id, e.card_id,
         e.card_type, e.peer_card_id, e.peer_card_type, e.relation_id, e.relation_type, e.recipient_id,
         e.batch_id, e.job_id, e.request_id, e.origin, e.cost_keys, coalesce(e.data, '{}')
  from rows from (jsonb_to_recordset(rows) as (
    event_type text, scope text, user_id uuid, card_id uuid, card_type text, peer_card_id uuid,
    peer_card_type text, relation_id uuid, relation_type text, recipient_id uuid, batch_id uuid, job_id uuid,
    request_id text, origin text, cost_keys text[], data jsonb
  )) with ordinality as e(event_type, scope, user_id, card_id, card_type, peer_card_id, peer_card_type,
    relation_id, relation_type, recipient_id, batch_id, job_id, request_id, origin, cost_keys, data, n)
  order by e.n;
  perform raise_topics(topics);
  select last_value into last from events_position_seq;
  perform pg_notify('estate_feed', '');
  return last;
end $$;

create table idempotency_keys (
  user_id uuid not null,
  key text not null,
  request_hash text not null,
  -- set in the transaction of the write itself, so that a lost answer never leads to a second write
  carried_out boolean not null default false,
  status integer,
  headers jsonb,
  body text,
  created_at timestamptz not null default now(),
  -- changes whenever a request takes over the key; a command commits only under its own claim
  claim uuid,
  -- the process that executes the request, by the number of the shared advisory lock that it holds
  holder integer,
  -- results of the committed commands, in order, until the answer is stored; null: a result could not be stored
  results bytea[] not null default '{}',
  primary key (user_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- A process holds its lock through the connection for notifications, which ends with the process.
create function process_alive(process integer) returns boolean language sql stable as $$
  select exists (
    select 1 from pg_locks
    where locktype = 'advisory' and classid = 7203091 and objid = process::bigint::oid and objsubid = 2 and granted
      and database = (select oid from pg_database where datname = current_database()))
$$;

-- Frozen orders for cursors over values that may change. Unlogged: a crash only ends traversals.
create unlogged table list_snapshots (
  id uuid primary key,
  owner uuid,
  total integer not null,
  used_at timestamptz not null default now()
);
create index list_snapshots_owner on list_snapshots (owner, used_at desc);
create index list_snapshots_used on list_snapshots (used_at);

create unlogged table list_snapshot_chunks (
  snapshot_id uuid not null references list_snapshots (id) on delete cascade,
  chunk integer not null,
  ids text[] not null,
  primary key (snapshot_id, chunk)
);

create table jobs (
  id uuid primary key default uuidv7(),
  kind text not null,
  queue text not null,
  status text not null default 'queued'
    check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  payload jsonb not null default '{}',
  owner_id uuid,
  -- the rights of the owner when the job was enqueued; they also apply to its stored result
  rights jsonb not null default '{}',
  request_id text,
  progress double precision not null default 0,
  message text,
  counts jsonb,
  result jsonb,
  result_file_id uuid,
  error jsonb,
  checkpoint jsonb,
  -- incremented by every run; part of the job id in the queue
  attempt integer not null default 1,
  -- runs whose worker or database was lost
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
  finished_at timestamptz,
  -- runs in a row whose worker was lost before it stored a checkpoint
  deaths integer not null default 0,
  -- of a succeeded job: partial if some rows failed
  outcome text check (outcome in ('complete', 'partial'))
);
create index jobs_open on jobs (queue, run_after) where status in ('queued', 'running');
create index jobs_owner on jobs (owner_id, id desc);
create index jobs_finished on jobs (finished_at) where finished_at is not null;
-- One job for each slot, whatever the number of schedulers.
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
  -- whether it may contain cost values
  with_costs boolean not null default false,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  -- permissions required to read it, also by its owner
  needs text[] not null default '{}'
);
create index files_expiry on files (expires_at) where expires_at is not null;

-- The position that each follower of the feed has reached; the follower holds the lock of its row.
create table feed_followers (
  name text primary key,
  position bigint not null,
  updated_at timestamptz not null default now()
);
insert into feed_followers (name, position) values ('notifications', 0);
