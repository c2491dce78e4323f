import { combine, type Fragment, raw, sql } from '../../../../domain/inventory/filters/filters.sql.ts';
import { forbidden } from '../../../../domain/kernel/permissions/policy.ts';
import type { EntityShape, MemberSource } from '../../../kernel/formats/odata.entities.ts';
import type { EntitySet, Navigation, ODataProperty } from '../model/model.types.ts';
import { invalidQuery, notSupported } from '../odata.errors.ts';
import type { Wire } from '../odata.wire.ts';
import type { ExpandItem, NestedOptions, OrderItem } from '../query/query.types.ts';
import { conditionOf, evaluate, type Scope } from './sql.expressions.ts';
import { navigationSource, type StatementContext } from './sql.navigation.ts';
import { type Kind, kindName, ordered, sqlTypes } from './sql.values.ts';

/** One key of the order; the id is the last key. */
interface OrderKey {
  kind: Kind;
  sql: Fragment;
  descending: boolean;
}

export function orderKeys(items: OrderItem[], scope: Scope): OrderKey[] {
  return items.map(({ expr, descending }) => {
    const value = evaluate(expr, { ...scope, option: '$orderby' }, true);
    if (value.kind === 'entity' || value.kind === 'null') {
      throw invalidQuery('$orderby', `${kindName(value.kind)} has no order`, expr.at);
    }
    return { kind: value.kind, sql: sql`(${ordered(value)})`, descending };
  });
}

/** The ORDER BY list: null comes first, or last in descending order (OData protocol, 11.2.6.2). */
export function orderList(keys: OrderKey[], alias: string): Fragment {
  const items = keys.map(
    (key) => sql`${key.sql} ${raw(key.descending ? 'desc nulls last' : 'asc nulls first')}`,
  );
  return [...items, raw(`${alias}.id`)].reduce((all, one) => sql`${all}, ${one}`);
}

/** The condition of the rows after the one with these key values and id. */
export function afterRow(keys: OrderKey[], values: (string | null)[], id: string, alias: string): Fragment {
  const [key, ...others] = keys;
  const [value, ...more] = values;
  if (!key) return sql`${raw(alias)}.id > ${id}::uuid`;
  const rest = afterRow(others, more, id, alias);
  const type = raw(key.kind === 'string' || key.kind === 'date' ? 'text collate "C"' : sqlTypes[key.kind]);
  if (value === null || value === undefined) {
    const tied = sql`(${key.sql} is null and ${rest})`;
    return key.descending ? tied : combine('or', [tied, sql`${key.sql} is not null`]);
  }
  const tied = sql`(${key.sql} = ${value}::${type} and ${rest})`;
  return key.descending
    ? combine('or', [sql`${key.sql} < ${value}::${type}`, sql`${key.sql} is null`, tied])
    : combine('or', [sql`${key.sql} > ${value}::${type}`, tied]);
}

/** The values of an entity as SQL over its alias and those of the joins. */
interface EntityRow {
  shape: EntityShape;
  columns: Fragment[];
  joins: Fragment[];
}

/** Maximum number of entities per expanded collection; the rest is available by a next link. */
const MAX_RELATED = 1_000;
/** Maximum number of expanded entities per entity if collections are nested. */
const MAX_NESTED = 10_000;

/** Depth and number of the expanded collections of a query. */
interface Nesting {
  depth: number;
  collections: number;
}

/** Counts the collections that a query expands, also below single entities. */
export function nestingOf(
  statement: StatementContext,
  set: EntitySet,
  expand: readonly ExpandItem[],
): Nesting {
  const nesting: Nesting = { depth: 0, collections: 0 };
  for (const { name, options } of expand) {
    const navigation = set.navigations.get(name);
    if (!navigation) continue;
    const inner = nestingOf(statement, statement.model.sets.get(navigation.target)!, options.expand);
    const own = navigation.collection ? 1 : 0;
    nesting.depth = Math.max(nesting.depth, inner.depth + own);
    nesting.collections += inner.collections + own;
  }
  return nesting;
}

/**
 * Maximum number of entities per expanded collection, so that one entity never has more than {@link MAX_NESTED} in nested
 * collections.
 */
function maxRelated({ depth, collections }: Nesting): number {
  if (depth < 2) return MAX_RELATED;
  return Math.floor((MAX_NESTED / collections) ** (1 / depth));
}

/** A text that changes with every change of an entity. */
function versionOf(set: EntitySet, alias: string): string {
  const row = `${alias}.xmin::text || ' ' || date_part('epoch', ${alias}.updated_at)::text`;
  // tags are not stored in the card's row
  return set.kind === 'card' ? `md5(${row} || ${tagsOf(alias)}::text)` : `md5(${row})`;
}

/** An entity's ETag, over the joins of {@link entityRow}. */
export const etagOfEntity = (set: EntitySet, alias: string): Fragment =>
  raw(`('W/"' || ${versionOf(set, alias)} || '"')`);

/** A card's tags as collected by {@link tagsJoin}. */
const tagsOf = (alias: string): string => `tags_${alias}.names`;

/** The names of all tags by id, which a statement computes once: a join for each card takes several times as long. */
const TAG_NAMES = `(select jsonb_object_agg(t.id, g.name || '/' || t.name)
  from tags t join tag_groups g on g.id = t.tag_group_id)`;

/** Joins the names of a card's tags by their ids, which several expressions read, in any order. */
export function tagsJoin(set: EntitySet, alias: string): Fragment[] {
  if (set.kind !== 'card') return [];
  const names = `array(select ${TAG_NAMES} ->> ct.tag_id::text
    from card_tags ct where ct.card_id = ${alias}.id order by ct.tag_id)`;
  return [raw(`left join lateral (select ${names} as names offset 0) tags_${alias} on true`)];
}

/** The selected properties. @throws EstateError naming an unknown one. */
function selectedProperties(set: EntitySet, select: string[] | undefined): ODataProperty[] {
  if (select === undefined) return [...set.properties.values()];
  return select.flatMap((name) => {
    const property = set.properties.get(name);
    if (property) return [property];
    // a selected navigation property requests its link, which clients compute themselves
    if (set.navigations.has(name)) return [];
    if (set.hiddenCosts.has(name)) throw forbidden('costs.view');
    throw invalidQuery('$select', `"${name}" is not a property of ${set.name}`);
  });
}

const shownTypes = new Set(['Edm.Guid', 'Edm.Date', 'Edm.DateTimeOffset', 'Edm.Decimal']);

/** Collects the columns and JSON members of an entity under an alias, in order. */
class RowBuilder {
  readonly alias: string;
  readonly joins: Fragment[] = [];
  readonly columns: Fragment[] = [];
  readonly #places = new Map<string, number>();
  readonly #members: EntityShape['members'] = [];

  constructor(alias: string) {
    this.alias = alias;
  }

  /** Adds a column and returns its index; columns with the same key are added once. */
  column(value: Fragment, key?: string): number {
    const known = key === undefined ? undefined : this.#places.get(key);
    if (known !== undefined) return known;
    const index = this.columns.length;
    this.columns.push(value);
    if (key !== undefined) this.#places.set(key, index);
    return index;
  }

  /** Adds a column of the entity's table and returns its index. */
  own(name: string): number {
    return this.column(raw(`${this.alias}.${name}`), name);
  }

  /** Adds a constant member. */
  constant(name: string, value: string): void {
    this.member(name, { kind: 'constant', value });
  }

  member(name: string, source: MemberSource): void {
    this.#members.push({ name, source });
  }

  /** Adds the URL of the entity, or of a path below it. */
  address(name: string, set: EntitySet, wire: Wire, path = ''): void {
    this.member(name, { kind: 'address', column: this.own('id'), ...addressParts(set, wire, path) });
  }

  row(): EntityRow {
    // an empty row cannot be distinguished from the end of the rows
    if (this.columns.length === 0) this.own('id');
    const { columns, joins } = this;
    return { shape: { columns: columns.length, members: this.#members }, columns, joins };
  }
}

/** The text before and after the id in the URL of an entity, or of a path below it. */
const addressParts = (set: EntitySet, wire: Wire, path = ''): { start: string; end: string } => ({
  start: `${wire.root}/${set.name}(`,
  end: `)${path}`,
});

/** Adds the control members of the metadata level. */
function addControls(row: RowBuilder, set: EntitySet, names: Set<string>, wire: Wire): void {
  if (wire.metadata === 'none') return;
  const full = wire.metadata === 'full';
  if (full) row.constant('@odata.type', `#Estate.${set.name}`);
  if (full || !names.has('id')) row.address('@odata.id', set, wire);
  row.member('@odata.etag', { kind: 'text', column: row.column(etagOfEntity(set, row.alias)) });
  if (!full) return;
  for (const { name } of set.navigations.values()) {
    row.address(`${name}@odata.navigationLink`, set, wire, `/${name}`);
  }
}

function addProperty(row: RowBuilder, property: ODataProperty, wire: Wire): void {
  const { name, type, shown } = property;
  if (wire.metadata === 'full' && shownTypes.has(type))
    row.constant(`${name}@odata.type`, `#${type.slice(4)}`);
  if (shown.as === 'tags') row.member(name, { kind: 'tags', column: row.column(raw(tagsOf(row.alias))) });
  else if (shown.as === 'inside') {
    const form = wire.exactNumbers && type === 'Edm.Decimal' ? 'exact' : shown.form;
    row.member(name, { kind: 'inside', column: row.own(shown.column), key: shown.key, form });
  } else if (shown.as === 'value' || (wire.exactNumbers && type === 'Edm.Decimal')) {
    const text = shown.as === 'value' ? property.value(row.alias) : raw(`${row.alias}.${name}::text`);
    row.member(name, { kind: 'text', column: row.column(text) });
  } else {
    const column = shown.as === 'number' ? row.column(raw(`${row.alias}.${name}::float8`)) : row.own(name);
    row.member(name, { kind: shown.as, column });
  }
}

/** The columns, joins and JSON shape of an entity under an alias for the query options. */
export function entityRow(
  statement: StatementContext,
  set: EntitySet,
  alias: string,
  options: NestedOptions,
  wire: Wire,
  most = maxRelated(nestingOf(statement, set, options.expand)),
): EntityRow {
  const properties = selectedProperties(set, options.select);
  const row = new RowBuilder(alias);
  row.joins.push(...tagsJoin(set, alias));
  addControls(row, set, new Set(properties.map(({ name }) => name)), wire);
  for (const property of properties) addProperty(row, property, wire);
  const expanded = options.expand.map((item) => {
    const navigation = set.navigations.get(item.name);
    if (!navigation) throw unknownNavigation(statement, set, item.name);
    const related = relatedRow(statement, navigation, alias, item, { wire, most });
    row.joins.push(related.join);
    return { item, related };
  });
  for (const { item, related } of expanded) {
    if (related.total)
      row.member(`${item.name}@odata.count`, { kind: 'json', column: row.column(related.total) });
  }
  for (const { item, related } of expanded) {
    const { name, options: inner } = item;
    const { shape, entities, more } = related;
    row.member(name, { kind: related.kind, column: row.column(entities), shape });
    if (!more) continue;
    const rest = new URLSearchParams({ ...inner.sent, $skip: String(inner.skip + most) });
    const source = { kind: 'more', column: row.column(more), id: row.own('id') } as const;
    row.member(`${name}@odata.nextLink`, { ...source, ...addressParts(set, wire, `/${name}?${rest}`) });
  }
  return row.row();
}

/** A reference to an entity under an alias. */
export function referenceRow(set: EntitySet, alias: string, wire: Wire): EntityRow {
  const row = new RowBuilder(alias);
  row.address('@odata.id', set, wire);
  return row.row();
}

function unknownNavigation(statement: StatementContext, set: EntitySet, name: string): Error {
  if (set.properties.has(name)) return notSupported('$expand', `"${name}" is not a navigation property`);
  if (set.hiddenCosts.has(name)) return forbidden('costs.view');
  if ([...statement.model.forbidden.values()].includes('relations.view')) return forbidden('relations.view');
  return invalidQuery('$expand', `"${name}" is not a navigation property of ${set.name}`);
}

export const listOf = (fragments: Fragment[]): Fragment => ({
  sql: fragments.map((fragment) => fragment.sql).join(', '),
  bindings: fragments.flatMap((fragment) => fragment.bindings),
  total: false,
});

/** Related entities as one value of their source entity. */
interface Related {
  join: Fragment;
  kind: 'entity' | 'entities';
  shape: EntityShape;
  entities: Fragment;
  /** The total as text, if requested. */
  total?: Fragment;
  /** Whether there are more than the response contains. */
  more?: Fragment;
}

function relatedRow(
  statement: StatementContext,
  navigation: Navigation,
  from: string,
  { name, references, options }: ExpandItem,
  { wire, most }: { wire: Wire; most: number },
): Related {
  if (options.search) throw notSupported('$expand', `${name}: $search is not supported within $expand`);
  const set = statement.model.sets.get(navigation.target)!;
  const to = statement.alias();
  const result = statement.alias();
  const source = navigationSource(statement, navigation.path, from, to);
  const scope = { statement, option: '$expand', set, alias: to };
  const parts = [source.where];
  if (options.filter) parts.push(conditionOf(options.filter, scope));
  const where = combine('and', parts);
  const { shape, columns, joins } = references
    ? referenceRow(set, to, wire)
    : entityRow(statement, set, to, options, wire, most);
  const item = sql`row(${listOf(columns)})`;
  const tables = [source.from, ...joins].reduce((all, one) => sql`${all} ${one}`);
  const column = (key: string) => raw(`${result}.${key}`);
  if (!navigation.collection) {
    return {
      join: sql`left join lateral (select ${item} as item from ${tables} where ${where} limit 1) ${raw(result)} on true`,
      kind: 'entity',
      shape,
      entities: column('item'),
    };
  }
  const order = orderList(orderKeys(options.orderby, scope), to);
  const bounded = options.top !== undefined && options.top <= most;
  const limit = bounded ? options.top! : most;
  const one = raw(statement.alias());
  const total = options.count
    ? sql`, (select count(*) from ${source.from} where ${where})::text as total`
    : raw('');
  return {
    join: sql`left join lateral (select array_agg(${one}.item order by ${one}.n) filter (where ${one}.n <= ${limit + options.skip}) as items,
        count(*) > ${limit} as more${total}
      from (select ${item} as item, row_number() over (order by ${order}) as n
        from ${tables} where ${where} order by ${order} limit ${bounded ? limit : limit + 1} offset ${options.skip}) ${one}) ${raw(result)} on true`,
    kind: 'entities',
    shape,
    entities: column('items'),
    ...(options.count ? { total: column('total') } : {}),
    ...(bounded ? {} : { more: column('more') }),
  };
}
