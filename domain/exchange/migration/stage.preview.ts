import { embed, query, type Transaction } from '../../../platform/database.ts';
import { MAX_THREAD } from '../../collaboration/comments/comments.rules.ts';
import { limitedSides } from '../../inventory/relations/relations.rules.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { DUPLICATE, NO_PARENT } from './stage.rows.ts';

/** The tables that records change, with the column of a record's type. */
const targets = {
  card: { table: 'cards', type: 'card_type_key', types: 'cardTypes' },
  relation: { table: 'relations', type: 'relation_type', types: 'relationTypes' },
} as const;

/**
 * Stores what applying the records of a kind would change, as `{field: {old, new}}`, and which fields may be costs. The
 * parent of an existing card is only resolved when the card is written.
 */
export async function previewDiffs(
  sql: Transaction,
  migrationId: string,
  kind: keyof typeof targets,
  metamodel: Metamodel,
): Promise<void> {
  const { table, type, types } = targets[kind];
  const costs = [...metamodel[types].values()].map(({ key, costKeys }) => [
    key,
    costKeys.map((cost) => `attributes.${cost}`),
  ]);
  const members = (column: string) =>
    `select '${column}.' || key, s.stored -> '${column}' -> key, value from jsonb_each(o.payload -> '${column}')`;
  await query(sql).run`update migration_records r set
       diff = coalesce(changed.diff, '{}'),
       cost_keys = array(select jsonb_array_elements_text(
         ${JSON.stringify(Object.fromEntries(costs))}::jsonb -> r.${embed(type)}))
     from migration_records o left join ${embed(table)} t on t.id = o.target_id
     -- OFFSET computes it once for each record
     cross join lateral (select to_jsonb(t) as stored offset 0) s
     cross join lateral (
       select jsonb_object_agg(field, jsonb_build_object('old', old, 'new', new)) as diff
       from (
         select key, s.stored -> key, value from jsonb_each(o.payload - '{type,attributes,lifecycle}'::text[])
         where t.id is null or key not in ('parent_external_id', 'parent_path')
         union all ${embed(members('attributes'))}
         union all ${embed(members('lifecycle'))}
       ) as v(field, old, new)
       where coalesce(old, 'null') <> new
     ) changed
     where o.migration_id = ${migrationId} and o.entity_kind = ${kind} and o.action in ('create', 'update')
       and o.payload is not null and r.migration_id = o.migration_id and r.line = o.line`;
}

/** Runs a statement of SQL of our own; `:id` is the migration, `:source` and `:target` the types with a limit on that side. */
type Run = (texts: TemplateStringsArray, ...parts: (string | number)[]) => Promise<void>;

/**
 * Stores the effect of applying relations, attachments, tags and stakeholders, once that of the cards is known:
 * existing and duplicate ones are skipped, those without a card or beyond a limit are conflicts.
 */
export async function previewOtherRecords(
  sql: Transaction,
  migrationId: string,
  metamodel: Metamodel,
): Promise<void> {
  const limited = (side: 'source' | 'target') =>
    [...metamodel.relationTypes.values()]
      .filter((type) => limitedSides(type).includes(side))
      .map(({ key }) => key);
  const bindings = { id: migrationId, source: limited('source'), target: limited('target') };
  const run: Run = async (texts, ...parts) => {
    await sql.raw(String.raw({ raw: texts }, ...parts), bindings);
  };
  /** `select` returns `line, action, message, id`. Only records that would be created change. */
  const decide: Run = (texts, ...parts) =>
    run`with decided (line, action, message, id) as (${String.raw({ raw: texts }, ...parts)})
       update migration_records r set action = d.action, error_message = d.message, target_id = d.id
       from decided d where r.migration_id = :id and r.line = d.line and r.action = 'create'`;
  await followCards('source', `'relation', 'document', 'comment', 'subscription', 'card_tag'`, run, decide);
  await followCards('target', `'relation'`, run, decide);
  await decide`select r.line, 'skip', null, s.id from migration_records r
     join stakeholders s on s.card_id = r.source_card and s.user_id = (r.payload ->> 'user_id')::uuid
       and s.role = r.payload ->> 'role'
     where ${open('subscription')}`;
  await decide`select r.line, 'skip', null, t.id from migration_records r
     join card_tags k on k.card_id = r.source_card join tags t on t.id = k.tag_id join tag_groups g on g.id = t.tag_group_id
     where ${open('card_tag')} and lower(t.name) = lower(r.payload ->> 'name')
       and lower(g.name) = lower(r.payload ->> 'group')`;
  await previewRelations(decide);
  await decide`select distinct on (r.line) r.line, 'skip', null, d.id from migration_records r
     join documents d on d.card_id = r.source_card and d.url = r.payload ->> 'url'
     where ${open('document')} order by r.line, d.id`;
  await decide`select line, 'skip', '${DUPLICATE}', null::uuid from (
       select r.line, row_number() over (partition by ${end('source')}, r.payload ->> 'url' order by r.line) as n
       from migration_records r where ${open('document')}) k where n > 1`;
  await previewComments(run, decide);
}

/** The condition for records `r` of a kind that would be created. */
const open = (kind: string) => `r.migration_id = :id and r.entity_kind = '${kind}' and r.action = 'create'`;
/** The card at an end of the record `r`: one of the inventory, or one of the file. */
const end = (side: string) => `coalesce(r.${side}_card::text, r.${side}_line::text)`;

/** Replaces cards of the file that exist by their ids, and leaves out what belongs to cards that are left out. */
async function followCards(side: string, kinds: string, run: Run, decide: Run): Promise<void> {
  const joined = `r.migration_id = :id and r.entity_kind in (${kinds}) and c.migration_id = r.migration_id
    and c.line = r.${side}_line`;
  await run`update migration_records r set ${side}_card = c.target_id from migration_records c
     where ${joined} and c.target_id is not null`;
  const subject = `case r.entity_kind when 'relation' then 'one of its cards' else 'its card' end`;
  await decide`select r.line, case c.action when 'skip' then 'skip' else 'conflict' end,
       ${subject} || case c.action when 'skip' then ' is left out' else ' cannot be created' end, null::uuid
     from migration_records r join migration_records c on ${joined}
     where c.target_id is null and c.action in ('conflict', 'skip')`;
}

async function previewRelations(decide: Run): Promise<void> {
  await decide`select r.line, 'conflict', 'a card has no relation to itself', null::uuid from migration_records r
     where ${open('relation')} and ${end('source')} = ${end('target')}`;
  // the one with values counts
  await decide`select line, case when differs then 'conflict' else 'skip' end,
       case when differs then 'another row has other values for it' else '${DUPLICATE}' end, null::uuid
     from (
       select r.line, row_number() over same as n, r.payload <> first_value(r.payload) over same as differs
       from migration_records r where ${open('relation')}
       window same as (partition by r.relation_type, ${end('source')}, ${end('target')} order by r.payload is null, r.line)
     ) k where n > 1`;
  await decide`select r.line, case when e.attributes @> coalesce(r.payload -> 'attributes', '{}')
         and (r.payload ->> 'description' is null or r.payload ->> 'description' = e.description)
       then 'skip' else 'update' end, null, e.id
     from migration_records r
     join relations e on e.type = r.relation_type and e.source_id = r.source_card and e.target_id = r.target_card
     where ${open('relation')}`;
  for (const side of ['target', 'source'] as const) {
    await decide`
      select line, 'conflict', 'one of its cards has another relation of this type, which allows one', null::uuid
      from (
         select r.line, row_number() over (partition by r.relation_type, ${end(side)} order by r.line) as n,
           exists (select from relations e
             where e.type = r.relation_type and e.${side}_id = r.${side}_card) as is_taken
         from migration_records r where ${open('relation')}
           and r.relation_type = any(cast(:${side} as text[]))) placed where is_taken or n > 1`;
  }
}

async function previewComments(run: Run, decide: Run): Promise<void> {
  // the author follows from the rest
  const content = `${end('source')}, r.payload ->> 'content', coalesce(r.payload ->> 'created_at', '')`;
  // a comment with several replies has as many rows: all replies belong to the first
  await run`update migration_records r set target_line = same.first
     from (select r.line, first_value(r.line) over (partition by ${content} order by r.line) as first
           from migration_records r where ${open('comment')} and r.target_line is null) same
     where ${open('comment')} and r.target_line = same.line and same.first <> same.line`;
  await decide`select line, 'skip', '${DUPLICATE}', null::uuid from (
       select r.line, row_number() over (partition by ${content}, coalesce(r.target_line, 0) order by r.line) as n
       from migration_records r where ${open('comment')}) k where n > 1`;
  // comments of a card with the same text are the same, at the same time if the source has it
  await decide`select distinct on (r.line) r.line, 'skip', null, c.id from migration_records r
     join comments c on c.card_id = r.source_card and c.deleted_at is null and c.content = r.payload ->> 'content'
       and (r.payload ->> 'created_at' is null or c.created_at = (r.payload ->> 'created_at')::timestamptz)
       and (c.parent_id is null) = (r.target_line is null)
     where ${open('comment')} order by r.line, c.id`;
  await decide`select r.line, p.action, '${NO_PARENT}', null::uuid from migration_records r
     join migration_records p on p.migration_id = r.migration_id and p.line = r.target_line
     where ${open('comment')} and p.target_id is null and p.action in ('skip', 'conflict')`;
  await decide`select line, 'conflict', 'a thread has at most ${MAX_THREAD} comments', null::uuid from (
       select r.line, row_number() over (partition by r.target_line order by r.line) + 1
         + greatest((select count(*) from comments c where c.thread_id = p.target_id) - 1, 0) as n
       from migration_records r join migration_records p on p.migration_id = r.migration_id and p.line = r.target_line
       where ${open('comment')}) k where n > ${MAX_THREAD}`;
}
