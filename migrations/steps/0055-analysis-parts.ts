import type { Knex } from 'knex';

/** What a run has found so far, so that it goes on from there after its worker's end. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table analysis_parts (
      run_id uuid not null references analysis_runs on delete cascade,
      -- the step that it is of
      part text not null,
      content bytea not null,
      primary key (run_id, part)
    );
  `);
}
