import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { today } from '../../kernel/dates.ts';
import { orderBy, rankSql, textLiteral, whereClause } from '../../kernel/lists/lists.sql.ts';
import type { Condition, Fragment, ListSpec, Order, SortField } from '../../kernel/lists/lists.types.ts';
import { createResultCache, type ResultCache } from '../../kernel/lists/result.cache.ts';
import type { CompiledField } from '../../kernel/metamodel/metamodel.compile.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { phaseRank } from './cards.phase.ts';

/** The ids of a complete list in its order, 16 bytes each. */
export interface OrderedIds {
  bytes: Buffer;
  /** Whether a search matched more cards than these. */
  more: boolean;
}

/** Complete orders that no index provides, by a key that changes with every write to the data that they depend on. */
export type IdCache = ResultCache<OrderedIds>;

/** The versions of all topics on which filters, facets and orders of cards depend. */
export const inventoryVersions = (topics: ReadonlyMap<string, number>): [string, number][] =>
  [...topics].filter(([topic]) => /^(cards|relations):|^(metamodel|users|data_flows)$/.test(topic)).sort();

const ID_BYTES = 16;
const CACHE_BYTES = 48 * 1024 * 1024;

export function createIdCache(): IdCache {
  return createResultCache(CACHE_BYTES, ({ bytes }) => bytes.length);
}

export const idCount = ({ bytes }: OrderedIds): number => bytes.length / ID_BYTES;

/** The ids from `offset` on as text, at most `size`. */
export function sliceIds({ bytes }: OrderedIds, offset: number, size: number): string[] {
  const ids: string[] = [];
  const end = Math.min(bytes.length, (offset + size) * ID_BYTES);
  for (let at = offset * ID_BYTES; at < end; at += ID_BYTES) {
    const hex = bytes.toString('hex', at, at + ID_BYTES);
    ids.push(
      `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`,
    );
  }
  return ids;
}

/** Packs ids that are text. */
export function packIds(ids: string[], more: boolean): OrderedIds {
  return { bytes: Buffer.from(ids.join('').replaceAll('-', ''), 'hex'), more };
}

/** The ids of all cards that the conditions match, in the order. */
export async function orderIds(sql: Sql, where: Condition[], order: Order): Promise<OrderedIds> {
  const bytes = await query(sql).value<Buffer>`select coalesce(string_agg(uuid_send(c.id), ''
    order by ${embed(orderBy(order, order.field.sql, 'c.id'))}), '') as ids
     from ${embed(orderedCards(order))}${embed(whereClause(where))}`;
  return { bytes, more: false };
}

const orderedCards = ({ field }: Order): string => `cards c ${field.join ?? ''}`;

/** The ids of all cards that the conditions match as a query from which the order of a cursor can be frozen. */
export const numberedIds = (where: Condition[], order: Order): Fragment =>
  fragment`select c.id::text as id, row_number() over (order by ${embed(orderBy(order, order.field.sql, 'c.id'))}) as n
    from ${embed(orderedCards(order))}${embed(whereClause(where))}`;

/** The ids as a query from which the order of a cursor can be frozen. */
export function idsQuery(ids: OrderedIds): Fragment {
  return fragment`select o.id, o.n
    from unnest(${sliceIds(ids, 0, idCount(ids))}::text[]) with ordinality as o (id, n)`;
}

/** Whether the ids of an order can only be read all at once. */
export const readsAllIds = ({ key, field }: Order): boolean => field.join !== undefined || key.includes(',');

/** The order by several fields, the first one first. @param join what one of them needs. */
export function combinedOrder(orders: readonly Order[], join: string | undefined): Order {
  const last = orders.at(-1)!;
  const before = orders
    .slice(0, -1)
    .map(({ field, dir }) => `${field.sql} ${dir}${field.filled || field.immutable ? '' : ' nulls last'}, `);
  const field = { ...last.field, sql: before.join('') + last.field.sql };
  return {
    key: orders.map(({ key }) => key).join(','),
    dir: last.dir,
    field: join === undefined ? field : { ...field, join },
  };
}

/**
 * The ids of one page of cards, read along the sort field's index.
 * @param start where it begins, see `startOfPage`.
 */
export async function readPageIds(
  sql: Sql,
  order: Order,
  start: { where: Condition[]; offset: number; fromEnd: boolean },
  size: number,
): Promise<string[]> {
  const { where, offset, fromEnd } = start;
  const ids = await query(sql).column<string>`select c.id from cards c${embed(whereClause(where))}
     order by ${embed(orderBy(order, order.field.sql, 'c.id', fromEnd))} limit ${size} offset ${offset}`;
  return fromEnd ? ids.toReversed() : ids;
}

/** The sort fields of the card list that have an index that can be walked; see also {@link typedSort}. */
export const cardSorts: ListSpec['sorts'] = {
  name: { sql: 'c.name_key', type: 'text', filled: true },
  // The number and the type of a card never change.
  number: { sql: 'card_number_key(c.number)', type: 'text', immutable: true },
  type: { sql: 'c.type', type: 'text', immutable: true },
  subtype: { sql: "coalesce(c.subtype, '')", type: 'text', filled: true },
  status: { sql: 'c.status', type: 'text', filled: true },
  approval_status: { sql: 'c.approval_status', type: 'text', filled: true },
  data_quality: { sql: 'c.data_quality', type: 'numeric', filled: true },
  created_at: { sql: 'c.created_at', type: 'timestamptz', immutable: true },
  updated_at: { sql: 'c.updated_at', type: 'timestamptz', filled: true },
};

/** Sort fields that no index provides, by name. */
export const derivedSorts: Record<string, (ctx: Ctx) => SortField> = {
  phase: () => ({ sql: `${phaseRank('c.lifecycle', today())}::numeric`, type: 'numeric' }),
  description: () => ({ sql: `nullif(fold(left(c.description, 200)), '') collate "C"`, type: 'text' }),
  created_by: () => ({ sql: nameOf('created_by'), type: 'text' }),
  updated_by: () => ({ sql: nameOf('updated_by'), type: 'text' }),
  path: () => ({ sql: `(coalesce(o.path, '') || c.name_key) collate "C"`, join: PARENT_PATHS, type: 'text' }),
  tags: () => ({
    sql: 'o.names collate "C"',
    join: `left join (select k.card_id, string_agg(t.name, ' ' order by t.name) as names
      from card_tags k join (select id, fold(name) as name from tags) t on t.id = k.tag_id
      group by k.card_id) o on o.card_id = c.id`,
    type: 'text',
  }),
  relations(ctx) {
    requirePermission(ctx.caller, 'relations.view');
    const types = ctx.metamodel.visibleRelationTypes.map(textLiteral).join(', ') || 'null';
    const at = (end: string) => `select r.${end} as id from relations r where r.type in (${types})`;
    // all are counted once: for single cards the planner may scan all relations
    return {
      sql: 'coalesce(o.n, 0)',
      join: `left join (select e.id, count(*) as n from (${at('source_id')} union all ${at('target_id')}) e
        group by e.id) o on o.id = c.id`,
      filled: true,
      type: 'numeric',
    };
  },
};

/** The folded names from the root to the parent of each card, as `o.path`. Only cards with children have a row. */
const PARENT_PATHS = `left join (with recursive down as (
    select c.id, c.name_key || chr(1) as path from cards c
    where c.parent_id is null and c.id in (select k.parent_id from cards k)
    union all
    select c.id, d.path || c.name_key || chr(1) from down d join cards c on c.parent_id = d.id
    where c.id in (select k.parent_id from cards k))
  select id, path from down) o on o.id = c.parent_id`;

const nameOf = (column: string) =>
  `(select fold(u.display_name) from users u where u.id = c.${column}) collate "C"`;

const PREFIX = 'attributes.';

/** The sort fields of attributes, as messages name them. */
export const attributeSorts = `${PREFIX}<key>`;

/**
 * The sort field of an attribute of one of the given types: numbers by value, options in the order of the metamodel, all others
 * by folded text; or that of the subtype of one type, without a subtype first. Subtypes of several types have no common order:
 * they are walked along their index.
 * Undefined for other names.
 * @throws EstateError for an attribute that no type has, `forbidden` for a cost attribute without `costs.view`, since an order reports values.
 */
export function typedSort(ctx: Ctx, sortBy: string, types: string[]): SortField | undefined {
  const [only] = types;
  if (sortBy === 'subtype' && only !== undefined && types.length === 1) {
    const keys = [...(ctx.metamodel.cardTypes.get(only)?.subtypeKeys ?? [])];
    return { sql: `coalesce(${rankSql(keys, 'c.subtype')}, 0)`, type: 'bigint', filled: true };
  }
  if (!sortBy.startsWith(PREFIX)) return undefined;
  const key = sortBy.slice(PREFIX.length);
  const declared = types.flatMap((type) => {
    const field = ctx.metamodel.cardTypes.get(type)?.fields.get(key);
    return field ? [{ type, field }] : [];
  });
  const fields = declared.map(({ field }) => field);
  if (fields.length === 0) {
    throw invalidField('sort_by', 'unknown_sort', `"${key}" is no attribute of the types listed`);
  }
  if (fields.some((field) => field.type === 'cost') && !may(ctx.caller, 'costs.view')) {
    throw new EstateError('forbidden', `To sort by ${sortBy}, a cost, you need the permission costs.view.`, {
      extra: { permission: 'costs.view', field: 'sort_by' },
    });
  }
  const literal = textLiteral(key);
  if (fields.every(({ type }) => type === 'single_select' || type === 'multiple_select'))
    return {
      sql: byType(declared.map(({ type, field }) => [type, optionRank(field, literal)])),
      type: 'bigint',
    };
  const numeric = fields.every((field) => field.type === 'number' || field.type === 'cost');
  return numeric
    ? {
        sql: `case when jsonb_typeof(c.attributes -> ${literal}) = 'number' then (c.attributes ->> ${literal})::numeric end`,
        type: 'numeric',
      }
    : { sql: `fold(c.attributes ->> ${literal}) collate "C"`, type: 'text' };
}

/** The place of an attribute's option among those of its field, of several the first one; NULL without one. */
function optionRank({ type, options }: CompiledField, literal: string): string {
  if (type === 'single_select') return rankSql([...options], `c.attributes ->> ${literal}`);
  const list = `c.attributes -> ${literal}`;
  return `(select min(${rankSql([...options], 'o.value')})
    from jsonb_array_elements_text(case jsonb_typeof(${list}) when 'array' then ${list} end) o (value))`;
}

/** Expressions by card type as one. */
function byType(expressions: readonly [type: string, sql: string][]): string {
  const different = Map.groupBy(expressions, ([, sql]) => sql);
  if (different.size === 1) return expressions[0]![1];
  const branches = [...different].map(
    ([sql, of]) => `when c.type in (${of.map(([type]) => textLiteral(type)).join(', ')}) then ${sql}`,
  );
  return `case ${branches.join(' ')} end`;
}
