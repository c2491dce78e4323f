import type { TProperties, TSchema } from 'typebox';
import { embed, fragment, query, type Sql, sqlState } from '../../../platform/database.ts';
import { invalidField, notFound } from '../../../platform/errors.ts';
import { behind, startOfPage } from './lists.anchors.ts';
import {
  boundOf,
  decodeCursor,
  encodeCursor,
  malformedCursor,
  readFrozen,
  storeOrder,
} from './lists.cursor.ts';
import { withTimeLimit } from './lists.limit.ts';
import { idType, likeText, orderBy, orderOf, projection, rankSql, whereClause } from './lists.sql.ts';
import type {
  Condition,
  Fragment,
  ItemSpec,
  JsonText,
  ListOptions,
  ListParams,
  ListSpec,
  Order,
  SortField,
} from './lists.types.ts';

/** The alternatives of a column's schema, among them `null` where it may be empty. */
const alternatives = (schema: TSchema): { type?: string; format?: string; const?: string }[] =>
  'anyOf' in schema ? (schema.anyOf as object[]) : [schema];

/** Whether a column is a timestamp, which answers show in UTC with milliseconds. */
const isTimestamp = (schema: TSchema): boolean =>
  alternatives(schema).some(({ format }) => format === 'date-time');

/** The members of a list that are columns of a model, over the alias of its table. */
export function columnMembers<C extends TProperties>(
  alias: string,
  model: { columns: C },
): Record<keyof C & string, string> {
  return Object.fromEntries(
    Object.entries(model.columns).map(([column, schema]) => [
      column,
      isTimestamp(schema) ? `utc(${alias}.${column})` : `${alias}.${column}`,
    ]),
  ) as Record<keyof C & string, string>;
}

const sortTypes: Record<string, SortField['type']> = {
  integer: 'numeric',
  number: 'numeric',
  boolean: 'boolean',
};

/**
 * Sort fields that are columns of a model, over the alias of its table; only `created_at` counts as immutable. Choices are in
 * their order.
 */
export function columnSorts<C extends TProperties>(
  alias: string,
  model: { columns: C },
  ...columns: (keyof C & string)[]
): Record<string, SortField> {
  return Object.fromEntries(
    columns.map((column): [string, SortField] => {
      const parts = alternatives(model.columns[column]!);
      const filled = parts.every((part) => part.type !== 'null');
      const sql = `${alias}.${column}`;
      const choices = parts.flatMap((part) => part.const ?? []);
      if (choices.length > 0) return [column, { sql: rankSql(choices, sql), type: 'bigint', filled }];
      const type = isTimestamp(model.columns[column]!) ? 'timestamptz' : sortTypes[parts[0]?.type ?? ''];
      return [column, { sql, type: type ?? 'text', filled, immutable: column === 'created_at' }];
    }),
  );
}

/** A list with the parameters of its request applied. */
interface List {
  sql: Sql;
  owner: string | null;
  spec: ListSpec;
  where: Condition[];
  order: Order;
  item: Fragment;
  params: ListParams;
  options: ListOptions;
}

/**
 * Runs a list: by page with `total`, or by cursor. Ties are broken by id. With a cursor, a row that exists during the
 * whole traversal is returned exactly once whatever is written meanwhile: the traversal uses an immutable sort field,
 * or an order that is frozen by the first page. Cursors belong to the caller: other users cannot use them, and each has
 * a limited number.
 */
export async function runList(
  { db: sql, caller }: { db: Sql; caller: { userId: string | null } },
  spec: ListSpec,
  conditions: Condition[],
  params: ListParams,
  options: ListOptions = {},
): Promise<JsonText> {
  const where = [...conditions, ...filterConditions(spec, params)];
  if (params.search) {
    if (!spec.search) throw invalidField('search', 'not_offered', 'is not offered by this list');
    where.push(fragment`${embed(spec.search)} like ${`%${likeText(params.search)}%`}`);
  }
  checkOffset(params);
  const order = orderOf(spec, params);
  const item = projection(spec.members, params.fields);
  const list = { owner: caller.userId, spec, where, order, item, params, options };
  const read = params.cursor === undefined ? byPage : listByCursor;
  return await withTimeLimit(sql, (sql) => read({ ...list, sql }));
}

/** @throws EstateError `validation_failed` for an offset elsewhere than at the beginning of a cursor. */
export function checkOffset({ offset, cursor }: ListParams): void {
  if (offset !== undefined && cursor !== '')
    throw invalidField('offset', 'not_offered', 'is only offered with an empty `cursor`');
}

/** The conditions of the filters in the request. */
export function filterConditions({ filters = {} }: Pick<ListSpec, 'filters'>, params: object): Condition[] {
  const given = new Map<string, unknown>(Object.entries(params));
  return Object.entries(filters).flatMap(([name, filter]) => {
    const value = given.get(name);
    if (!Array.isArray(filter) || value === undefined || (Array.isArray(value) && value.length === 0))
      return [];
    const sql = filter[1] as string;
    const places = (sql.match(/(?<!\\)\?/g) ?? []).length;
    return value === false && places === 0 ? [] : { sql, bindings: Array(places).fill(value) };
  });
}

/** One item of a list as its JSON text, from which its ETag is computed; undefined if there is none. */
export async function findItem(
  sql: Sql,
  spec: ItemSpec,
  id: string,
  conditions: Condition[] = [],
): Promise<JsonText | undefined> {
  const item = projection(spec.members);
  const where = whereClause([fragment`${embed(spec.id)} = ${id}::${embed(idType(spec))}`, ...conditions]);
  return (
    await query(sql).column<JsonText>`select ${embed(item)}::text from ${embed(spec.from)}${embed(where)}`
  )[0];
}

/** {@link findItem} for an item that must exist. @throws EstateError `not_found` naming it as `what`. */
export async function readItem(
  sql: Sql,
  spec: ItemSpec,
  what: string,
  id: string,
  conditions: Condition[] = [],
): Promise<JsonText> {
  const text = await findItem(sql, spec, id, conditions);
  if (text === undefined) throw notFound(what, id);
  return text;
}

/**
 * One page. The ids of the page are queried first, from an index if there is one; only their rows are projected. Pages
 * in the second half are read from the end, or from an anchor if the caller caches anchors.
 */
async function byPage(list: List): Promise<JsonText> {
  const { page, page_size: size } = list.params;
  const total = await (list.options.total?.(list.sql) ?? count(list));
  const offset = (page - 1) * size;
  const items = offset >= total ? '[]' : await readPage(list, offset, Math.min(size, total - offset), total);
  return `{"items":${items},"total":${total},"page":${page},"page_size":${size}}`;
}

/** The number of rows that match the conditions. */
export async function count(list: { sql: Sql; spec: { from: string }; where: Condition[] }): Promise<number> {
  const w = whereClause(list.where);
  return await query(list.sql).value<number>`select count(*) from ${embed(list.spec.from)}${embed(w)}`;
}

async function readPage(list: List, offset: number, size: number, total: number): Promise<string> {
  const { spec, order, item } = list;
  const start = await startOfPage(list, { offset, size, total }, list.options.anchors);
  return await query(list.sql).value<string>`select coalesce(json_agg(item), '[]')::text as items from (
       select ${embed(item)} as item
       from (select ${embed(spec.id)} as page_id, ${embed(order.field.sql)} as page_sort
       from ${embed(spec.from)}${embed(whereClause(start.where))}
             order by ${embed(orderBy(order, order.field.sql, spec.id, start.fromEnd))}
             limit ${size} offset ${start.offset}) page, ${embed(spec.from)}
       where ${embed(spec.id)} = page_id
       order by ${embed(orderBy(order, 'page_sort', 'page_id'))}) as rows`;
}

/** One page of a traversal; see {@link runList}. */
export async function listByCursor(list: List): Promise<JsonText> {
  const { spec, order, params } = list;
  const skipped = params.offset ?? 0;
  const bound = boundOf(spec, order, list.options.asked ?? list.where);
  const place = params.cursor ? decodeCursor(params.cursor, bound, spec, order) : undefined;
  if (place?.kind === 'frozen') return await frozenPage(list, bound, place.snapshot, place.offset);
  if (list.options.ids || !order.field.immutable) return await firstFrozenPage(list, bound);

  const where = [...list.where];
  if (place) where.push(behind(list, place));
  const w = whereClause(where);
  const read = list.sql.raw(
    `select ${list.item.sql}::text as item, (${order.field.sql})::text as value, ${spec.id}::text as id
     from ${spec.from}${w.sql}
     order by ${orderBy(order, order.field.sql, spec.id)} limit ? offset ?`,
    [...list.item.bindings, ...w.bindings, params.page_size + 1, skipped],
  );
  const { rows } = await read.catch((error: unknown) => {
    // Only a modified cursor has a value that is not valid for its type.
    throw place && sqlState(error)?.startsWith('22') ? malformedCursor() : error;
  });
  const page = rows.slice(0, params.page_size) as { item: string; value: string; id: string }[];
  const last = page.at(-1);
  const next =
    rows.length > params.page_size && last
      ? encodeCursor(bound, { kind: 'row', value: last.value, id: last.id })
      : null;
  return cursorPage(
    page.map((row) => row.item),
    params.page_size,
    next,
  );
}

function cursorPage(items: string[], pageSize: number, next: string | null): JsonText {
  return `{"items":[${items.join(',')}],"page_size":${pageSize},"next_cursor":${JSON.stringify(next)}}`;
}

async function firstFrozenPage(list: List, bound: string): Promise<JsonText> {
  const { spec, order, params } = list;
  const offset = params.offset ?? 0;
  const w = whereClause(list.where);
  const by = orderBy(order, order.field.sql, spec.id);
  const frozen = await storeOrder(
    list.sql,
    list.options.ids ??
      fragment`select ${embed(spec.id)}::text as id,
      row_number() over (order by ${embed(by)}) as n from ${embed(spec.from)}${embed(w)}`,
    { owner: list.owner, pageSize: params.page_size, offset },
  );
  const place = { offset: offset + params.page_size };
  const next = frozen.snapshot
    ? encodeCursor(bound, { kind: 'frozen', snapshot: frozen.snapshot, ...place })
    : null;
  return cursorPage(await itemsOf(list, frozen.first), params.page_size, next);
}

/** A later page of a frozen order; rows that no longer belong to the list are skipped. */
async function frozenPage(list: List, bound: string, snapshot: string, from: number): Promise<JsonText> {
  const pageSize = list.params.page_size;
  for (let offset = from; ; offset += pageSize) {
    const slice = await readFrozen(list.sql, { snapshot, offset }, { owner: list.owner, pageSize });
    const items = await itemsOf(list, slice.ids);
    if (items.length === 0 && slice.more) continue;
    const next = slice.more
      ? encodeCursor(bound, { kind: 'frozen', snapshot, offset: offset + pageSize })
      : null;
    return cursorPage(items, pageSize, next);
  }
}

/** The items of the ids that are still in the list, in the order of the ids. */
async function itemsOf(
  list: Pick<List, 'sql' | 'spec' | 'where' | 'item'>,
  ids: string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const { spec } = list;
  const w = whereClause([...list.where, fragment`${embed(spec.id)} = any(${ids}::${embed(idType(spec))}[])`]);
  const rows = await query(list.sql).rows`select ${embed(spec.id)}::text as id,
    ${embed(list.item)}::text as item from ${embed(spec.from)}${embed(w)}`;
  const items = new Map<string, string>(rows.map((row: { id: string; item: string }) => [row.id, row.item]));
  return ids.flatMap((id) => items.get(id) ?? []);
}
