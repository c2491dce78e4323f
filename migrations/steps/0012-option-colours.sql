-- default colours of options that people with colour blindness cannot tell apart; chosen colours are kept
with colours (type, field, option, old, new) as (
  values
    ('Application', 'businessCriticality', 'missionCritical', '#d32f2f', '#8c1d18'),
    ('Application', 'businessCriticality', 'businessCritical', '#f57c00', '#c2571a'),
    ('Application', 'businessCriticality', 'businessOperational', '#fbc02d', '#a98c1a'),
    ('Application', 'businessCriticality', 'administrativeService', '#9e9e9e', '#7c8aa5'),
    ('Application', 'functionalSuitability', 'perfect', '#2e7d32', '#16776a'),
    ('Application', 'functionalSuitability', 'appropriate', '#66bb6a', '#4f9d94'),
    ('Application', 'functionalSuitability', 'insufficient', '#f57c00', '#c38423'),
    ('Application', 'functionalSuitability', 'unreasonable', '#d32f2f', '#ad3f2b'),
    ('Application', 'timeModel', 'tolerate', '#ff9800', '#7c8aa5'),
    ('Application', 'timeModel', 'invest', '#4caf50', '#177061'),
    ('Application', 'timeModel', 'migrate', '#2196f3', '#2f86e0'),
    ('Application', 'timeModel', 'eliminate', '#d32f2f', '#a8321f'),
    ('Application', 'technicalSuitability', 'fullyAppropriate', '#2e7d32', '#16776a'),
    ('Application', 'technicalSuitability', 'adequate', '#66bb6a', '#4f9d94'),
    ('Application', 'technicalSuitability', 'unreasonable', '#f57c00', '#c38423'),
    ('Application', 'technicalSuitability', 'inappropriate', '#d32f2f', '#ad3f2b'),
    ('ITComponent', 'technicalSuitability', 'fullyAppropriate', '#2e7d32', '#16776a'),
    ('ITComponent', 'technicalSuitability', 'adequate', '#66bb6a', '#4f9d94'),
    ('ITComponent', 'technicalSuitability', 'unreasonable', '#f57c00', '#c38423'),
    ('ITComponent', 'technicalSuitability', 'inappropriate', '#d32f2f', '#ad3f2b')
), places as (
  select t.key, k.new, array[(s.n - 1)::text, 'fields', (f.n - 1)::text, 'options', (o.n - 1)::text, 'color'] as path
  from card_types t
    cross join jsonb_array_elements(t.fields_schema) with ordinality s (section, n)
    cross join jsonb_array_elements(s.section -> 'fields') with ordinality f (field, n)
    cross join jsonb_array_elements(coalesce(f.field -> 'options', '[]')) with ordinality o (option, n)
    join colours k on k.type = t.key and k.field = f.field ->> 'key' and k.option = o.option ->> 'key'
      and k.old = lower(o.option ->> 'color')
), recoloured as (
  select t.key, (
      select jsonb_agg(s.section || jsonb_build_object('fields', (
        select coalesce(jsonb_agg(
          case when jsonb_typeof(f.field -> 'options') = 'array' then f.field || jsonb_build_object('options', (
            select coalesce(jsonb_agg(
              case when p.new is null then o.option else o.option || jsonb_build_object('color', p.new) end order by o.n), '[]')
            from jsonb_array_elements(f.field -> 'options') with ordinality o (option, n)
              left join places p on p.key = t.key
                and p.path = array[(s.n - 1)::text, 'fields', (f.n - 1)::text, 'options', (o.n - 1)::text, 'color']
          )) else f.field end order by f.n), '[]')
        from jsonb_array_elements(s.section -> 'fields') with ordinality f (field, n)
      )) order by s.n)
      from jsonb_array_elements(t.fields_schema) with ordinality s (section, n)) as fields_schema
  from card_types t where t.key in (select key from places)
), changed as (
  update card_types t set fields_schema = r.fields_schema from recoloured r where r.key = t.key returning t.key
)
update topic_versions set version = version + 1 where topic = 'metamodel' and exists (select from changed);
