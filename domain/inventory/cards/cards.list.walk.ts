import { queryRows, type Sql } from '../../../platform/database.ts';
import { clause, orderBy } from '../../kernel/lists/lists.sql.ts';
import type { Condition, Order } from '../../kernel/lists/lists.types.ts';
import { createResultCache, type ResultCache } from '../../kernel/lists/result.cache.ts';

/** A row whose place in an order is known. */
interface Anchor {
  offset: number;
  value: string;
  id: string;
}

/** Known places in orders, by a key that changes with every write to the cards concerned. */
export type Anchors = ResultCache<Anchor[]>;

const KEPT_BYTES = 16 * 1024 * 1024;
const ANCHORS = 100;
/** Characters of the value that an anchor is found by; longer ones are not kept. */
const ANCHOR_LENGTH = 100;
/** A walk shorter than this is not worth an anchor. */
const FAR = 500;

export function createAnchors(): Anchors {
  return createResultCache(KEPT_BYTES, () => ANCHORS * (2 * ANCHOR_LENGTH + 100));
}

export interface Walk {
  where: Condition[];
  /** Its field is never NULL. */
  order: Order;
  offset: number;
  /** Rows wanted; all of them lie before `total`. */
  size: number;
  total: number;
}

interface Start {
  anchor?: Anchor;
  backward: boolean;
  distance: number;
}

/** The nearest known place to start from: an end of the order or an anchor, in either direction. */
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
 * The ids of one page of cards, found by walking along the sort field's index from the nearest place that is
 * known: an end of the order, or where a page began or ended that was read before.
 */
export async function walkToPage(sql: Sql, walk: Walk, anchors: Anchors, key: string): Promise<string[]> {
  const { order, offset, size, total } = walk;
  const known = await anchors.get(key, async () => []);
  const { anchor, backward, distance } = nearest(walk, known);
  const where = [...walk.where];
  if (anchor) {
    const beyond = (order.dir === 'asc') === backward ? '<=' : '>=';
    where.push({
      sql: `(${order.field.sql}, c.id) ${beyond} (?::${order.field.type}, ?::uuid)`,
      bindings: [anchor.value, anchor.id],
    });
  }
  const w = clause(where);
  const rows = await queryRows<{ id: string; value: string }>(
    sql,
    `select c.id, (${order.field.sql})::text as value from cards c${w.sql}
     order by ${orderBy(order, order.field.sql, 'c.id', backward)} limit ? offset ?`,
    [...w.bindings, size, distance],
  );
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
