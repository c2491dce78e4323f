import type { Knex } from 'knex';

/** Settings under their present names, and what the purge of archived cards looks them up by. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    insert into settings (key, value, updated_at, updated_by)
    select 'workspace.registration_enabled', value -> 'enabled', updated_at, updated_by
    from settings where key = 'registration' and jsonb_typeof(value -> 'enabled') = 'boolean';
    delete from settings where key = 'registration';

    create index cards_archived_at on cards (archived_at, id) where status = 'ARCHIVED';
  `);
}
