import type { Knex } from 'knex';

/** Service accounts, invitations, tokens with scopes, second factors and erased people. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table users
      -- service accounts are for programs: they have tokens and no password
      add column kind text not null default 'person' check (kind in ('person', 'service')),
      -- who answers for a service account
      add column owner_id uuid references users (id) on delete set null,
      -- set while an invitation waits for its password
      add column invited_at timestamptz,
      -- name and address were replaced for good
      add column erased_at timestamptz;
    create index users_owner on users (owner_id) where owner_id is not null;

    create table api_tokens (
      id uuid primary key default uuidv7(),
      user_id uuid not null references users (id) on delete cascade,
      name text not null,
      -- SHA-256 of the token, which is 256 random bits
      hash text not null unique,
      -- the token's first characters, to tell it from others
      hint text not null,
      -- permission keys, or '*' for whatever the user holds
      scopes text[] not null,
      expires_at timestamptz,
      -- exact to a minute
      last_used_at timestamptz,
      created_by uuid,
      created_at timestamptz not null default now()
    );
    create index api_tokens_user on api_tokens (user_id, id);

    create table two_factor (
      user_id uuid primary key references users (id) on delete cascade,
      -- both sealed; the pending one is in force once a code of it was shown
      secret text,
      pending_secret text,
      -- the last time step whose code was used: older ones are refused
      last_step bigint not null default 0,
      confirmed_at timestamptz
    );

    -- Single-use codes for who has lost the second factor, hashed.
    create table recovery_codes (
      user_id uuid not null references users (id) on delete cascade,
      hash text not null,
      primary key (user_id, hash)
    );

    -- What tells how somebody is or was called, for erasure.
    create index events_identity on events ((coalesce(data ->> 'id', data ->> 'user_id')))
      where event_type in ('auth.registered', 'user.created', 'user.updated', 'user.deleted');
  `);
}
