import { numberedIds } from '../../../domain/inventory/cards/cards.list.ids.ts';
import { visibleAttributes, visibleCards } from '../../../domain/inventory/cards/cards.projection.ts';
import { MAX_DEPTH } from '../../../domain/inventory/cards/cards.tree.ts';
import { visibleRelationAttributes } from '../../../domain/inventory/relations/relations.list.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Condition, Fragment, Order } from '../../../domain/kernel/lists/lists.types.ts';
import { lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import { embed, fragment, joinFragments } from '../../../platform/database.ts';
import { entireTable, type IdRange, type Snapshot } from '../../../platform/snapshot.ts';
import { selectList } from '../../kernel/formats/binary-rows.ts';
import type { BinaryTable, Column } from '../../kernel/formats/formats.types.ts';

/** A join that only some columns need. */
interface ColumnJoin {
  columns: string[];
  /** @param isChanged whether only the objects in `changed x` are read. */
  join(range: IdRange, isChanged: boolean): string | Fragment;
}

/** The objects that an extraction reads. */
interface RowSource {
  name: string;
  /** Table of the objects and its alias. */
  table: 'cards' | 'relations' | 'costs' | 'data_flows';
  row: 'c' | 'r' | 'k' | 'f';
  /** Joins that all columns may need. */
  joins: string;
  columnJoins: readonly ColumnJoin[];
  /** SQL of the columns by header; a list is the text of a JSON array. */
  values: Readonly<Record<string, string>>;
  /** The attributes that the caller may see. */
  attributes: Condition;
  where: Condition;
  /**
   * Only objects that may have changed: rows of `id`, `type`, `position` and `known` (an earlier extraction may have contained it).
   */
  changed?: Fragment | undefined;
  /** Of cards; by id without it. */
  order?: Order;
}

/** The columns of an extraction of changes, after all others. */
export const changeColumns: Column[] = [
  { header: 'deleted', type: 'boolean' },
  { header: 'removed', type: 'boolean' },
  { header: 'position', type: 'key' },
];

/** Rows up to which one statement is faster than one for each range of ids. */
const FEW = 2_000;

const changeValues: Record<string, string> = { deleted: 'null', removed: 'null', position: 'x.position' };

/** The values of an object that is deleted or no longer selected. */
const goneValues: Record<string, string> = {
  id: 'g.id',
  type: 'g.type',
  deleted: 'nullif(g.deleted, false)',
  removed: 'nullif(not g.deleted, false)',
  position: 'g.position',
};

/** The objects of a source in a range of ids, in its order. */
function presentRows(source: RowSource, columns: Column[], range: IdRange): Fragment {
  const { table, row, joins, columnJoins, attributes, where, changed, order } = source;
  const values: Record<string, string> = { attributes: "nullif(o.attributes, '{}')", ...source.values };
  if (changed) Object.assign(values, changeValues);
  const needed = columnJoins
    .filter((one) => columns.some(({ header }) => one.columns.includes(header)))
    .map(({ join }) => fragment`${embed(join(range, changed !== undefined))}`);
  const from = changed ? `changed x join ${table} ${row} on ${row}.id = x.id` : `${table} ${row}`;
  const place = order
    ? fragment`join (${embed(numberedIds([where], order))}) place on place.id::uuid = c.id`
    : fragment``;
  // a condition on costs is evaluated once per object
  const once = attributes.bindings.length > 0 ? ' offset 0' : '';
  return fragment`select ${embed(selectList(columns, (header) => values[header]!, values.attributes!))}
      from ${embed(from)} ${embed(joins)} ${embed(place)} cross join lateral (select ${embed(attributes)} as attributes${embed(once)}) o ${embed(joinFragments(needed, ' '))}
      where ${embed(range(`${row}.id`))} and ${embed(where)} order by ${embed(order ? 'place.n' : `${row}.id`)}`;
}

/** The known changed objects that are deleted or no longer selected. */
function goneRows({ table, row, where }: RowSource, columns: Column[]): Fragment {
  const id = embed(`${row}.id`);
  return fragment`select ${embed(selectList(columns, (header) => goneValues[header] ?? 'null', 'null'))}
      from (select x.id, x.type, ${id} is null as deleted, x.position
        from changed x left join ${embed(`${table} ${row}`)} on ${id} = x.id
        where x.known and (${id} is null or (${embed(where)}) is not true)) g order by g.id`;
}

/** Reads a source from the snapshot, in its order or oldest object first; in an extraction of changes, removed objects come first. */
export async function readRows(
  snapshot: Snapshot,
  source: RowSource,
  columns: Column[],
): Promise<BinaryTable> {
  const { name, table, changed } = source;
  const statement = (range: IdRange) => presentRows(source, columns, range);
  const all = statement(entireTable);
  if (changed) {
    const { sql, bindings } = fragment`with changed as materialized (${embed(changed)})
      (${embed(goneRows(source, columns))}) union all (${embed(all)})`;
    return { name, columns, expected: 0, chunks: () => snapshot.lines('rows', sql, bindings) };
  }
  const expected = await snapshot.expected(all.sql, all.bindings);
  const chunks = () =>
    expected < FEW || source.order
      ? snapshot.lines('rows', all.sql, all.bindings)
      : snapshot.ranges('rows', table, statement);
  return { name, columns, expected, chunks };
}

/** Which cards an extraction contains. */
export interface CardSelection {
  types: string[];
  conditions: Condition[];
  /** Only what may have changed, see {@link RowSource}. */
  changed?: Fragment;
}

/** The conditions of a selection, visibility included, over the alias `c`. */
export function selectedCards(ctx: Ctx, selection: CardSelection): Condition {
  const parts = [
    visibleCards(ctx),
    fragment`c.type = any(${selection.types}::text[])`,
    ...selection.conditions,
  ];
  const conditions = parts.map((part) => fragment`(${embed(part)})`);
  return joinFragments(conditions, ' and ');
}

const own = [
  'id',
  'number',
  'type',
  'subtype',
  'external_id',
  'name',
  'alias',
  'description',
  'parent_id',
  'status',
  'approval_status',
  'data_quality',
  'created_at',
  'updated_at',
];

const cardValues: Record<string, string> = {
  ...Object.fromEntries(own.map((column) => [column, `c.${column}`])),
  ...Object.fromEntries(lifecyclePhases.map((phase) => [`lifecycle.${phase}`, `c.lifecycle ->> '${phase}'`])),
  parent_number: 'p.number',
  parent_external_id: 'p.external_id',
  parent_name: 'p.name',
  parent_path: 'pp.path',
  tags: 't.list',
  stakeholders: 's.list',
};

/** SQL that puts a backslash before each of the characters, which are written as in a regex bracket expression. */
const escaped = (value: string, characters: string): string =>
  `regexp_replace(${value}, '[${characters}]', '\\\\\\&', 'g')`;

/** The cards that the caller may see, in place of `cards`. */
export const visible = (ctx: Ctx) =>
  embed(fragment`(select c.* from cards c where ${embed(visibleCards(ctx))})`);

/** The names of the ancestors up to one that the caller may not see, root first, as `joinPath` writes them. */
const pathJoin = (ctx: Ctx): Fragment => fragment`left join lateral (
    with recursive up as (
      select a.id, a.parent_id, a.name, 1 as depth from ${visible(ctx)} a where a.id = c.parent_id
      union all
      select a.id, a.parent_id, a.name, up.depth + 1 from ${visible(ctx)} a join up on a.id = up.parent_id where up.depth < ${embed(MAX_DEPTH)}
    ) select string_agg(${embed(escaped('up.name', '\\\\/'))}, ' / ' order by up.depth desc) as path from up) pp
  on c.parent_id is not null`;

/** The rows of a table that belong to the selected cards. */
function linkTable(table: string, alias: string, isChanged: boolean, types?: string[]) {
  const rows = embed(`${table} ${alias}`);
  const card = embed(`${alias}.card_id`);
  if (isChanged) return embed(fragment`changed x join ${rows} on ${card} = x.id`);
  if (!types) return rows;
  return embed(
    fragment`(select id from cards where type = any(${types}::text[])) x join ${rows} on ${card} = x.id`,
  );
}

/** @param types of the selected cards, unless these can be of all types. */
const columnJoins = (ctx: Ctx, types?: string[]): ColumnJoin[] => [
  {
    columns: ['parent_number', 'parent_external_id', 'parent_name'],
    join: () => fragment`left join ${visible(ctx)} p on p.id = c.parent_id`,
  },
  { columns: ['parent_path'], join: () => pathJoin(ctx) },
  {
    // each tag's text and place are computed once
    columns: ['tags'],
    join: (
      range,
      isChanged,
    ) => fragment`left join (select ct.card_id, json_agg(k.text order by k.place) as list
      from ${linkTable('card_tags', 'ct', isChanged, types)}
      join (select t.id, ${embed(escaped('g.name', '\\\\/'))} || '/' || ${embed(escaped('t.name', '\\\\\\\\'))} as text,
              row_number() over (order by lower(g.name), lower(t.name)) as place
            from tags t join tag_groups g on g.id = t.tag_group_id) k on k.id = ct.tag_id
      where ${embed(range('ct.card_id'))} group by ct.card_id) t on t.card_id = c.id`,
  },
  {
    columns: ['stakeholders'],
    join: (
      range,
      isChanged,
    ) => fragment`left join (select s.card_id, json_agg(s.role || ':' || u.email order by s.role, lower(u.email)) as list
      from ${linkTable('stakeholders', 's', isChanged, types)} join users u on u.id = s.user_id
      where ${embed(range('s.card_id'))} group by s.card_id) s on s.card_id = c.id`,
  },
];

/** The cards of a selection. */
export function cardSource(ctx: Ctx, selection: CardSelection): RowSource {
  const areSome = selection.types.length < ctx.metamodel.visibleTypes.length;
  return {
    name: 'Cards',
    table: 'cards',
    row: 'c',
    joins: '',
    columnJoins: columnJoins(ctx, areSome ? selection.types : undefined),
    values: cardValues,
    attributes: visibleAttributes(ctx),
    where: selectedCards(ctx, selection),
    changed: selection.changed,
  };
}

/** Which relations an extraction contains: those with both ends among the cards. */
export interface RelationSelection {
  types: string[];
  cards: CardSelection;
  /** Only what may have changed, see {@link RowSource}. */
  changed?: Fragment;
}

const relationValues: Record<string, string> = {
  id: 'r.id',
  type: 'r.type',
  source_id: 'r.source_id',
  source_number: 's.number',
  source_external_id: 's.external_id',
  source_name: 's.name',
  source_type: 's.type',
  target_id: 'r.target_id',
  target_number: 't.number',
  target_external_id: 't.external_id',
  target_name: 't.name',
  target_type: 't.type',
  description: 'r.description',
};

const costValues: Record<string, string> = {
  ...Object.fromEntries(
    [
      'id',
      'external_id',
      'card_id',
      'relation_id',
      'kind',
      'period_start',
      'period_end',
      'amount',
      'currency',
      'description',
      'created_at',
    ].map((column) => [column, `k.${column}`]),
  ),
  card_number: 'c.number',
  card_type: 'c.type',
  card_external_id: 'c.external_id',
  card_name: 'c.name',
  relation_type: 'r.type',
  source_id: 'r.source_id',
  target_id: 'r.target_id',
};

/** The costs of the cards of a selection, and with `relations.view` those of the relations between them. */
export function costSource(
  ctx: Ctx,
  cards: CardSelection,
  relations: RelationSelection,
  changed?: Fragment,
): RowSource {
  const ofRelations = may(ctx.caller, 'relations.view')
    ? fragment`exists (select from relations r where r.id = k.relation_id
        and ${embed(relationSource(ctx, relations).where)})`
    : fragment`false`;
  return {
    name: 'Costs',
    table: 'costs',
    row: 'k',
    joins: 'left join cards c on c.id = k.card_id left join relations r on r.id = k.relation_id',
    columnJoins: [],
    values: costValues,
    attributes: fragment`null::jsonb`,
    where: fragment`(exists (select from cards c where c.id = k.card_id and ${embed(selectedCards(ctx, cards))})
        or ${embed(ofRelations)})`,
    changed,
  };
}

const flowValues: Record<string, string> = {
  ...Object.fromEntries(
    [
      'id',
      'external_id',
      'source_id',
      'target_id',
      'direction',
      'frequency',
      'description',
      'created_at',
    ].map((column) => [column, `f.${column}`]),
  ),
  ...Object.fromEntries(
    ['number', 'type', 'external_id', 'name'].flatMap((column) => [
      [`source_${column}`, `s.${column}`],
      [`target_${column}`, `t.${column}`],
    ]),
  ),
  interface_id: 'i.id',
  interface_number: 'i.number',
  interface_external_id: 'i.external_id',
  interface_name: 'i.name',
  data_object_ids: 'd.ids',
  data_object_names: 'd.names',
};

/** The data flows between the cards of a selection. */
export function flowSource(ctx: Ctx, cards: CardSelection, changed?: Fragment): RowSource {
  const selected = embed(selectedCards(ctx, cards));
  return {
    name: 'Data flows',
    table: 'data_flows',
    row: 'f',
    joins: 'join cards s on s.id = f.source_id join cards t on t.id = f.target_id',
    columnJoins: [
      {
        columns: ['interface_id', 'interface_number', 'interface_external_id', 'interface_name'],
        join: () => fragment`left join ${visible(ctx)} i on i.id = f.interface_id and i.status = 'ACTIVE'`,
      },
      {
        columns: ['data_object_ids', 'data_object_names'],
        join: () => fragment`left join lateral (
          select json_agg(o.id order by o.name_key, o.id) as ids, json_agg(o.name order by o.name_key, o.id) as names
          from ${visible(ctx)} o where o.id = any(f.data_object_ids) and o.status = 'ACTIVE') d on true`,
      },
    ],
    values: flowValues,
    attributes: fragment`null::jsonb`,
    where: fragment`exists (select from cards c where c.id = f.source_id and ${selected})
      and exists (select from cards c where c.id = f.target_id and ${selected})`,
    changed,
  };
}

/** The relations of a selection, with their ends `s` and `t`. */
export function relationSource(ctx: Ctx, { types, cards, changed }: RelationSelection): RowSource {
  const selected = embed(selectedCards(ctx, cards));
  const visible = types.filter((type) => ctx.metamodel.visibleRelationTypes.includes(type));
  return {
    name: 'Relations',
    table: 'relations',
    row: 'r',
    joins: 'join cards s on s.id = r.source_id join cards t on t.id = r.target_id',
    columnJoins: [],
    values: relationValues,
    attributes: visibleRelationAttributes(ctx),
    where: fragment`r.type = any(${visible}::text[])
        and exists (select from cards c where c.id = r.source_id and ${selected})
        and exists (select from cards c where c.id = r.target_id and ${selected})`,
    changed,
  };
}
