import type { Knex } from 'knex';

/** Followers of the change feed, notifications made from it, and mails on their way. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- How far each follower of the feed has come; whoever goes on holds its row's lock.
    create table feed_followers (
      name text primary key,
      position bigint not null,
      updated_at timestamptz not null default now()
    );
    insert into feed_followers (name, position) select 'notifications', coalesce(max(position), 0) from events;

    create table notifications (
      id uuid primary key default uuidv7(),
      user_id uuid not null references users (id) on delete cascade,
      type text not null,
      title text not null,
      message text not null,
      link text,
      is_read boolean not null default false,
      -- the card that it is about, if it is about one alone; outlives the card
      card_id uuid,
      actor_id uuid,
      -- the first event that it tells of, and the batch whose events it gathers
      event_position bigint not null,
      batch_id uuid,
      -- how many things it tells of
      count integer not null default 1,
      -- set while it gathers further things of one actor, whatever their batch
      gathers_until timestamptz,
      -- whether it is shown in the application, or only goes out by mail
      in_app boolean not null default true,
      mail_pending boolean not null default false,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp()
    );
    -- an event is told to a user once
    create unique index notifications_event on notifications (event_position, user_id, type);
    create unique index notifications_batch on notifications (batch_id, user_id, type) where batch_id is not null;
    create index notifications_user on notifications (user_id, created_at desc, id desc);
    create index notifications_unread on notifications (user_id) where in_app and not is_read;
    create index notifications_mail on notifications (user_id) where mail_pending;
    create index notifications_created on notifications (created_at);

    -- When each user was last sent a mail of notifications: the next one waits.
    create table notification_mailings (
      user_id uuid primary key references users (id) on delete cascade,
      last_at timestamptz not null
    );

    create table mails (
      id uuid primary key default uuidv7(),
      recipient text not null,
      -- {subject, text, html}; gone with the outcome, since links in it may be secrets
      content jsonb,
      -- the mail server may have taken it from this moment on: it is not given out again
      handed_over_at timestamptz,
      outcome text check (outcome in ('sent', 'not_configured', 'refused', 'unconfirmed')),
      created_at timestamptz not null default now(),
      finished_at timestamptz
    );
    create index mails_created on mails (created_at);
  `);
}
