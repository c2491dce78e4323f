-- Incoming webhooks of Slack and Microsoft Teams, to which notifications and scheduled reports go.
create table channels (
  id uuid primary key default uuidv7(),
  owner_id uuid not null references users (id) on delete cascade,
  name text not null,
  kind text not null check (kind in ('slack', 'teams')),
  -- the host of the address; the address is a secret
  host text not null,
  secret text not null,
  -- whether the schedules of all users may go to it
  is_shared boolean not null default false,
  -- whether it gets the notifications that its owner gets by mail
  notifies boolean not null default false,
  status text not null default 'active' check (status in ('active', 'paused')),
  paused_reason text,
  -- the service asked to wait until then
  waits_until timestamptz,
  last_sent_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  check (not (is_shared and notifies))
);
create index channels_owner on channels (owner_id);
-- a message to a channel instead of a mail
alter table mails add column channel_id uuid references channels (id) on delete cascade;
create index mails_channel on mails (channel_id) where channel_id is not null;
