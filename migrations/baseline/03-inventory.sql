-- Inventory: metamodel, cards, relations, tags, merges, calculations, catalogues, and values as of a date.

-- Locks the metamodel until the transaction ends: shared, or exclusively for a change. Returns its version, read after the
-- lock is held, so that it includes what was committed in between. A shared lock is not waited for: null means that the
-- metamodel is being changed, and the caller tries again instead of occupying a connection.
create function lock_metamodel(changing boolean) returns bigint language plpgsql as $$
declare
  given text := current_setting('lock_timeout');
begin
  if changing then
    -- shared locks are refused while this waits, so it waits briefly and is tried again
    perform set_config('lock_timeout', '1000', true);
    perform pg_advisory_xact_lock(7203003);
    perform set_config('lock_timeout', given, true);
  elsif not pg_try_advisory_xact_lock_shared(7203003) then
    return null;
  end if;
  return coalesce((select version from topic_versions where topic = 'metamodel'), 0);
end $$;

-- A label in the first of the languages that it is translated to, else as it is. Translations are
-- {member: {language: text}}, or {language: text} for the label alone.
create function localised(value text, translations jsonb, member text, languages text[]) returns text
  language sql immutable parallel safe
  return coalesce((
    select found from (
      select n, coalesce(translations -> member ->> l,
                         case when member = 'label' then translations ->> l end) as found
      from unnest(languages) with ordinality as wanted (l, n)) each_language
    where found is not null order by n limit 1), value);

-- Translates the label of every object in a value.
create function localised_tree(value jsonb, languages text[]) returns jsonb
  language plpgsql immutable parallel safe as $$
begin
  case jsonb_typeof(value)
    when 'array' then
      return (select coalesce(jsonb_agg(localised_tree(e, languages) order by n), '[]')
              from jsonb_array_elements(value) with ordinality as x (e, n));
    when 'object' then
      return (select coalesce(jsonb_object_agg(k, case
                when k = 'translations' then v
                when k = 'label' and jsonb_typeof(v) = 'string'
                  then to_jsonb(localised(v #>> '{}', value -> 'translations', 'label', languages))
                else localised_tree(v, languages) end), '{}')
              from jsonb_each(value) as x (k, v));
    else
      return value;
  end case;
end $$;

create table card_types (
  key text primary key,
  label text not null,
  description text,
  icon text not null default 'category',
  color text not null default '#1976d2',
  category text,
  has_hierarchy boolean not null default false,
  has_successors boolean not null default false,
  subtypes jsonb not null default '[]',
  fields_schema jsonb not null default '[]',
  section_config jsonb not null default '{}',
  built_in boolean not null default false,
  is_hidden boolean not null default false,
  sort_order integer not null default 0,
  translations jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table relation_types (
  key text primary key,
  label text not null,
  reverse_label text,
  description text,
  source_type_key text not null references card_types (key),
  target_type_key text not null references card_types (key),
  cardinality text not null default 'n:m' check (cardinality in ('1:1', '1:n', 'n:m')),
  attributes_schema jsonb not null default '[]',
  source_visible boolean not null default true,
  source_mandatory boolean not null default false,
  target_visible boolean not null default true,
  target_mandatory boolean not null default false,
  built_in boolean not null default false,
  is_hidden boolean not null default false,
  sort_order integer not null default 0,
  translations jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table stakeholder_role_definitions (
  id uuid primary key default uuidv7(),
  card_type_key text not null references card_types (key) on delete cascade,
  key text not null,
  label text not null,
  description text,
  color text not null default '#757575',
  permissions jsonb not null default '{}',
  is_archived boolean not null default false,
  sort_order integer not null default 0,
  translations jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  archived_at timestamptz,
  archived_by uuid,
  unique (card_type_key, key)
);

-- The text for the search of misspelt words: folded words between blanks. Separators that are common in names become
-- blanks.
create function search_text(name_key text, alias text, external_id text) returns text
  language sql immutable parallel safe
  return ' ' || replace(replace(replace(replace(replace(replace(replace(replace(
    name_key || coalesce(' ' || fold(alias), '') || coalesce(' ' || lower(external_id), ''),
    '-', ' '), '/', ' '), '.', ' '), '_', ' '), '(', ' '), ')', ' '), ',', ' '), ':', ' ') || ' ';

-- All words by which a search finds a card. Blanks replace - / . so that compounds, paths and hosts are not words of
-- their own.
create function search_words(name_key text, alias text, external_id text, description text) returns tsvector
  language sql immutable parallel safe
  return to_tsvector('pg_catalog.simple'::regconfig, search_text(name_key, alias, external_id) ||
    replace(replace(replace(coalesce(fold(left(description, 20000)), ''), '-', ' '), '/', ' '), '.', ' '));

create table cards (
  id uuid primary key default uuidv7(),
  type text not null references card_types (key),
  subtype text,
  name text not null,
  -- for sorting and prefix search; collation "C" makes a prefix a range
  name_key text collate "C" not null generated always as (fold(name)) stored,
  alias text,
  description text,
  -- deferred, so that a batch may write children before their parents
  parent_id uuid references cards (id) deferrable initially deferred,
  lifecycle jsonb,
  attributes jsonb not null default '{}',
  status text not null default 'ACTIVE' check (status in ('ACTIVE', 'ARCHIVED')),
  approval_status text not null default 'DRAFT'
    check (approval_status in ('DRAFT', 'APPROVED', 'REJECTED', 'BROKEN')),
  data_quality numeric(4, 1) not null default 0,
  external_id text,
  archived_at timestamptz,
  -- shared by the cards that one operation archived
  archive_batch_id uuid,
  created_by uuid,
  updated_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index cards_external_id on cards (type, external_id) where external_id is not null;
create unique index cards_sibling_name on cards
  (type, coalesce(parent_id, '00000000-0000-0000-0000-000000000000'::uuid), md5(lower(name)))
  where status = 'ACTIVE';
create index cards_parent on cards (parent_id) where parent_id is not null;
-- One for each sort field of lists. They include the columns of filters, so that lists are index-only scans.
create index cards_by_name on cards (name_key, id) include (type, status, approval_status);
create index cards_by_type on cards (type, id) include (status, approval_status);
create index cards_by_subtype on cards (coalesce(subtype, ''), id) include (subtype, type, status, approval_status);
create index cards_by_status on cards (status, id) include (type, approval_status);
create index cards_by_approval_status on cards (approval_status, id) include (type, status);
create index cards_by_data_quality on cards (data_quality, id) include (type, status, approval_status);
create index cards_by_created_at on cards (created_at, id) include (type, status, approval_status);
create index cards_by_updated_at on cards (updated_at, id) include (type, status, approval_status);
-- Short pending lists: every search reads them completely.
create index cards_search_words on cards using gin (search_words(name_key, alias, external_id, description))
  with (gin_pending_list_limit = 512);
create index cards_search_text on cards using gin (search_text(name_key, alias, external_id) gin_trgm_ops)
  with (gin_pending_list_limit = 512);
-- Statistics of these expressions dominate the time of ANALYZE and do not improve plans.
alter index cards_search_words alter column 1 set statistics 0;
alter index cards_search_text alter column 1 set statistics 0;
-- Short pending list: every filter reads it completely.
create index cards_attributes on cards using gin (attributes jsonb_path_ops) with (gin_pending_list_limit = 512);
create index cards_archived_at on cards (archived_at, id) where status = 'ARCHIVED';

create table relations (
  id uuid primary key default uuidv7(),
  type text not null references relation_types (key),
  source_id uuid not null references cards (id) deferrable initially deferred,
  target_id uuid not null references cards (id) deferrable initially deferred,
  attributes jsonb not null default '{}',
  description text,
  created_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index relations_ends on relations (type, source_id, target_id);
create index relations_by_created_at on relations (created_at, id);
create index relations_source on relations (source_id, type);
create index relations_target on relations (target_id, type);

create table tag_groups (
  id uuid primary key default uuidv7(),
  name text not null,
  description text,
  mode text not null default 'multi' check (mode in ('single', 'multi')),
  mandatory boolean not null default false,
  restrict_to_types jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index tag_groups_name on tag_groups (lower(name));

create table tags (
  id uuid primary key default uuidv7(),
  tag_group_id uuid not null references tag_groups (id) on delete cascade,
  name text not null,
  description text,
  color text,
  sort_order integer not null default 0
);
create unique index tags_name on tags (tag_group_id, lower(name));

create table card_tags (
  card_id uuid not null references cards (id) on delete cascade,
  tag_id uuid not null references tags (id) on delete cascade,
  primary key (card_id, tag_id)
);
create index card_tags_tag on card_tags (tag_id, card_id);

create table card_merges (
  id uuid primary key default uuidv7(),
  -- no references: both outlive the cards
  survivor_id uuid not null,
  card_type text not null,
  -- the merged cards as lists show them
  merged jsonb not null,
  -- everything that was moved, changed and removed, for undo
  journal jsonb not null,
  created_by uuid,
  created_at timestamptz not null default now(),
  undone_by uuid,
  undone_at timestamptz
);
create index card_merges_created on card_merges (created_at, id);
create index card_merges_survivor on card_merges (survivor_id);

-- The target may itself have been merged later.
create table card_redirects (
  card_id uuid primary key,
  survivor_id uuid not null,
  merge_id uuid not null references card_merges (id) on delete cascade
);
create index card_redirects_survivor on card_redirects (survivor_id);
create index card_redirects_merge on card_redirects (merge_id);

create table calculations (
  id uuid primary key default uuidv7(),
  name text not null,
  description text,
  target_type_key text not null,
  target_field_key text not null,
  formula text not null,
  execution_order integer not null default 0,
  is_active boolean not null default false,
  created_by uuid references users (id) on delete set null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create index calculations_target on calculations (target_type_key, target_field_key);

-- Separate from calculations, because concurrent writers of cards update it; a row may be missing.
create table calculation_runs (
  calculation_id uuid primary key references calculations (id) on delete cascade,
  last_error text,
  last_run_at timestamptz
);

create table reference_catalogues (
  kind text primary key check (kind in ('capability', 'process', 'value_stream')),
  catalogue_version text not null,
  source text not null,
  -- parents first: {id, parent_id, level, names, descriptions, industry}
  nodes jsonb not null,
  loaded_at timestamptz not null default now()
);

-- Old values of the fields by which cards and relations are counted, derived from events by a trigger. Reports as of a date
-- read them in less than half the time of reading the data of events. One row for each event that created or deleted a card or
-- changed one of these fields.
create table card_old_values (
  position bigint primary key,
  card_id uuid not null,
  card_type text,
  -- c: created, u: updated, d: deleted
  act "char" not null,
  -- null: not changed by the event
  name text,
  status text,
  approval_status text,
  data_quality numeric(4, 1),
  -- old values of nullable fields by their names in events, null where the field was empty. A deletion contains all of
  -- them, because the card may be restored and creation events are not evaluated
  optional jsonb
);
create index card_old_values_gone on card_old_values (position) include (card_id) where act = 'd';

create table relation_old_values (
  position bigint primary key,
  relation_id uuid not null,
  relation_type text,
  act "char" not null,
  -- null: not changed by the event
  source_id uuid,
  target_id uuid
);
create index relation_old_values_gone on relation_old_values (position) include (relation_id) where act <> 'c';

-- Older values take precedence.
create function older_values(older jsonb, newer jsonb) returns jsonb
  language sql immutable strict parallel safe
  return newer || older;

create aggregate first_values (jsonb) (sfunc = older_values, stype = jsonb, parallel = safe);

create function record_old_values() returns trigger language plpgsql as $$
begin
  insert into card_old_values
  select e.position, e.card_id, e.card_type, e.act,
    e.changes #>> '{name,old}', e.changes #>> '{status,old}', e.changes #>> '{approval_status,old}',
    (e.changes #>> '{data_quality,old}')::numeric,
    case
      when e.act = 'd'
        then jsonb_build_object(
          'subtype', e.changes #> '{subtype,old}',
          'parent_id', e.changes #> '{parent_id,old}',
          'lifecycle.plan', e.changes #> '{lifecycle.plan,old}',
          'lifecycle.phaseIn', e.changes #> '{lifecycle.phaseIn,old}',
          'lifecycle.active', e.changes #> '{lifecycle.active,old}',
          'lifecycle.phaseOut', e.changes #> '{lifecycle.phaseOut,old}',
          'lifecycle.endOfLife', e.changes #> '{lifecycle.endOfLife,old}')
      when e.changes ?| array['subtype', 'parent_id', 'lifecycle.plan', 'lifecycle.phaseIn', 'lifecycle.active',
          'lifecycle.phaseOut', 'lifecycle.endOfLife']
        then (
          select jsonb_object_agg(key, value -> 'old')
          from jsonb_each(e.changes)
          where key in ('subtype', 'parent_id', 'lifecycle.plan', 'lifecycle.phaseIn', 'lifecycle.active',
            'lifecycle.phaseOut', 'lifecycle.endOfLife'))
    end
  from (
    select position, card_id, card_type,
      (case event_type when 'card.created' then 'c' when 'card.deleted' then 'd' else 'u' end)::"char" as act,
      -- a created card has no old values
      case when event_type <> 'card.created' then data -> 'changes' end as changes
    from new_events
    where event_type in ('card.created', 'card.updated', 'card.archived', 'card.restored', 'card.deleted',
      'card.approval_status.approve', 'card.approval_status.reject', 'card.approval_status.reset')
  ) e
  where e.act <> 'u'
    or e.changes ?| array['name', 'status', 'approval_status', 'data_quality', 'subtype', 'parent_id', 'lifecycle.plan',
      'lifecycle.phaseIn', 'lifecycle.active', 'lifecycle.phaseOut', 'lifecycle.endOfLife']
  order by e.position;

  insert into relation_old_values
  select e.position, e.relation_id, e.relation_type, e.act,
    (e.changes #>> '{source_id,old}')::uuid, (e.changes #>> '{target_id,old}')::uuid
  from (
    select position, relation_id, relation_type,
      (case event_type when 'relation.created' then 'c' when 'relation.deleted' then 'd' else 'u' end)::"char" as act,
      data -> 'changes' as changes
    from new_events
    where event_type in ('relation.created', 'relation.updated', 'relation.deleted')
  ) e
  where e.act <> 'u' or e.changes ?| array['source_id', 'target_id']
  order by e.position;
  return null;
end $$;

create trigger old_values after insert on events referencing new table as new_events
  for each statement execute function record_old_values();

-- The changes of one row, given newest first, merged: the oldest change of each field.
-- parallel = safe: otherwise the whole query runs in one process.
create aggregate first_changes (jsonb) (sfunc = jsonb_concat, stype = jsonb, parallel = safe);

-- The first value that is not null, in input order. any_value() may return any of them, since it combines the partial
-- results of parallel workers in any order.
create aggregate first_not_null (anyelement) (sfunc = any_value_transfn, stype = anyelement, parallel = safe);
