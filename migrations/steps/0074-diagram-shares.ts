import type { Knex } from 'knex';

/** Whom the maker of a private diagram lets see it as well, and who of them may change it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- [{user_id, can_edit}]; nobody but where it is private
    alter table diagrams add column shared_with jsonb not null default '[]',
      add check (private_to is not null or shared_with = '[]')
  `);
}
