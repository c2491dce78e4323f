import type { Knex } from 'knex';

/** Whether a job that succeeded was complete, and how many rows the writer of a job's batch announced. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table jobs add column outcome text check (outcome in ('complete', 'partial'));

    update jobs set outcome = case when (counts ->> 'failed')::numeric > 0 then 'partial' else 'complete' end
    where status = 'succeeded';

    create or replace function note_batch(batch jsonb) returns void language sql as $$
      insert into mutation_batches (id, tool_name, actor_user_id, origin, row_count, committed_at)
      select (batch ->> 'id')::uuid, batch ->> 'tool_name', (batch ->> 'actor_user_id')::uuid, batch ->> 'origin',
             coalesce((batch ->> 'row_count')::integer, 0), now()
      where batch is not null
      on conflict (id) do nothing
    $$;
  `);
}
