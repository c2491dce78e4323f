-- Reports: saved reports and recorded KPIs.

create table saved_reports (
  id uuid primary key default uuidv7(),
  owner_id uuid not null references users (id) on delete cascade,
  name text not null,
  description text,
  report_type text not null,
  config jsonb not null,
  thumbnail text,
  visibility text not null default 'private' check (visibility in ('private', 'shared', 'public')),
  -- ids of users; in the row, so that one event contains all of it
  shared_with jsonb not null default '[]',
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  -- whether the creator of the thumbnail saw costs
  thumbnail_with_costs boolean not null default true
);
create index saved_reports_owner on saved_reports (owner_id);

create table kpi_snapshots (
  slot timestamptz primary key,
  position bigint not null,
  metrics jsonb not null,
  taken_at timestamptz not null default now()
);
