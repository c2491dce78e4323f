import type { Knex } from 'knex';

/** Roles, users, revoked tokens and the counters that throttle sensitive operations. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table roles (
      id uuid primary key default uuidv7(),
      key text not null unique,
      label text not null,
      description text,
      color text not null default '#757575',
      permissions jsonb not null default '{}',
      is_system boolean not null default false,
      is_default boolean not null default false,
      is_archived boolean not null default false,
      sort_order integer not null default 0,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      archived_at timestamptz,
      archived_by uuid
    );
    create unique index roles_one_default on roles (is_default) where is_default;

    create table users (
      id uuid primary key default uuidv7(),
      email text not null,
      display_name text not null,
      role text not null references roles (key),
      password_hash text,
      is_active boolean not null default true,
      locale text not null default 'en',
      auth_provider text not null default 'local' check (auth_provider in ('local', 'sso')),
      ui_preferences jsonb not null default '{"dashboard_default_tab": "overview"}',
      notification_preferences jsonb not null default '{}',
      -- tokens carry the version they were made under; raising it revokes them all
      token_version integer not null default 1,
      failed_login_attempts integer not null default 0,
      locked_until timestamptz,
      last_login timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index users_email on users (lower(email));
    create index users_role on users (role);

    create table revoked_tokens (
      jti uuid primary key,
      expires_at timestamptz not null
    );

    -- Single-use secrets, stored hashed: the set-up of the first administrator, stream tickets, invitations.
    create table one_time_tokens (
      hash text primary key,
      purpose text not null,
      user_id uuid references users (id) on delete cascade,
      data jsonb not null default '{}',
      expires_at timestamptz not null
    );
    create index one_time_tokens_purpose on one_time_tokens (purpose, user_id);

    -- Counters may vanish in a crash; they only slow down guessing.
    create unlogged table throttles (
      key text primary key,
      window_start timestamptz not null,
      hits integer not null
    );

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
      primary key (user_id, key)
    );
    create index idempotency_keys_age on idempotency_keys (created_at);
  `);
}
