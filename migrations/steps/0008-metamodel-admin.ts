import type { Knex } from 'knex';

/**
 * Administration of the metamodel: the lock that its changes take alone, labels in the reader's language, and the
 * catalogues that stand beside the types, with what every workspace begins with.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Holds the metamodel as it is until the transaction ends, or, for what changes it, holds it alone. Answers its
    -- version, read once the lock is there: a statement of its own sees what was committed meanwhile. Null when the
    -- metamodel is being changed: whoever only relies on it comes again, instead of keeping a connection waiting.
    create function hold_metamodel(changing boolean) returns bigint language plpgsql as $$
    declare
      given text := current_setting('lock_timeout');
    begin
      if changing then
        -- everybody else is turned away while this waits, so the wait is short and tried again
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

    -- The same for every labelled object within a value.
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

    -- what a built-in relation type brings is marked as such, so that what is added later is told from it
    update relation_types set attributes_schema = (
      select jsonb_agg(a || '{"built_in": true}' || case when a -> 'options' is not null then jsonb_build_object('options', (
          select coalesce(jsonb_agg(o || '{"built_in": true}' order by m), '[]')
          from jsonb_array_elements(a -> 'options') with ordinality as y (o, m))) else '{}' end order by n)
      from jsonb_array_elements(attributes_schema) with ordinality as x (a, n))
    where built_in and attributes_schema <> '[]';

    create table principles (
      id uuid primary key default uuidv7(),
      title text not null,
      description text,
      rationale text not null default '',
      implications text not null default '',
      is_active boolean not null default true,
      sort_order integer not null default 0,
      -- of the reference catalogue that it was taken from
      catalogue_id text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );

    create table compliance_regulations (
      id uuid primary key default uuidv7(),
      key text not null constraint compliance_regulations_key unique,
      label text not null,
      description text,
      is_enabled boolean not null default true,
      built_in boolean not null default false,
      sort_order integer not null default 0,
      translations jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    insert into compliance_regulations (key, label, sort_order, built_in) values
      ('eu_ai_act', 'EU AI Act (Regulation (EU) 2024/1689)', 10, true),
      ('gdpr', 'GDPR (Regulation (EU) 2016/679)', 20, true),
      ('nis2', 'NIS2 Directive (Directive (EU) 2022/2555)', 30, true),
      ('dora', 'DORA (Regulation (EU) 2022/2554)', 40, true),
      ('soc2', 'SOC 2 (Trust Services Criteria)', 50, true),
      ('iso27001', 'ISO/IEC 27001:2022', 60, true);

    create table resource_types (
      id uuid primary key default uuidv7(),
      kind text not null check (kind in ('link_type', 'file_category')),
      key text not null,
      label text not null,
      description text,
      icon text,
      is_enabled boolean not null default true,
      built_in boolean not null default false,
      sort_order integer not null default 0,
      translations jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint resource_types_key unique (kind, key)
    );
    insert into resource_types (kind, key, label, icon, sort_order, built_in) values
      ('file_category', 'architecture', 'Architecture', null, 10, true),
      ('file_category', 'security', 'Security', null, 20, true),
      ('file_category', 'compliance', 'Compliance', null, 30, true),
      ('file_category', 'operations', 'Operations', null, 40, true),
      ('file_category', 'meeting_notes', 'Meeting notes', null, 50, true),
      ('file_category', 'design', 'Design', null, 60, true),
      ('file_category', 'other', 'Other', null, 70, true),
      ('link_type', 'documentation', 'Documentation', 'menu_book', 10, true),
      ('link_type', 'contract', 'Contract', 'contract', 20, true),
      ('link_type', 'security', 'Security', 'shield', 30, true),
      ('link_type', 'compliance', 'Compliance', 'verified', 40, true),
      ('link_type', 'architecture', 'Architecture', 'architecture', 50, true),
      ('link_type', 'operations', 'Operations', 'settings', 60, true),
      ('link_type', 'support', 'Support', 'support_agent', 70, true),
      ('link_type', 'other', 'Other', 'link', 80, true);
  `);
}
