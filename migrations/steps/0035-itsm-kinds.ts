import type { Knex } from 'knex';

/** Connections to other remotes than the first kind, tokens to log in with, and the zone of clocks that tell local times. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table itsm_connections
      add column time_zone text,
      drop constraint itsm_connections_kind_check,
      add constraint itsm_connections_kind_check check (kind in ('servicenow', 'itop')),
      drop constraint itsm_connections_auth_type_check,
      add constraint itsm_connections_auth_type_check check (auth_type in ('basic', 'oauth2', 'token'));
  `);
}
