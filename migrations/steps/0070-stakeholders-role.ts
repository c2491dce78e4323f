import type { Knex } from 'knex';

/** Whether anybody holds a role on a card is asked of many cards at once, whoever it is. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('create index stakeholders_role on stakeholders (card_id, role)');
}
