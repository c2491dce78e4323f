import type { Knex } from 'knex';

/** Whom the maker of a private diagram lets see it as well, and who of them may change it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- [{user_id, can_edit}]; counts only where it is private, which a rollback of one of both columns may end
    alter table diagrams add column shared_with jsonb not null default '[]'
  `);
}
