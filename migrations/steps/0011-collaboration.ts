import type { Knex } from 'knex';

/** What people attach to cards: comments, to-dos, links and files. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table comments (
      id uuid primary key default uuidv7(),
      card_id uuid not null references cards (id) on delete cascade,
      user_id uuid not null,
      -- deferred, so that a thread may be brought back in any order
      parent_id uuid references comments (id) deferrable initially deferred,
      -- the comment that began the thread: its own id there
      thread_id uuid not null,
      -- 0 begins a thread
      depth smallint not null default 0,
      -- as it was typed; nothing takes it for markup
      content text not null,
      -- the users whom it names
      mentions uuid[] not null default '{}',
      -- set when it was deleted and only holds its replies together: its content is empty then
      deleted_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index comments_threads on comments (card_id, created_at, id) where parent_id is null;
    create index comments_card on comments (card_id);
    create index comments_thread on comments (thread_id);
    create index comments_parent on comments (parent_id) where parent_id is not null;
    create index comments_user on comments (user_id);

    -- The replies to a comment with all below them, oldest first. As deep as threads may be, which is not deep.
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
      -- opened and closed by the service; topic and subject say what for
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
      -- the day of the month that a series keeps to, also after a shorter month
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
    -- a person is asked once for one thing
    create unique index todos_system on todos (topic, subject_id, assigned_to) nulls not distinct
      where is_system and status <> 'done';

    create table documents (
      id uuid primary key default uuidv7(),
      card_id uuid not null references cards (id) on delete cascade,
      name text not null,
      url text,
      -- a key of the link types
      type text not null,
      created_by uuid,
      created_at timestamptz not null default now()
    );
    create index documents_card on documents (card_id, created_at, id);

    create table file_attachments (
      id uuid primary key default uuidv7(),
      card_id uuid not null references cards (id) on delete cascade,
      -- the content, which outlives the attachment for a while
      file_id uuid not null unique references files (id),
      name text not null,
      mime_type text not null,
      size bigint not null,
      -- a key of the file categories
      category text,
      created_by uuid,
      created_at timestamptz not null default now()
    );
    create index file_attachments_card on file_attachments (card_id, created_at, id);
  `);
}
