import type { Knex } from 'knex';

/** Who somebody is at the provider of single sign-on, and the way in for when that is away. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table users
      -- set by admin:reset: until then the password is taken although people log in through a provider
      add column password_login_until timestamptz;

    -- A provider's subject never changes and is never given again; an address may be both.
    create table sso_identities (
      issuer text not null,
      subject text not null,
      user_id uuid not null references users (id) on delete cascade,
      created_at timestamptz not null default now(),
      primary key (issuer, subject),
      unique (user_id, issuer)
    );
  `);
}
