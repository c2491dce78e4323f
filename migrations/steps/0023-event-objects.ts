import type { Knex } from 'knex';

/**
 * Indexes by which the events of one object are found, of whatever kind (what was written to it after a batch), and the
 * batches that were rolled back.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index events_object on events ((data ->> 'id'), position);
    create index mutation_batches_rolled_back on mutation_batches (rolled_back_by) where rolled_back_by is not null;
  `);
}
