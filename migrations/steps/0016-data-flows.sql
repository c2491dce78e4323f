-- Data that flows from one card to another.
create table data_flows (
  id uuid primary key default uuidv7(),
  source_id uuid not null references cards (id) on delete cascade,
  target_id uuid not null references cards (id) on delete cascade,
  interface_id uuid references cards (id) on delete set null,
  -- in order, each once
  data_object_ids uuid[] not null default '{}',
  direction text not null default 'forward' check (direction in ('forward', 'bidirectional')),
  frequency text,
  description text,
  external_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (source_id <> target_id)
);
create index data_flows_source on data_flows (source_id, target_id);
create index data_flows_target on data_flows (target_id, source_id);
create index data_flows_interface on data_flows (interface_id) where interface_id is not null;
create index data_flows_objects on data_flows using gin (data_object_ids);
create unique index data_flows_external_id on data_flows (external_id) where external_id is not null;
create index data_flows_created on data_flows (created_at, id);
-- `as_of` collects the flows that were written since
create index events_data_flows on events (position)
  where event_type in ('data_flow.created', 'data_flow.updated', 'data_flow.deleted');

-- Whether data can flow between cards of the type.
alter table card_types add column has_data_flows boolean not null default false;
update card_types set has_data_flows = true
  where key in ('Application', 'Platform', 'ITComponent', 'Provider');

create table import_flow_rows (
  job_id uuid not null,
  line integer not null,
  id uuid,
  external_id text,
  errors jsonb,
  bytes integer not null,
  payload json,
  primary key (job_id, line)
);

create table import_flow_plan (
  job_id uuid not null,
  batch integer not null,
  line integer not null,
  flow_id uuid not null,
  is_new boolean not null,
  primary key (job_id, batch, line)
);
