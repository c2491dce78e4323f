import type { Knex } from 'knex';

/** What a provisioning agent knows of accounts, and the groups that it keeps. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Apart from users, since it names a person for good and goes with the person, while events stay.
    create table scim_identities (
      user_id uuid primary key references users (id) on delete cascade,
      user_name text not null,
      external_id text,
      given_name text,
      family_name text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index scim_identities_user_name on scim_identities (lower(user_name));
    create index scim_identities_external_id on scim_identities (external_id) where external_id is not null;

    create table scim_groups (
      id uuid primary key default uuidv7(),
      display_name text not null,
      external_id text,
      created_at timestamptz not null default now(),
      -- raised by changes of its members, too
      updated_at timestamptz not null default now()
    );
    create unique index scim_groups_display_name on scim_groups (lower(display_name));
    create index scim_groups_external_id on scim_groups (external_id) where external_id is not null;

    create table scim_group_members (
      id uuid primary key default uuidv7(),
      group_id uuid not null references scim_groups (id) on delete cascade,
      user_id uuid not null references users (id) on delete cascade,
      created_at timestamptz not null default now(),
      unique (group_id, user_id)
    );
    create index scim_group_members_user on scim_group_members (user_id);
  `);
}
