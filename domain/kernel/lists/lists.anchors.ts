import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { createLru } from '../../../platform/lru.ts';
import { idType, orderBy, whereClause } from './lists.sql.ts';
import type { Condition, Fragment, ListOptions, ListSpec, Order, RowPlace } from './lists.types.ts';
import { createResultCache, type ResultCache } from './result.cache.ts';

/** The rows of an order. */
interface OrderedRows {
  sql: Sql;
  spec: Pick<ListSpec, 'from' | 'id' | 'idType'>;
  where: Condition[];
  order: Order;
}

/**
 * The condition of the rows behind a place. The value is compared by itself as well: an index finds it also where the id
 * is in another table.
 */
export const behind = (
  { spec, order }: Pick<OrderedRows, 'spec' | 'order'>,
  { value, id }: RowPlace,
): Fragment => {
  const than = embed(order.dir === 'asc' ? '>' : '<');
  const [field, type] = [embed(order.field.sql), embed(order.field.type)];
  return fragment`${field} ${than}= ${value}::${type}
    and (${field}, ${embed(spec.id)}) ${than} (${value}::${type}, ${id}::${embed(idType(spec))})`;
};

/** Rows from one anchor to the next. */
const STEP = 100;
/** Fewer rows are skipped faster than anchors are read. */
const FEW = 1_000;
const CACHE_BYTES = 16 * 1024 * 1024;

/** Every 100th row of orders, by a key that changes with every write to the data that they depend on. */
export type Anchors = ResultCache<RowPlace[]>;

/** Creates a cache of anchors. */
export const createAnchors = (): Anchors => createResultCache(CACHE_BYTES, (places) => 160 * places.length);

/** Keys of orders of which a deep page was read, in bytes. */
const SEEN_BYTES = 1024 * 1024;

/**
 * {@link createAnchors} for orders that an index provides: the first deep page after a change has no anchors, since
 * skipping entries of the index costs less than reading all of them.
 */
export function createLateAnchors(): Anchors {
  const anchors = createAnchors();
  const seen = createLru<true>(SEEN_BYTES, () => 8);
  return {
    async get(key, read) {
      if (seen.get(key)) return await anchors.get(key, read);
      seen.set(key, true);
      return [];
    },
  };
}

/** Reads the anchors of an order. */
export async function readAnchors({ sql, spec, where, order }: OrderedRows): Promise<RowPlace[]> {
  return await query(sql).rows<RowPlace>`select x.value::text as value, x.id::text as id
    from (select ${embed(order.field.sql)} as value, ${embed(spec.id)} as id,
        row_number() over (order by ${embed(orderBy(order, order.field.sql, spec.id))}) as n
      from ${embed(spec.from)}${embed(whereClause(where))}) x
    where x.n % ${embed(STEP)} = 0 order by x.n`;
}

/** A page in the order of all rows. */
interface PagePlace {
  offset: number;
  size: number;
  total: number;
}

/**
 * From where a page is read: from the nearer end of the order, or if both are far, from the anchor before it. Rows that
 * are skipped cost as much as those that are returned.
 * @param cached returns the cached anchors, or those that `read` reads.
 */
export async function startOfPage(
  rows: OrderedRows,
  { offset, size, total }: PagePlace,
  cached?: ListOptions['anchors'],
): Promise<{ where: Condition[]; offset: number; fromEnd: boolean }> {
  const { where, order } = rows;
  const fromEnd = offset > total / 2;
  const skipped = fromEnd ? total - offset - size : offset;
  const isOrdered = order.field.filled || order.field.immutable;
  if (cached && isOrdered && skipped >= FEW) {
    const passed = Math.floor(offset / STEP);
    const anchor = (await cached(() => readAnchors(rows), rows.sql))[passed - 1];
    if (anchor)
      return { where: [...where, behind(rows, anchor)], offset: offset - passed * STEP, fromEnd: false };
  }
  return { where, offset: skipped, fromEnd };
}
