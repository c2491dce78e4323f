import type { Knex } from 'knex';

/** Connections to other remotes than the first kind, and tokens to log in with. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table itsm_connections
      drop constraint itsm_connections_kind_check,
      add constraint itsm_connections_kind_check check (kind in ('servicenow', 'itop')),
      drop constraint itsm_connections_auth_type_check,
      add constraint itsm_connections_auth_type_check check (auth_type in ('basic', 'oauth2', 'token'));
  `);
}
