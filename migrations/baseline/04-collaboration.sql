-- Collaboration: stakeholders, comments, to-dos, documents, files, saved views, notifications, webhooks.

create table stakeholders (
  id uuid primary key default uuidv7(),
  card_id uuid not null references cards (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  role text not null,
  created_at timestamptz not null default now(),
  unique (card_id, user_id, role)
);
create index stakeholders_user on stakeholders (user_id, card_id);
create index stakeholders_role on stakeholders (card_id, role);

create table comments (
  id uuid primary key default uuidv7(),
  card_id uuid not null references cards (id) on delete cascade,
  user_id uuid not null,
  -- deferred, so that undo may restore a thread in any order
  parent_id uuid references comments (id) deferrable initially deferred,
  -- the first comment of the thread; its own id there
  thread_id uuid not null,
  -- 0: first comment of a thread
  depth smallint not null default 0,
  -- plain text as typed
  content text not null,
  -- mentioned users
  mentions uuid[] not null default '{}',
  -- set for a deleted comment with replies; its content is empty
  deleted_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index comments_threads on comments (card_id, created_at, id) where parent_id is null;
create index comments_card on comments (card_id);
create index comments_thread on comments (thread_id);
create index comments_parent on comments (parent_id) where parent_id is not null;
create index comments_user on comments (user_id);

-- The replies to a comment with all below them, oldest first. The depth of threads is bounded.
create function comment_replies(parent uuid) returns json language plpgsql stable as $$
begin
  return (
    select coalesce(json_agg(json_build_object(
        'id', c.id, 'card_id', c.card_id, 'user_id', c.user_id, 'user_display_name', coalesce(u.display_name, ''),
        'content', c.content, 'mentions', c.mentions, 'parent_id', c.parent_id,
        'is_deleted', c.deleted_at is not null, 'created_at', utc(c.created_at), 'updated_at', utc(c.updated_at),
        'replies', comment_replies(c.id)) order by c.created_at, c.id), '[]')
    from comments c left join users u on u.id = c.user_id
    where c.parent_id = parent
  );
end $$;

create table todos (
  id uuid primary key default uuidv7(),
  card_id uuid references cards (id) on delete cascade,
  description text not null,
  status text not null default 'open' check (status in ('scheduled', 'open', 'done')),
  link text,
  -- opened and closed by the service for `subject_id` of `topic`
  is_system boolean not null default false,
  topic text,
  subject_id uuid,
  assigned_to uuid,
  created_by uuid,
  due_date date,
  series_id uuid,
  recurrence_unit text not null default 'none'
    check (recurrence_unit in ('none', 'days', 'weeks', 'months', 'years')),
  recurrence_interval integer not null default 1,
  lead_time_days integer not null default 0,
  -- the day of the month of a series, also after a shorter month
  recurrence_day smallint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (is_system = (topic is not null))
);
create index todos_card on todos (card_id) where card_id is not null;
create index todos_assigned_to on todos (assigned_to, status) where assigned_to is not null;
create index todos_created_by on todos (created_by, status) where created_by is not null;
create index todos_created_at on todos (created_at, id);
create index todos_series on todos (series_id) where series_id is not null;
create index todos_scheduled on todos (due_date) where status = 'scheduled';
-- One open to-do for each user and subject.
create unique index todos_system on todos (topic, subject_id, assigned_to) nulls not distinct
  where is_system and status <> 'done';

create table resource_types (
  id uuid primary key default uuidv7(),
  kind text not null check (kind in ('link_type', 'file_category')),
  key text not null,
  label text not null,
  description text,
  icon text,
  is_enabled boolean not null default true,
  built_in boolean not null default false,
  sort_order integer not null default 0,
  translations jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint resource_types_key unique (kind, key)
);
insert into resource_types (kind, key, label, icon, sort_order, built_in) values
  ('file_category', 'architecture', 'Architecture', null, 10, true),
  ('file_category', 'security', 'Security', null, 20, true),
  ('file_category', 'compliance', 'Compliance', null, 30, true),
  ('file_category', 'operations', 'Operations', null, 40, true),
  ('file_category', 'meeting_notes', 'Meeting notes', null, 50, true),
  ('file_category', 'design', 'Design', null, 60, true),
  ('file_category', 'other', 'Other', null, 70, true),
  ('link_type', 'documentation', 'Documentation', 'menu_book', 10, true),
  ('link_type', 'contract', 'Contract', 'contract', 20, true),
  ('link_type', 'security', 'Security', 'shield', 30, true),
  ('link_type', 'compliance', 'Compliance', 'verified', 40, true),
  ('link_type', 'architecture', 'Architecture', 'architecture', 50, true),
  ('link_type', 'operations', 'Operations', 'settings', 60, true),
  ('link_type', 'support', 'Support', 'support_agent', 70, true),
  ('link_type', 'other', 'Other', 'link', 80, true);

create table documents (
  id uuid primary key default uuidv7(),
  card_id uuid not null references cards (id) on delete cascade,
  name text not null,
  url text,
  -- key of a link type
  type text not null,
  created_by uuid,
  created_at timestamptz not null default now()
);
create index documents_card on documents (card_id, created_at, id);

create table file_attachments (
  id uuid primary key default uuidv7(),
  card_id uuid not null references cards (id) on delete cascade,
  -- the content, which is deleted some time after the attachment
  file_id uuid not null unique references files (id),
  name text not null,
  mime_type text not null,
  size bigint not null,
  -- key of a file category
  category text,
  created_by uuid,
  created_at timestamptz not null default now()
);
create index file_attachments_card on file_attachments (card_id, created_at, id);

create table favorites (
  id uuid primary key default uuidv7(),
  user_id uuid not null references users (id) on delete cascade,
  card_id uuid not null references cards (id) on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  unique (user_id, card_id)
);
create index favorites_card on favorites (card_id);

create table bookmarks (
  id uuid primary key default uuidv7(),
  owner_id uuid not null references users (id) on delete cascade,
  name text not null,
  card_type text,
  filters jsonb,
  columns jsonb,
  sort jsonb,
  is_default boolean not null default false,
  visibility text not null default 'private' check (visibility in ('private', 'shared', 'public')),
  odata_enabled boolean not null default false,
  -- [{user_id, can_edit}]; in the row, so that one event contains all of it
  shared_with jsonb not null default '[]',
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create index bookmarks_owner on bookmarks (owner_id);

create table notifications (
  id uuid primary key default uuidv7(),
  user_id uuid not null references users (id) on delete cascade,
  type text not null,
  title text not null,
  message text not null,
  link text,
  is_read boolean not null default false,
  -- set if it is about one card; outlives the card
  card_id uuid,
  actor_id uuid,
  -- the first event that it describes, and the batch whose events it combines
  event_position bigint not null,
  batch_id uuid,
  -- the number of events that it describes
  count integer not null default 1,
  -- until then it also combines events of other batches by the same actor
  gathers_until timestamptz,
  -- false: sent by mail only
  in_app boolean not null default true,
  mail_pending boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
-- One notification for each event and user.
create unique index notifications_event on notifications (event_position, user_id, type);
create unique index notifications_batch on notifications (batch_id, user_id, type) where batch_id is not null;
create index notifications_user on notifications (user_id, created_at desc, id desc);
create index notifications_unread on notifications (user_id) where in_app and not is_read;
create index notifications_mail on notifications (user_id) where mail_pending;
create index notifications_created on notifications (created_at);

-- When each user was last sent a mail of notifications, for the interval between mails.
create table notification_mailings (
  user_id uuid primary key references users (id) on delete cascade,
  last_at timestamptz not null
);

create table mails (
  id uuid primary key default uuidv7(),
  recipient text not null,
  -- {subject, text, html}; removed when the outcome is known, since links in it may be secrets
  content jsonb,
  -- from then on the mail server may have accepted it: it is not sent again
  handed_over_at timestamptz,
  outcome text check (outcome in ('sent', 'not_configured', 'refused', 'unconfirmed')),
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
create index mails_created on mails (created_at);

create table webhooks (
  id uuid primary key default uuidv7(),
  name text not null,
  url text not null,
  -- null: all
  event_types text[],
  card_types text[],
  status text not null default 'active' check (status in ('active', 'paused')),
  paused_reason text,
  -- the rights of the owner when subscribing; an event must be visible with these and with the current ones
  owner_id uuid not null references users (id) on delete cascade,
  rights jsonb not null,
  -- both encrypted; deliveries are also signed with the previous one until it expires
  secret text not null,
  previous_secret text,
  previous_secret_until timestamptz,
  -- events up to here have deliveries
  position bigint not null,
  failures integer not null default 0,
  failing_since timestamptz,
  last_delivered_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index webhooks_active on webhooks (id) where status = 'active';

create table webhook_deliveries (
  id uuid primary key default uuidv7(),
  webhook_id uuid not null references webhooks (id) on delete cascade,
  -- null for a ping
  position bigint,
  event_type text not null,
  -- deliveries with the same key are sent in order
  order_key text not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'dead')),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  leased_until timestamptz,
  response_status integer,
  error text,
  duration_ms integer,
  -- no attempts after that
  expires_at timestamptz not null default now() + interval '24 hours',
  created_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz
);
create index webhook_deliveries_log on webhook_deliveries (webhook_id, id);
create index webhook_deliveries_order on webhook_deliveries (webhook_id, order_key, id) where status = 'pending';
create index webhook_deliveries_due on webhook_deliveries (next_attempt_at) where status = 'pending';
create index webhook_deliveries_finished on webhook_deliveries (finished_at) where finished_at is not null;
