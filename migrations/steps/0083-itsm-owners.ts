import type { Knex } from 'knex';

/**
 * Connections to remotes get an owner, with whose rights their runs act: the creator as the events tell, or else the
 * administrator whose account is the oldest.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table itsm_connections
      add column owner_id uuid references users (id) on delete set null,
      -- what the owner held when becoming the owner
      add column rights jsonb not null default '{"permissions": "*"}',
      add column paused_reason text;

    update itsm_connections c set owner_id = coalesce(
      (select u.id from events e join users u on u.id = e.user_id
       where e.event_type = 'itsm_connection.created' and e.data ->> 'id' = c.id::text
       order by e.position limit 1),
      (select u.id from users u join roles r on r.key = u.role
       where u.is_active and u.kind <> 'service' and r.permissions ->> '*' = 'true'
       order by u.created_at, u.id limit 1))
  `);
}
