import { combine, type Fragment, raw, sql } from '../../../../domain/inventory/filters/filters.sql.ts';
import { forbidden } from '../../../../domain/kernel/permissions/policy.ts';
import type { EntityShape, MemberSource } from '../../../kernel/formats/odata.entities.ts';
import { tagsText } from '../model/model.properties.ts';
import type { EntitySet, Navigation, ODataProperty } from '../model/model.types.ts';
import { invalidQuery, notOffered } from '../odata.errors.ts';
import type { Wire } from '../odata.wire.ts';
import type { ExpandItem, NestedOptions } from '../query/query.types.ts';
import { conditionOf } from './sql.expressions.ts';
import { orderKeys, orderList } from './sql.order.ts';
import { along, type Writing } from './sql.ways.ts';

/** The values of which an entity is made, as SQL over its alias and those of the joins. */
interface EntityRow {
  shape: EntityShape;
  columns: Fragment[];
  joins: Fragment[];
}

/** Related entities per collection of an entity; a link leads to the others. */
const MOST_RELATED = 1_000;
/** Related entities per entity where collections are nested, over all collections of the query. */
const MOST_NESTED = 10_000;

/** The collections that a query expands: how deep they are nested, and how many they are. */
interface Nesting {
  depth: number;
  collections: number;
}

function nestingOf(writing: Writing, set: EntitySet, expand: readonly ExpandItem[]): Nesting {
  const nesting: Nesting = { depth: 0, collections: 0 };
  for (const { name, options } of expand) {
    const navigation = set.navigations.get(name);
    if (!navigation) continue;
    const inner = nestingOf(writing, writing.model.sets.get(navigation.target)!, options.expand);
    const own = navigation.collection ? 1 : 0;
    nesting.depth = Math.max(nesting.depth, inner.depth + own);
    nesting.collections += inner.collections + own;
  }
  return nesting;
}

/**
 * How many related entities each collection of a query contains, so that one entity never has more than {@link MOST_NESTED}
 * of them in nested collections.
 */
function mostRelated({ depth, collections }: Nesting): number {
  if (depth < 2) return MOST_RELATED;
  return Math.floor((MOST_NESTED / collections) ** (1 / depth));
}

/** Changes with every change of an entity. */
function versionOf(set: EntitySet, alias: string): string {
  const row = `${alias}.xmin::text || ' ' || date_part('epoch', ${alias}.updated_at)::text`;
  // tags are no part of the card's row
  return set.kind === 'card' ? `md5(${row} || ${tagsOf(alias)})` : `md5(${row})`;
}

/** An entity's ETag, over the joins of {@link entityRow}. */
export const etagOfEntity = (set: EntitySet, alias: string): Fragment =>
  raw(`('W/"' || ${versionOf(set, alias)} || '"')`);

/** A card's tags as {@link tagsJoin} has gathered them. */
const tagsOf = (alias: string): string => `tags_${alias}.list`;

/** Gathers the tags of a card once for all that needs them. */
export function tagsJoin(set: EntitySet, alias: string): Fragment[] {
  if (set.kind !== 'card') return [];
  return [raw(`left join lateral (select ${tagsText(alias)} as list offset 0) tags_${alias} on true`)];
}

/** The properties that are asked for. @throws EstateError naming one that is not there. */
function selected(set: EntitySet, select: string[] | undefined): ODataProperty[] {
  if (select === undefined) return [...set.properties.values()];
  return select.flatMap((name) => {
    const property = set.properties.get(name);
    if (property) return [property];
    // naming a way asks for its link, which clients make for themselves
    if (set.navigations.has(name)) return [];
    if (set.hiddenCosts.has(name)) throw forbidden('costs.view');
    throw invalidQuery('$select', `"${name}" is no property of ${set.name}`);
  });
}

const shownTypes = new Set(['Edm.Guid', 'Edm.Date', 'Edm.DateTimeOffset', 'Edm.Decimal']);

/** Gathers the values and the members of an entity under an alias, in their order. */
class RowBuilder {
  readonly alias: string;
  readonly joins: Fragment[] = [];
  readonly columns: Fragment[] = [];
  readonly #places = new Map<string, number>();
  readonly #members: EntityShape['members'] = [];

  constructor(alias: string) {
    this.alias = alias;
  }

  /** The place of a value; one that others need too has its place once. */
  column(value: Fragment, key?: string): number {
    const known = key === undefined ? undefined : this.#places.get(key);
    if (known !== undefined) return known;
    const place = this.columns.length;
    this.columns.push(value);
    if (key !== undefined) this.#places.set(key, place);
    return place;
  }

  /** The place of a column of the entity's table. */
  own(name: string): number {
    return this.column(raw(`${this.alias}.${name}`), name);
  }

  /** A member that is always the same. */
  constant(name: string, value: string): void {
    this.member(name, { kind: 'constant', value });
  }

  member(name: string, source: MemberSource): void {
    this.#members.push({ name, source });
  }

  /** The address of the entity, or of something behind it. */
  address(name: string, set: EntitySet, wire: Wire, behind = ''): void {
    this.member(name, { kind: 'address', column: this.own('id'), ...around(set, wire, behind) });
  }

  row(): EntityRow {
    // a row without values would look like the end of the rows
    if (this.columns.length === 0) this.own('id');
    const { columns, joins } = this;
    return {
      shape: { columns: columns.length, members: this.#members },
      columns,
      joins,
    };
  }
}

/** The text around the id in the address of an entity, or of something behind it. */
const around = (set: EntitySet, wire: Wire, behind = ''): { start: string; end: string } => ({
  start: `${wire.root}/${set.name}(`,
  end: `)${behind}`,
});

/** What is told of the entity besides its properties, by the metadata level asked for. */
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
  if (shown.as === 'tags') row.member(name, { kind: 'json', column: row.column(raw(tagsOf(row.alias))) });
  else if (shown.as === 'inside') {
    const form = wire.exactNumbers && type === 'Edm.Decimal' ? 'exact' : shown.form;
    row.member(name, { kind: 'inside', column: row.own(shown.column), key: shown.key, form });
  } else {
    const column = shown.as === 'number' ? row.column(raw(`${row.alias}.${name}::float8`)) : row.own(name);
    row.member(name, { kind: shown.as, column });
  }
}

/** Of what the JSON of an entity under an alias is made, with what is asked of it. */
export function entityRow(
  writing: Writing,
  set: EntitySet,
  alias: string,
  options: NestedOptions,
  wire: Wire,
  most = mostRelated(nestingOf(writing, set, options.expand)),
): EntityRow {
  const properties = selected(set, options.select);
  const row = new RowBuilder(alias);
  row.joins.push(...tagsJoin(set, alias));
  addControls(row, set, new Set(properties.map(({ name }) => name)), wire);
  for (const property of properties) addProperty(row, property, wire);
  const expanded = options.expand.map((item) => {
    const navigation = set.navigations.get(item.name);
    if (!navigation) throw unknownWay(writing, set, item.name);
    const related = relatedRow(writing, navigation, alias, item, { wire, most });
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
    row.member(`${name}@odata.nextLink`, { ...source, ...around(set, wire, `/${name}?${rest}`) });
  }
  return row.row();
}

/** A reference to an entity under an alias. */
export function referenceRow(set: EntitySet, alias: string, wire: Wire): EntityRow {
  const row = new RowBuilder(alias);
  row.address('@odata.id', set, wire);
  return row.row();
}

function unknownWay(writing: Writing, set: EntitySet, name: string): Error {
  if (set.properties.has(name)) return notOffered('$expand', `"${name}" is no way to related entities`);
  if (writing.model.forbidden.size > 0) return forbidden('relations.view');
  return invalidQuery('$expand', `"${name}" is no way from ${set.name} to related entities`);
}

export const listOf = (fragments: Fragment[]): Fragment => ({
  sql: fragments.map((fragment) => fragment.sql).join(', '),
  bindings: fragments.flatMap((fragment) => fragment.bindings),
  total: false,
});

/** Related entities as one value of the entity that leads to them. */
interface Related {
  join: Fragment;
  kind: 'entity' | 'entities';
  shape: EntityShape;
  entities: Fragment;
  /** Text of how many there are, where that is wanted. */
  total?: Fragment;
  /** Whether there are more than the answer holds. */
  more?: Fragment;
}

function relatedRow(
  writing: Writing,
  navigation: Navigation,
  from: string,
  { name, references, options }: ExpandItem,
  { wire, most }: { wire: Wire; most: number },
): Related {
  if (options.search) throw notOffered('$expand', `${name}: $search is not offered within $expand`);
  const set = writing.model.sets.get(navigation.target)!;
  const to = writing.alias();
  const result = writing.alias();
  const source = along(writing, navigation.way, from, to);
  const scope = { writing, option: '$expand', set, alias: to };
  const parts = [source.where];
  if (options.filter) parts.push(conditionOf(options.filter, scope));
  const where = combine('and', parts);
  const { shape, columns, joins } = references
    ? referenceRow(set, to, wire)
    : entityRow(writing, set, to, options, wire, most);
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
  const one = raw(writing.alias());
  const total = options.count
    ? sql`, (select count(*) from ${source.from} where ${where})::text as total`
    : raw('');
  return {
    join: sql`left join lateral (select array_agg(${one}.item order by ${one}.n) filter (where ${one}.n <= ${limit}) as items,
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
