import type { Knex } from 'knex';

/** Connections to remote databases of configuration items, and what is known of the limits of their accounts. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table itsm_connections (
      id uuid primary key default uuidv7(),
      name text not null,
      kind text not null check (kind in ('servicenow')),
      -- scheme and host
      instance_url text not null,
      auth_type text not null check (auth_type in ('basic', 'oauth2')),
      grant_type text check (grant_type in ('password', 'client_credentials', 'refresh_token')),
      username text,
      client_id text,
      -- PEM
      ca text,
      client_certificate text,
      -- an object of all that is told to nobody, sealed
      secrets text not null,
      is_active boolean not null default true,
      last_tested_at timestamptz,
      test_status text check (test_status in ('passed', 'failed')),
      test_message text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      check ((auth_type = 'oauth2') = (grant_type is not null))
    );
    create unique index itsm_connections_name on itsm_connections (lower(name));

    -- found out anew when it is lost, and written with every request: not worth a log
    create unlogged table itsm_account_limits (
      account text primary key,
      state jsonb
    );
  `);
}
