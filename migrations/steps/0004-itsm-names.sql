-- Tables and columns named as the glossary names them.
alter table itsm_books rename to itsm_sync_states;
alter table itsm_questions rename to itsm_review_items;
alter table itsm_review_items rename column asked_at to opened_at;
alter index itsm_questions_one rename to itsm_review_items_one;
alter table itsm_waiting_records rename to itsm_deferred_records;
alter index itsm_waiting_records_run rename to itsm_deferred_records_run;
alter table itsm_mappings rename column told_at to notified_at;
alter table itsm_plan_rows rename column held to removed;
alter table itsm_runs rename column stopped_overruled_by to limit_overridden_by;

-- Runs store their mapping with the names of the stored mapping.
update itsm_runs r set mapping = jsonb_build_object(
  'id', m -> 'id',
  'connection_id', r.mapping -> 'connectionId',
  'card_type_key', m -> 'cardType',
  'remote_table', m -> 'table',
  'sync_direction', m -> 'direction',
  'sync_mode', m #> '{deletion,mode}',
  'filter_query', r.mapping -> 'remoteFilter',
  'card_filter', r.mapping -> 'cardFilter',
  'card_defaults', m #> '{defaults,local}',
  'record_defaults', m #> '{defaults,remote}',
  'max_deletions', m #> '{deletion,maxCount}',
  'max_deletion_ratio', m #> '{deletion,maxRatio}',
  'quarantine_minutes', (m #>> '{deletion,quarantineMs}')::numeric / 60000,
  'complete_reads', m #> '{deletion,completeReads}',
  'auto_apply', jsonb_typeof(r.mapping -> 'autoApply') = 'object',
  'auto_apply_max_changes', r.mapping #> '{autoApply,maxChanges}',
  'auto_apply_max_ratio', r.mapping #> '{autoApply,maxRatio}',
  'complete_every_hours', (r.mapping ->> 'completeEveryMs')::numeric / 3600000,
  'follows_changes', false,
  'schedule_key', null,
  'is_active', r.mapping -> 'active',
  'dictionary', null,
  'drift', null,
  'created_by', r.mapping -> 'owner',
  'fields', coalesce((
    select jsonb_agg(jsonb_build_object(
      'card_field', f -> 'path',
      'remote_field', f -> 'remote',
      'direction', f -> 'rule',
      'transform_type', case f #>> '{transform,kind}'
        when 'number' then 'direct' when 'date' then 'date_format' else f #>> '{transform,kind}' end,
      'transform_config', case f #>> '{transform,kind}'
        when 'number' then jsonb '{"as": "number"}'
        when 'reference' then jsonb_build_object('mapping_id', r.mapping -> 'references' -> (f ->> 'path'))
        when 'expression' then jsonb_build_object(
          'to_local', f #> '{transform,toLocal}', 'to_remote', f #> '{transform,toRemote}')
        else (f -> 'transform') - 'kind' end,
      'is_identity', f -> 'identity') order by n)
    from jsonb_array_elements(m -> 'fields') with ordinality as fields(f, n)), '[]'),
  'relations', coalesce((
    select jsonb_agg(jsonb_build_object(
      'relation_type_key', l -> 'relationType',
      'remote_type', l -> 'remoteType',
      'target_mapping_id', r.mapping -> 'relationTargets' -> (n - 1)::int,
      'reversed', l -> 'reversed') order by n)
    from jsonb_array_elements(m -> 'relations') with ordinality as relations(l, n)), '[]'),
  'broken', r.mapping -> 'broken',
  'broken_by_drift', coalesce(r.mapping -> 'brokenByDrift', 'false'),
  'blocked_targets', coalesce(r.mapping -> 'resting', '{}'),
  'target_tables', coalesce(r.mapping -> 'targetTables', '{}'),
  'mapping_direction', coalesce(r.mapping -> 'mappingDirection', m -> 'direction'),
  'again', coalesce(r.mapping -> 'again', '[]'))
from (select id, mapping -> 'mapping' as m from itsm_runs) old
where old.id = r.id and r.mapping is not null;
