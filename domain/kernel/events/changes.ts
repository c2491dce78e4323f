import Type from 'typebox';
import { embed, query, queryRows, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { type Snapshot, withSnapshot } from '../../../platform/snapshot.ts';
import type { Ctx } from '../context.ts';
import { CLEANUP_BATCH, type Retention } from '../extensions.ts';
import type { Fragment, JsonText } from '../lists/lists.types.ts';
import { optional, type StaticOf, TextUpTo, Uuid } from '../shapes.ts';
import { eventTypesIn } from './events.catalogue.ts';
import { visibleData, visibleEvents } from './events.visible.ts';
import { POSITION_PATTERN } from './row-changes.ts';

/** The setting with the last position that housekeeping has deleted. */
const PURGED_THROUGH = 'events.purged_through';

export interface FeedEnds {
  /** Events up to this position were deleted; 0 if none were. */
  purgedThrough: number;
  /** The position of the latest committed event; 0 if there is none. */
  newest: number;
}

const FEED_ENDS = `with purged as (
    select coalesce((select (value #>> '{}')::bigint from settings where key = '${PURGED_THROUGH}'), 0) as through
  )
  select through as "purgedThrough",
    greatest(coalesce((select max(position) from events), 0), through) as newest from purged`;

/** The first and last position of the feed, in one snapshot. */
export async function feedEnds(sql: Sql): Promise<FeedEnds> {
  const [ends] = await queryRows<FeedEnds>(sql, FEED_ENDS);
  return ends!;
}

/**
 * The feed position up to which the snapshot contains every change.
 * @throws EstateError `position_expired` when events after `after` are no longer stored.
 */
export async function snapshotPosition(snapshot: Snapshot, after?: string): Promise<string> {
  const [ends] = await snapshot.query<FeedEnds>(FEED_ENDS, []);
  if (after !== undefined) checkPosition(after, ends!, 'after');
  return String(ends!.newest);
}

/**
 * Checks a position from which a client wants to continue.
 * @throws EstateError `position_expired` if events after it were deleted, `validation_failed` if it is not a position
 * or is after the end of the feed.
 */
export function checkPosition(text: string, ends: FeedEnds, field: string): number {
  const position = new RegExp(POSITION_PATTERN).test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(position)) throw invalidField(field, 'format', 'is no position of the change feed');
  if (position > ends.newest) {
    const message = `lies beyond the newest position, ${ends.newest}; take a full export again`;
    throw invalidField(field, 'position_unknown', message);
  }
  if (position < ends.purgedThrough) {
    throw new EstateError(
      'position_expired',
      `Events are kept from position ${ends.purgedThrough} on; take a full export and go on from its position.`,
      { extra: { oldest: String(ends.purgedThrough) } },
    );
  }
  return position;
}

const names = (what: string) => TextUpTo(2000, `Comma-separated ${what} types`);
/** The parameters of the change feed. */
export const changesParams = {
  limit: Type.Integer({ minimum: 1, maximum: 10_000, default: 1000 }),
  ...optional({
    after: TextUpTo(20, 'A position, or `now`; without it: from the oldest stored event'),
    type: names('card'),
    card_id: Uuid,
    event_type: names('event'),
  }),
};

/** The bytes after each item that the text of a page has not after its last one: a comma and a line feed. */
const ITEM_END = 2;

/**
 * The change feed after a position, in commit order: `{items, next, has_more}` as JSON in chunks, since as one string a long
 * page would hold the event loop. `next` also skips events that are not visible to the caller or do not match the filters,
 * so that polling always advances.
 */
export async function readChanges(ctx: Ctx, params: StaticOf<typeof changesParams>): Promise<Buffer[]> {
  return await withSnapshot(ctx.db, async (snapshot) => {
    const [ends] = await snapshot.query<FeedEnds>(FEED_ENDS);
    const { newest, purgedThrough } = ends!;
    const end = (next: unknown, more: boolean) => Buffer.from(`],"next":"${next}","has_more":${more}}`);
    const chunks: Buffer[] = [Buffer.from('{"items":[')];
    if (params.after === 'now') return [...chunks, end(newest, false)];
    const after = params.after === undefined ? purgedThrough : checkPosition(params.after, ends!, 'after');
    const { sql, bindings } = changesAfter(ctx, params, after, newest);
    let rows = 0;
    for await (const lines of snapshot.json(sql, bindings)) {
      chunks.push(lines.bytes);
      rows += lines.rows;
    }
    if (rows === 0) return [...chunks, end(newest, false)];
    const more = rows > params.limit;
    if (more) takeLastLine(chunks);
    const next = more ? /^{"position" : "(\d+)"/.exec(lastLine(chunks.at(-1)!).toString())![1] : newest;
    chunks.push(chunks.pop()!.subarray(0, -ITEM_END), end(next, more));
    return chunks;
  });
}

/** The events of a page as lines of JSON, and one more if there is one. */
function changesAfter(
  ctx: Ctx,
  params: StaticOf<typeof changesParams>,
  after: number,
  newest: number,
): Fragment {
  const visible = visibleEvents(ctx);
  const data = visibleData(ctx);
  const where = [visible.sql];
  const bindings = [...visible.bindings];
  if (params.type !== undefined) {
    const types = params.type.split(',');
    where.push('(e.card_type = any(?::text[]) or e.peer_card_type = any(?::text[]))');
    bindings.push(types, types);
  }
  if (params.card_id !== undefined) {
    where.push('(e.card_id = ?::uuid or e.peer_card_id = ?::uuid)');
    bindings.push(params.card_id, params.card_id);
  }
  if (params.event_type !== undefined) {
    where.push('e.event_type = any(?::text[])');
    bindings.push(eventTypesIn(params.event_type));
  }
  return {
    sql: `select json_build_object('position', e.position::text, 'event_type', e.event_type, 'card_id', e.card_id,
              'peer_card_id', e.peer_card_id, 'relation_id', e.relation_id, 'at', utc(e.at),
              'actor', case when u.id is null then null
                       else json_build_object('id', u.id, 'display_name', u.display_name) end,
              'data', ${data.sql})::text || ',' as item
     from events e left join users u on u.id = e.user_id
     where e.position > ? and e.position <= ? and ${where.join(' and ')}
     order by e.position limit ?`,
    bindings: [...data.bindings, after, newest, ...bindings, params.limit + 1],
  };
}

const lastLine = (lines: Buffer): Buffer => lines.subarray(lines.lastIndexOf('\n', -2) + 1);

function takeLastLine(chunks: Buffer[]): void {
  const lines = chunks.pop()!;
  const rest = lines.subarray(0, lines.length - lastLine(lines).length);
  if (rest.length > 0) chunks.push(rest);
}

/** The latest events that a summary counts. */
const MAX_SUMMARISED = 10_000;

/**
 * How many events after a position are visible to the caller, by event type and by card type; of more than 10,000 the
 * latest.
 * @throws EstateError `position_expired`, `validation_failed`.
 */
export async function summariseChanges(ctx: Ctx, given: string): Promise<JsonText> {
  const ends = await feedEnds(ctx.db);
  const after = checkPosition(given, ends, 'after');
  const counted = (column: string, name: string) =>
    `(select coalesce(json_agg(json_build_object('${name}', v, 'count', n) order by n desc, v), '[]')
      from (select ${column} as v, count(*) as n from seen where ${column} is not null group by 1) g)`;
  return await query(ctx.db).value<JsonText>`with latest as materialized (
       select e.* from events e where e.position > ${after} and e.position <= ${ends.newest}
       order by e.position desc limit ${MAX_SUMMARISED + 1}
     ), seen as materialized (
       select e.* from (select * from latest order by position desc limit ${MAX_SUMMARISED}) e
       where ${embed(visibleEvents(ctx))}
     )
     select json_build_object('next', ${ends.newest}::text, 'total', (select count(*) from seen),
       'card_count', (select count(distinct card_id) from seen),
       'own_count', (select count(*) from seen where user_id = ${ctx.caller.userId}::uuid),
       'by_event_type', ${embed(counted('event_type', 'event_type'))},
       'by_card_type', ${embed(counted('card_type', 'card_type'))},
       'is_truncated', (select count(*) from latest) > ${MAX_SUMMARISED})::text`;
}

/** Deletes the feed's oldest events, always from its beginning; the new first position is stored. */
export async function removeEvents(sql: Sql, { events_days }: Retention): Promise<number> {
  return await query(sql).value<number>`with cut as (
       select coalesce((select min(position) from events
       where at >= now() - make_interval(days => ${events_days})),
                       (select max(position) + 1 from events)) as position
     ),
     gone as (
       delete from events where position in (
         select e.position from events e, cut where e.position < cut.position
         order by e.position limit ${embed(CLEANUP_BATCH)}
       ) returning position
     ),
     of_cards as (delete from card_old_values where position <= (select max(position) from gone)),
     of_relations as (delete from relation_old_values where position <= (select max(position) from gone)),
     purged as (
       insert into settings (key, value) select '${embed(PURGED_THROUGH)}', to_jsonb(max(position)) from gone
       having count(*) > 0
       on conflict (key) do update set value = excluded.value, updated_at = now()
     )
     select count(*)::int as n from gone`;
}
