import { randomUUID } from 'node:crypto';
import { sha256 } from '../../../platform/crypto.ts';
import { embed, query, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { idType } from './lists.sql.ts';
import type { Condition, Fragment, ListSpec, Order, SortField } from './lists.types.ts';

/** The position of a traversal: after a row of an immutable order, or an index in a frozen order. */
type CursorPlace =
  | { kind: 'row'; value: string; id: string }
  | { kind: 'frozen'; snapshot: string; offset: number };

/**
 * Identifies a list, its filter and its order inside cursors. Conditions that depend on rights are excluded, since they
 * may change during the traversal.
 */
export function boundOf(spec: ListSpec, order: Order, asked: unknown): string {
  const filter = JSON.stringify(asked, (_key, value) =>
    (value as Condition)?.visibility ? undefined : value,
  );
  return sha256(JSON.stringify([spec.name, order.key, order.dir, filter])).slice(0, 16);
}

/** A cursor is opaque to clients. */
export function encodeCursor(bound: string, place: CursorPlace): string {
  const parts =
    place.kind === 'row'
      ? [bound, 'r', place.value, place.id]
      : [bound, 's', place.snapshot, String(place.offset)];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const forms: Record<SortField['type'], RegExp> = {
  text: /^/,
  numeric: /^-?\d{1,30}(?:\.\d{1,30})?$/,
  timestamptz: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?\+00$/,
  uuid: UUID,
  boolean: /^(?:true|false)$/,
  bigint: /^-?\d{1,18}$/,
};

/** The error for a text that is not a cursor. */
export const malformedCursor = (): EstateError =>
  invalidField('cursor', 'malformed', 'is not a cursor of this service');

/** The error for a cursor of another request. */
export const mismatchedCursor = (): EstateError =>
  new EstateError(
    'cursor_mismatch',
    'The cursor belongs to another list, filter or order; start again with cursor=.',
    {
      errors: [
        { field: 'cursor', code: 'cursor_mismatch', message: 'belongs to another list, filter or order' },
      ],
    },
  );

/**
 * Decodes a cursor from a client.
 * @throws EstateError for a text that is no cursor, `cursor_mismatch` for one of another list, filter or order.
 */
export function decodeCursor(cursor: string, bound: string, spec: ListSpec, order: Order): CursorPlace {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    parts = undefined;
  }
  if (!Array.isArray(parts) || parts.length !== 4 || !parts.every((part) => typeof part === 'string')) {
    throw malformedCursor();
  }
  const [hash, kind, first, second] = parts as [string, string, string, string];
  if (hash !== bound) throw mismatchedCursor();
  if (kind === 's' && UUID.test(first) && /^\d{1,9}$/.test(second)) {
    return { kind: 'frozen', snapshot: first, offset: Number(second) };
  }
  const fits = forms[order.field.type].test(first) && forms[idType(spec)].test(second);
  if (kind !== 'r' || !order.field.immutable || !fits) throw malformedCursor();
  return { kind: 'row', value: first, id: second };
}

// Ids are stored in chunks of one array; a page reads one or two of them.
const CHUNK = 1000;
const KEPT = "interval '1 hour'";
const KEPT_PER_OWNER = 20;

interface FrozenOrder {
  /** The first ids, as text; at most as many as requested. */
  first: string[];
  /** Where the rest is stored; undefined if there are no more. */
  snapshot: string | undefined;
}

/**
 * Runs `ids`, a query that returns the ids of all rows as text (`id`) with their number from 1 (`n`), and stores its
 * result, so that a cursor can traverse an order that changes meanwhile. It is deleted an hour after its last use; each
 * owner has the latest twenty. A result that fits on the first page is not stored.
 */
export async function storeOrder(
  sql: Sql,
  ids: Fragment,
  options: { owner: string | null; pageSize: number; offset: number },
): Promise<FrozenOrder> {
  const snapshot = randomUUID();
  const end = options.offset + options.pageSize;
  const rows = await query(sql).rows`with expired as (
       delete from list_snapshots where id in (
         select id from list_snapshots where used_at < now() - ${embed(KEPT)}
         union all
         (select id from list_snapshots where owner = ${options.owner}::uuid
         order by used_at desc offset ${embed(KEPT_PER_OWNER - 1)})
       )
     ), ordered as materialized (${embed(ids)}),
     counted as (select count(*)::int as total from ordered),
     kept as (
       insert into list_snapshots (id, owner, total)
       select ${snapshot}::uuid, ${options.owner}::uuid, total from counted where total > ${end}
     ), chunks as (
       insert into list_snapshot_chunks (snapshot_id, chunk, ids)
       select ${snapshot}::uuid, (n - 1) / ${embed(CHUNK)}, array_agg(id order by n)
       from ordered where (select total from counted) > ${end} group by 2
     )
     select id, (select total from counted) as total from ordered where n > ${options.offset} and n <= ${end} order by n`;
  const more = rows.length > 0 && rows[0].total > end;
  return { first: rows.map((row: { id: string }) => row.id), snapshot: more ? snapshot : undefined };
}

interface FrozenSlice {
  ids: string[];
  /** Whether the stored order continues after the slice. */
  more: boolean;
}

/**
 * The stored ids from `offset` on.
 * @throws EstateError `cursor_expired` if the order was deleted, or belongs to another user.
 */
export async function readFrozen(
  sql: Sql,
  place: { snapshot: string; offset: number },
  options: { owner: string | null; pageSize: number },
): Promise<FrozenSlice> {
  const end = place.offset + options.pageSize;
  const rows = await query(sql).rows`with used as (
       update list_snapshots set used_at = now()
       where id = ${place.snapshot}::uuid and used_at between now() - ${embed(KEPT)}
       and now() - interval '1 minute'
     )
     select s.total, array(
       select i.id from list_snapshot_chunks k, unnest(k.ids) with ordinality as i (id, n)
       where k.snapshot_id = s.id and k.chunk between ${Math.floor(place.offset / CHUNK)}
       and ${Math.floor((end - 1) / CHUNK)}
         and k.chunk * ${embed(CHUNK)} + i.n > ${place.offset} and k.chunk * ${embed(CHUNK)} + i.n <= ${end}
       order by k.chunk, i.n) as ids
     from list_snapshots s
     where s.id = ${place.snapshot}::uuid and s.owner is not distinct from ${options.owner}::uuid
     and s.used_at > now() - ${embed(KEPT)}`;
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
