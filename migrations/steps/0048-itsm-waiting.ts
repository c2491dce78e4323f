import type { Knex } from 'knex';

/** Records with values that cannot be told here yet are remembered, and not read again with each run. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table itsm_waiting_records (
      mapping_id uuid not null references itsm_mappings on delete cascade,
      remote_id text not null,
      -- the run whose plan has found so; null once that is in force
      run_id uuid references itsm_runs on delete cascade,
      -- as it was read last; null: as both sides have agreed
      record jsonb,
      -- what has to be mapped before its values can be told; all null: with the run, it waits no more
      records text[],
      cards uuid[],
      unique nulls not distinct (mapping_id, remote_id, run_id)
    );
    create index itsm_waiting_records_run on itsm_waiting_records (run_id) where run_id is not null;
  `);
}
