import type { Knex } from 'knex';

/** Mappings of card types to tables outside, what is remembered of each, and the runs that keep both sides in step. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table itsm_mappings (
      id uuid primary key default uuidv7(),
      connection_id uuid not null references itsm_connections on delete restrict,
      card_type_key text not null,
      remote_table text not null,
      sync_direction text not null check (sync_direction in ('pull', 'push', 'bidirectional')),
      sync_mode text not null check (sync_mode in ('additive', 'conservative', 'strict')),
      -- in the remote's own language, and in the filter language of lists; null: everything
      filter_query text,
      card_filter text,
      -- what new cards and records hold beside the mapped values
      card_defaults jsonb not null default '{}',
      record_defaults jsonb not null default '{}',
      max_deletions integer not null check (max_deletions >= 0),
      max_deletion_ratio double precision not null check (max_deletion_ratio between 0 and 1),
      quarantine_minutes integer not null check (quarantine_minutes >= 0),
      complete_reads integer not null check (complete_reads >= 0),
      -- a plan is applied without anybody's look when it changes no more than that; null: however much
      auto_apply boolean not null default false,
      auto_apply_max_changes integer check (auto_apply_max_changes >= 0),
      auto_apply_max_ratio double precision check (auto_apply_max_ratio between 0 and 1),
      -- a scheduled run reads everything when the last complete reading is older
      complete_every_hours integer not null check (complete_every_hours > 0),
      -- a change in the inventory is pushed within seconds
      follows_changes boolean not null default false,
      -- when it runs by itself stands there alone; null: by hand
      schedule_key text unique references job_schedules (key) deferrable initially deferred,
      -- when somebody was last told that its runs fail or wait; null: all is well
      told_at timestamptz,
      is_active boolean not null default true,
      -- columns of the table as they were when the mapping was last checked, and what has changed since
      dictionary jsonb,
      dictionary_at timestamptz,
      drift jsonb,
      created_by uuid references users on delete set null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index itsm_mappings_table on itsm_mappings (connection_id, card_type_key, remote_table);

    create table itsm_field_mappings (
      mapping_id uuid not null references itsm_mappings on delete cascade,
      position integer not null,
      card_field text not null,
      remote_field text not null,
      direction text not null check (direction in ('remote_leads', 'local_leads', 'newest_wins', 'manual')),
      transform_type text not null
        check (transform_type in ('direct', 'value_map', 'date_format', 'boolean', 'reference', 'expression')),
      transform_config jsonb not null default '{}',
      is_identity boolean not null default false,
      primary key (mapping_id, position)
    );

    create table itsm_relation_mappings (
      mapping_id uuid not null references itsm_mappings on delete cascade,
      position integer not null,
      relation_type_key text not null,
      -- the remote's key of the kind of relation
      remote_type text not null,
      -- the mapping of the cards at the other end, of the same connection; null: this one
      target_mapping_id uuid references itsm_mappings on delete cascade,
      -- the remote tells it from the target's side
      reversed boolean not null default false,
      primary key (mapping_id, position)
    );

    -- what a mapping remembers beside its pairs
    create table itsm_books (
      mapping_id uuid primary key references itsm_mappings on delete cascade,
      -- up to where changes were read outside, by the remote's clock, and here, by the feed
      watermark timestamptz,
      links_watermark timestamptz,
      local_position bigint,
      -- records to read again though they have not changed
      again text[] not null default '{}',
      complete_read_at timestamptz
    );

    -- the identity map with what both sides last agreed on
    create table itsm_pairs (
      mapping_id uuid not null references itsm_mappings on delete cascade,
      remote_id text not null,
      -- may have been deleted or merged since
      card_id uuid not null,
      origin text not null check (origin in ('pulled', 'pushed', 'linked')),
      state text not null check (state in ('linked', 'quarantined', 'ended', 'unmapped')),
      gone text check (gone in ('local', 'remote')),
      evidence text check (evidence in ('tombstone', 'look', 'readings', 'inventory')),
      since timestamptz,
      -- by the card's field: {local, remote}, each as its own side holds it
      base jsonb not null default '{}',
      absences integer not null default 0,
      primary key (mapping_id, remote_id),
      check ((state in ('quarantined', 'ended')) = (gone is not null)),
      check ((state = 'quarantined') = (evidence is not null and since is not null))
    );
    create index itsm_pairs_card on itsm_pairs (card_id);

    -- relations that both sides last had, by the records at the ends as the inventory sees them
    create table itsm_links (
      mapping_id uuid not null references itsm_mappings on delete cascade,
      relation_type text not null,
      source text not null,
      target text not null,
      -- the remote's key of the relation, where it has told one
      remote_relation_id text,
      primary key (mapping_id, relation_type, source, target)
    );
    create index itsm_links_target on itsm_links (mapping_id, target);

    create table itsm_runs (
      id uuid primary key default uuidv7(),
      connection_id uuid not null references itsm_connections on delete cascade,
      -- null once the mapping is deleted
      mapping_id uuid references itsm_mappings on delete set null,
      job_id uuid,
      direction text not null check (direction in ('pull', 'push', 'bidirectional')),
      trigger text not null check (trigger in ('manual', 'schedule', 'changes', 'undo')),
      -- review: the plan waits for a person; superseded: another run came before anybody applied it
      status text not null
        check (status in ('queued', 'running', 'review', 'completed', 'failed', 'cancelled', 'superseded')),
      stage text not null check (stage in ('read', 'match', 'plan', 'review', 'apply', 'verify', 'done')),
      -- whether everything is read, or what has changed
      complete boolean not null,
      auto_apply boolean not null,
      -- the mapping in the engine's terms as it stood when the run began
      mapping jsonb,
      -- where reading and planning go on after the process was killed
      checkpoint jsonb,
      -- why the plan is not applied without a person's word
      stopped text,
      stopped_overruled_by uuid references users on delete set null,
      -- written to the book when all rows have ended
      closing jsonb,
      plan_made_at timestamptz,
      -- counts by outcome, durations of stages
      stats jsonb not null default '{}',
      remote_calls integer not null default 0,
      error_code text,
      error_message text,
      -- undo: the run that this one takes back
      undo_of uuid references itsm_runs on delete set null,
      created_by uuid references users on delete set null,
      created_at timestamptz not null default now(),
      started_at timestamptz,
      completed_at timestamptz
    );
    -- two runs of one mapping never overlap
    create unique index itsm_runs_alone on itsm_runs (mapping_id) where status in ('queued', 'running', 'review');
    create index itsm_runs_mapping on itsm_runs (mapping_id, id);
    create index itsm_runs_connection on itsm_runs (connection_id, id);

    -- what a run is going to do: never changed once the plan is made, but for how each row ended
    create table itsm_plan_rows (
      run_id uuid not null references itsm_runs on delete cascade,
      no integer not null,
      action text not null,
      side text check (side in ('local', 'remote')),
      remote_id text,
      card_id uuid,
      -- the whole row in the engine's terms
      row jsonb not null,
      approval text check (approval in ('approved', 'rejected')),
      decided_by uuid references users on delete set null,
      progress text not null default 'pending'
        check (progress in ('pending', 'begun', 'applied', 'stale', 'refused', 'skipped')),
      message text,
      made_id text,
      ended_at timestamptz,
      primary key (run_id, no)
    );
    create index itsm_plan_rows_action on itsm_plan_rows (run_id, action, no);
    create index itsm_plan_rows_open on itsm_plan_rows (run_id, no) where progress in ('pending', 'begun');
    create index itsm_plan_rows_card on itsm_plan_rows (card_id) where card_id is not null;

    -- records that a run has read and not judged yet, and which keys its pages have shown
    create table itsm_run_records (
      run_id uuid not null references itsm_runs on delete cascade,
      remote_id text not null,
      -- null: it has a pair and was judged with its page
      record jsonb,
      primary key (run_id, remote_id)
    );

    -- relations that a run has read
    create table itsm_run_links (
      run_id uuid not null references itsm_runs on delete cascade,
      remote_relation_id text not null,
      relation_type text not null,
      source text not null,
      target text not null,
      primary key (run_id, remote_relation_id)
    );
    create index itsm_run_links_source on itsm_run_links (run_id, source);

    create table itsm_run_log (
      run_id uuid not null references itsm_runs on delete cascade,
      id bigint generated always as identity,
      at timestamptz not null default now(),
      level text not null check (level in ('info', 'warning', 'error')),
      stage text not null,
      message text not null,
      primary key (run_id, id)
    );

    -- conflicts and uncertain matches that wait for a person
    create table itsm_questions (
      id uuid primary key default uuidv7(),
      mapping_id uuid not null references itsm_mappings on delete cascade,
      kind text not null check (kind in ('conflict', 'match')),
      remote_id text,
      card_id uuid,
      -- the field that both sides moved; null for a removal or a match
      path text,
      local jsonb,
      remote jsonb,
      reason text not null,
      candidates jsonb not null default '[]',
      -- the run that asked last
      run_id uuid references itsm_runs on delete set null,
      asked_at timestamptz not null default now()
    );
    create unique index itsm_questions_one on itsm_questions
      (mapping_id, kind, coalesce(remote_id, ''), coalesce(card_id::text, ''), coalesce(path, ''));

    -- a person's word on a conflict, while both sides are as they were when it was given
    create table itsm_resolutions (
      id uuid primary key default uuidv7(),
      mapping_id uuid not null references itsm_mappings on delete cascade,
      remote_id text not null,
      path text,
      winner text not null check (winner in ('local', 'remote')),
      local jsonb,
      remote jsonb,
      created_by uuid references users on delete set null,
      created_at timestamptz not null default now()
    );
    create unique index itsm_resolutions_one on itsm_resolutions (mapping_id, remote_id, coalesce(path, ''));

    -- a person's word on which card a record is; without a card: a new one
    create table itsm_decisions (
      mapping_id uuid not null references itsm_mappings on delete cascade,
      remote_id text not null,
      card_id uuid,
      created_by uuid references users on delete set null,
      created_at timestamptz not null default now(),
      primary key (mapping_id, remote_id)
    );
  `);
}
