import { queryRows, type Sql } from '../../../platform/database.ts';
import { clause, orderBy } from '../../kernel/lists/lists.sql.ts';
import type { Condition, Fragment, Order } from '../../kernel/lists/lists.types.ts';
import { createResultCache, type ResultCache } from '../../kernel/lists/result.cache.ts';

/** The ids of a whole list in its order, 16 bytes each. */
export interface OrderedIds {
  bytes: Buffer;
  /** Whether a search has matched more cards than these. */
  more: boolean;
}

/** Whole orders that no index yields, by a key that changes with every write to what they depend on. */
export type KeptIds = ResultCache<OrderedIds>;

const ID_BYTES = 16;
const KEPT_BYTES = 48 * 1024 * 1024;

export function createKeptIds(): KeptIds {
  return createResultCache(KEPT_BYTES, ({ bytes }) => bytes.length);
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

/** The ids of all cards that the conditions let through, in the order. */
export async function orderIds(sql: Sql, where: Condition[], order: Order): Promise<OrderedIds> {
  const w = clause(where);
  const rows = await queryRows<{ ids: Buffer }>(
    sql,
    `select coalesce(string_agg(uuid_send(c.id), '' order by ${orderBy(order, order.field.sql, 'c.id')}), '') as ids
     from cards c${w.sql}`,
    w.bindings,
  );
  return { bytes: rows[0]!.ids, more: false };
}

/** The ids as a query that a cursor's order can be frozen from. */
export function idsQuery(ids: OrderedIds): Fragment {
  return {
    sql: 'select o.id, o.n from unnest(?::text[]) with ordinality as o (id, n)',
    bindings: [sliceIds(ids, 0, idCount(ids))],
  };
}
