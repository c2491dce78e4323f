import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { orderBy, textLiteral, whereClause } from '../../kernel/lists/lists.sql.ts';
import type { Condition, Fragment, ListSpec, Order, SortField } from '../../kernel/lists/lists.types.ts';
import { createResultCache, type ResultCache } from '../../kernel/lists/result.cache.ts';
import { may } from '../../kernel/permissions/policy.ts';

/** The ids of a complete list in its order, 16 bytes each. */
export interface OrderedIds {
  bytes: Buffer;
  /** Whether a search matched more cards than these. */
  more: boolean;
}

/** Complete orders that no index provides, by a key that changes with every write to the data that they depend on. */
export type IdCache = ResultCache<OrderedIds>;

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
  const w = whereClause(where);
  const bytes = await query(sql).value<Buffer>`select coalesce(string_agg(uuid_send(c.id), ''
    order by ${embed(orderBy(order, order.field.sql, 'c.id'))}), '') as ids
     from cards c${embed(w)}`;
  return { bytes, more: false };
}

/** The ids as a query from which the order of a cursor can be frozen. */
export function idsQuery(ids: OrderedIds): Fragment {
  return fragment`select o.id, o.n
    from unnest(${sliceIds(ids, 0, idCount(ids))}::text[]) with ordinality as o (id, n)`;
}

/** A row whose position in an order is known. */
interface Anchor {
  offset: number;
  value: string;
  id: string;
}

/** Known positions in orders, by a key that changes with every write to the cards concerned. */
export type Anchors = ResultCache<Anchor[]>;

const ANCHOR_BYTES = 16 * 1024 * 1024;
const ANCHORS = 100;
/** Maximum length, in characters, of the value that an anchor is found by; longer values get no anchor. */
const ANCHOR_LENGTH = 100;
/** A walk shorter than this needs no anchor. */
const FAR = 500;

export function createAnchors(): Anchors {
  return createResultCache(ANCHOR_BYTES, () => ANCHORS * (2 * ANCHOR_LENGTH + 100));
}

interface Walk {
  where: Condition[];
  /** Whether its field is never NULL. */
  order: Order;
  offset: number;
  /** Number of rows to return; all of them are before `total`. */
  size: number;
  total: number;
}

interface Start {
  anchor?: Anchor;
  backward: boolean;
  distance: number;
}

/** The nearest known position to start from: an end of the order or an anchor, in either direction. */
function nearest({ offset, size, total }: Walk, anchors: Anchor[]): Start {
  const last = offset + size - 1;
  const starts: Start[] = [
    { backward: false, distance: offset },
    { backward: true, distance: total - 1 - last },
  ];
  for (const anchor of anchors) {
    if (anchor.offset <= offset) starts.push({ anchor, backward: false, distance: offset - anchor.offset });
    if (anchor.offset >= last) starts.push({ anchor, backward: true, distance: anchor.offset - last });
  }
  return starts.reduce((best, start) => (start.distance < best.distance ? start : best));
}

/**
 * The ids of one page of cards. It walks along the sort field's index from the nearest known position: an end of the
 * order, or the first or last row of a page that was read before.
 */
export async function walkToPage(sql: Sql, walk: Walk, anchors: Anchors, key: string): Promise<string[]> {
  const { order, offset, size, total } = walk;
  const known = await anchors.get(key, async () => []);
  const { anchor, backward, distance } = nearest(walk, known);
  const where = [...walk.where];
  if (anchor) {
    const beyond = (order.dir === 'asc') === backward ? '<=' : '>=';
    where.push(fragment`(${embed(order.field.sql)},
      c.id) ${embed(beyond)} (${anchor.value}::${embed(order.field.type)}, ${anchor.id}::uuid)`);
  }
  const w = whereClause(where);
  const rows = await query(sql).rows<{ id: string; value: string }>`select c.id,
    (${embed(order.field.sql)})::text as value from cards c${embed(w)}
     order by ${embed(orderBy(order, order.field.sql, 'c.id', backward))} limit ${size} offset ${distance}`;
  const page = backward ? rows.toReversed() : rows;
  if (Math.min(offset, total - offset) > FAR && page.length === size) {
    const fresh = [
      { offset, ...page[0]! },
      { offset: offset + size - 1, ...page.at(-1)! },
    ].filter(
      ({ offset: at, value }) => value.length <= ANCHOR_LENGTH && !known.some((other) => other.offset === at),
    );
    known.push(...fresh);
    known.splice(0, Math.max(0, known.length - ANCHORS));
  }
  return page.map((row) => row.id);
}

/** The sort fields of the card list besides `attributes.<key>`; each has an index that can be walked. */
export const cardSorts: ListSpec['sorts'] = {
  name: { sql: 'c.name_key', type: 'text', filled: true },
  // The type of a card never changes.
  type: { sql: 'c.type', type: 'text', immutable: true },
  subtype: { sql: "coalesce(c.subtype, '')", type: 'text', filled: true },
  status: { sql: 'c.status', type: 'text', filled: true },
  approval_status: { sql: 'c.approval_status', type: 'text', filled: true },
  data_quality: { sql: 'c.data_quality', type: 'numeric', filled: true },
  created_at: { sql: 'c.created_at', type: 'timestamptz', immutable: true },
  updated_at: { sql: 'c.updated_at', type: 'timestamptz', filled: true },
};

const PREFIX = 'attributes.';

/**
 * The sort field of an attribute of one of the given types: numbers by value, all others by folded text.
 * Undefined if the name is not `attributes.<key>`.
 * @throws EstateError for an attribute that no type has, `forbidden` for a cost attribute without `costs.view`, since an order reports values.
 */
export function attributeSort(ctx: Ctx, sortBy: string, types: string[]): SortField | undefined {
  if (!sortBy.startsWith(PREFIX)) return undefined;
  const key = sortBy.slice(PREFIX.length);
  const fields = types.flatMap((type) => ctx.metamodel.cardTypes.get(type)?.fields.get(key) ?? []);
  if (fields.length === 0) {
    throw invalidField('sort_by', 'unknown_sort', `"${key}" is no attribute of the types listed`);
  }
  if (fields.some((field) => field.type === 'cost') && !may(ctx.caller, 'costs.view')) {
    throw new EstateError('forbidden', `To sort by ${sortBy}, a cost, you need the permission costs.view.`, {
      extra: { permission: 'costs.view', field: 'sort_by' },
    });
  }
  const literal = textLiteral(key);
  const numeric = fields.every((field) => field.type === 'number' || field.type === 'cost');
  return numeric
    ? {
        sql: `case when jsonb_typeof(c.attributes -> ${literal}) = 'number' then (c.attributes ->> ${literal})::numeric end`,
        type: 'numeric',
      }
    : { sql: `fold(c.attributes ->> ${literal}) collate "C"`, type: 'text' };
}
