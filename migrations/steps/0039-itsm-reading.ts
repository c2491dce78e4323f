import type { Knex } from 'knex';

/** What a run has read is kept until its plan is made, and the remote's relations for as long as their mapping. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- a row stands for a record that a run has heard of; one that says nothing new is kept without its content
    alter table itsm_run_records
      -- pages of the reading have shown it
      add column shown boolean not null default true,
      -- what a look at it by its key has found
      add column look text check (look in ('there', 'gone', 'unknown')),
      -- the remote's word that it is gone
      add column tombstone jsonb;

    -- relations outside as they were last read, so that a reading of what has changed tells them all
    drop table itsm_run_links;
    create table itsm_remote_links (
      mapping_id uuid not null references itsm_mappings on delete cascade,
      remote_relation_id text not null,
      -- the remote's key of the kind
      remote_type text not null,
      from_id text not null,
      to_id text not null,
      -- the run that has read it last
      run_id uuid not null,
      primary key (mapping_id, remote_relation_id)
    );
    create index itsm_remote_links_from on itsm_remote_links (mapping_id, from_id);
    create index itsm_remote_links_to on itsm_remote_links (mapping_id, to_id);

    create index itsm_plan_rows_remote on itsm_plan_rows (run_id, remote_id) where remote_id is not null;
  `);
}
