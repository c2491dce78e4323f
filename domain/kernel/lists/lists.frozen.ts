import { randomUUID } from 'node:crypto';
import type { Sql } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import type { Fragment } from './lists.types.ts';

// Ids in one stored array; a page reads one or two of them.
const CHUNK = 1000;
const KEPT = "interval '1 hour'";
const KEPT_PER_OWNER = 20;

export interface FrozenOrder {
  /** The first ids, as text; at most as many as were asked for. */
  first: string[];
  /** Where the rest is kept; undefined when there is no more. */
  snapshot: string | undefined;
}

/**
 * Runs `ids`, a query that yields all rows' ids as text (`id`) with their number from 1 (`n`), and keeps its
 * outcome, so that a cursor can walk along an order that changes meanwhile. Kept for an hour after its last
 * use; each owner keeps the newest twenty. What fits on the first page is not kept.
 */
export async function freezeOrder(
  sql: Sql,
  ids: Fragment,
  options: { owner: string | null; pageSize: number },
): Promise<FrozenOrder> {
  const snapshot = randomUUID();
  const { rows } = await sql.raw(
    `with expired as (
       delete from list_snapshots where id in (
         select id from list_snapshots where used_at < now() - ${KEPT}
         union all
         (select id from list_snapshots where owner = ?::uuid order by used_at desc offset ${KEPT_PER_OWNER - 1})
       )
     ), ordered as materialized (${ids.sql}),
     counted as (select count(*)::int as total from ordered),
     kept as (
       insert into list_snapshots (id, owner, total)
       select ?::uuid, ?::uuid, total from counted where total > ?
     ), chunks as (
       insert into list_snapshot_chunks (snapshot_id, chunk, ids)
       select ?::uuid, (n - 1) / ${CHUNK}, array_agg(id order by n)
       from ordered where (select total from counted) > ? group by 2
     )
     select id, (select total from counted) as total from ordered where n <= ? order by n`,
    [
      options.owner,
      ...ids.bindings,
      snapshot,
      options.owner,
      options.pageSize,
      snapshot,
      options.pageSize,
      options.pageSize,
    ],
  );
  const more = rows.length > 0 && rows[0].total > options.pageSize;
  return { first: rows.map((row: { id: string }) => row.id), snapshot: more ? snapshot : undefined };
}

export interface FrozenSlice {
  ids: string[];
  /** Whether the kept order goes on behind the slice. */
  more: boolean;
}

/**
 * The kept ids from `offset` on.
 * @throws EstateError `cursor_expired` when the order is no longer kept, or is another user's.
 */
export async function readFrozen(
  sql: Sql,
  place: { snapshot: string; offset: number },
  options: { owner: string | null; pageSize: number },
): Promise<FrozenSlice> {
  const end = place.offset + options.pageSize;
  const { rows } = await sql.raw(
    `with used as (
       update list_snapshots set used_at = now()
       where id = ?::uuid and used_at between now() - ${KEPT} and now() - interval '1 minute'
     )
     select s.total, array(
       select i.id from list_snapshot_chunks k, unnest(k.ids) with ordinality as i (id, n)
       where k.snapshot_id = s.id and k.chunk between ? and ?
         and k.chunk * ${CHUNK} + i.n > ? and k.chunk * ${CHUNK} + i.n <= ?
       order by k.chunk, i.n) as ids
     from list_snapshots s
     where s.id = ?::uuid and s.owner is not distinct from ?::uuid and s.used_at > now() - ${KEPT}`,
    [
      place.snapshot,
      Math.floor(place.offset / CHUNK),
      Math.floor((end - 1) / CHUNK),
      place.offset,
      end,
      place.snapshot,
      options.owner,
    ],
  );
  const row = rows[0];
  if (!row) {
    throw new EstateError(
      'cursor_expired',
      'The cursor is no longer kept, an hour after its last use or for newer ones; start again with cursor=.',
      {
        errors: [{ field: 'cursor', code: 'cursor_expired', message: 'is no longer kept' }],
      },
    );
  }
  return { ids: row.ids, more: end < row.total };
}
