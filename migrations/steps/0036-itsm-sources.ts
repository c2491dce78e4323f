import type { Knex } from 'knex';

/** Connections to NetBox, and to lists of rows at addresses. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table itsm_connections
      drop constraint itsm_connections_kind_check,
      add constraint itsm_connections_kind_check check (kind in ('servicenow', 'itop', 'netbox', 'http')),
      drop constraint itsm_connections_auth_type_check,
      add constraint itsm_connections_auth_type_check check (auth_type in ('basic', 'oauth2', 'token', 'none')),
      -- the lists of a connection of the kind http, as its administrator tells them
      add column sources jsonb check ((sources is not null) = (kind = 'http'));
  `);
}
