import type { Knex } from 'knex';

const optional = [
  'subtype',
  'parent_id',
  'lifecycle.plan',
  'lifecycle.phaseIn',
  'lifecycle.active',
  'lifecycle.phaseOut',
  'lifecycle.endOfLife',
];
const list = (fields: string[]) => fields.map((field) => `'${field}'`).join(', ');

/** Notes the old values of cards that rows of `events` tell. */
const noteCards = (events: string) => `
  insert into card_old_values
  select e.position, e.card_id, e.card_type, e.act,
    e.changes #>> '{name,old}', e.changes #>> '{status,old}', e.changes #>> '{approval_status,old}',
    (e.changes #>> '{data_quality,old}')::numeric,
    case
      when e.act = 'd'
        then jsonb_build_object(${optional.map((field) => `'${field}', e.changes #> '{${field},old}'`).join(', ')})
      when e.changes \\?| array[${list(optional)}]
        then (select jsonb_object_agg(key, value -> 'old') from jsonb_each(e.changes) where key in (${list(optional)}))
    end
  from (
    select position, card_id, card_type,
      (case event_type when 'card.created' then 'c' when 'card.deleted' then 'd' else 'u' end)::"char" as act,
      -- nothing was before a card came
      case when event_type <> 'card.created' then data -> 'changes' end as changes
    from ${events}
    where event_type in ('card.created', 'card.updated', 'card.archived', 'card.restored', 'card.deleted',
      'card.approval_status.approve', 'card.approval_status.reject', 'card.approval_status.reset')
  ) e
  where e.act <> 'u'
    or e.changes \\?| array['name', 'status', 'approval_status', 'data_quality', ${list(optional)}]
  order by e.position`;

/** The same of relations. */
const noteRelations = (events: string) => `
  insert into relation_old_values
  select e.position, e.relation_id, e.relation_type, e.act,
    (e.changes #>> '{source_id,old}')::uuid, (e.changes #>> '{target_id,old}')::uuid
  from (
    select position, relation_id, relation_type,
      (case event_type when 'relation.created' then 'c' when 'relation.deleted' then 'd' else 'u' end)::"char" as act,
      data -> 'changes' as changes
    from ${events}
    where event_type in ('relation.created', 'relation.updated', 'relation.deleted')
  ) e
  where e.act <> 'u' or e.changes \\?| array['source_id', 'target_id']
  order by e.position`;

/**
 * The old values of the fields by which cards and relations are counted, beside the events that tell them: a report of a
 * moment reads them in less than half the time that it takes to look into the events' data.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A row for each event by which a card came, went, or changed in one of these fields.
    create table card_old_values (
      position bigint primary key,
      card_id uuid not null,
      card_type text,
      -- c: created, u: updated, d: deleted
      act "char" not null,
      -- null where the event does not tell of the field
      name text,
      status text,
      approval_status text,
      data_quality numeric(4, 1),
      -- those of fields that may be empty, by what events call them, null where one was. A deletion tells all of them: a
      -- card may come again, and what it comes with is not looked at
      optional jsonb
    );

    create index card_old_values_gone on card_old_values (position) include (card_id) where act = 'd';

    create table relation_old_values (
      position bigint primary key,
      relation_id uuid not null,
      relation_type text,
      act "char" not null,
      -- null where the event does not tell that it was another one
      source_id uuid,
      target_id uuid
    );

    create index relation_old_values_gone on relation_old_values (position) include (relation_id) where act <> 'c';

    -- the older of two tellings holds
    create function told_first(older jsonb, newer jsonb) returns jsonb
      language sql immutable strict parallel safe
      return newer || older;
    create aggregate first_values (jsonb) (sfunc = told_first, stype = jsonb, parallel = safe);

    create function note_old_values() returns trigger language plpgsql as $$
    begin
      ${noteCards('told')};
      ${noteRelations('told')};
      return null;
    end $$;
    create trigger old_values after insert on events referencing new table as told
      for each statement execute function note_old_values();

    ${noteCards('events')};
    ${noteRelations('events')};
  `);
}
