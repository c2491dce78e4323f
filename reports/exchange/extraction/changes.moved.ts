import type { Ctx } from '../../../domain/kernel/context.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import { type Found, MOST_FOUND } from './changes.found.ts';
import { type EventKinds, eventKinds, OWN } from './changes.kinds.ts';
import { numbered } from './extraction.sql.ts';

/** What may have come into sight, left it or changed its look altogether since a position, with the last position. */
export interface Moved {
  /** By the key of the type, all objects of which it concerns. */
  cardTypes: Map<string, number>;
  relationTypes: Map<string, number>;
  /** Set where it concerns all: the caller's own rights have changed, or an erasure has gone through the texts. */
  everything: number | undefined;
}

interface MovedRow {
  kind: 'card_type' | 'relation_type' | 'everything';
  key: string | null;
  position: number;
}

/** What a look back through the events shows. */
export interface LookBack {
  kinds: EventKinds;
  moved: Moved;
  /** The cards that the events are about; undefined where these are too many to be kept, or not wanted. */
  own: Found | undefined;
}

/** From this long before the event behind a position on, what concerns many objects is looked for. */
const BEFORE = "interval '1 minute'";
/** So much later than its event an erasure's job may have been written as finished, and as much earlier. */
const AROUND = "interval '10 minutes'";

/** Which kind of `Moved` the event `e` tells of, if any. */
const KIND = `case
    when e.event_type in ('card_type.deleted', 'relation_type.deleted')
      or e.event_type in ('card_type.updated', 'relation_type.updated')
         and jsonb_exists_any(e.data -> 'changes', ?::text[])
    then split_part(e.event_type, '.', 1)
    when e.event_type = 'user.erased'
      or e.event_type = 'role.updated' and e.data ->> 'key' = ?
         and jsonb_exists(e.data -> 'changes', 'permissions')
      or e.event_type like 'user.%' and e.data ->> 'id' = ?
         and jsonb_exists(e.data -> 'changes', 'role')
    then 'everything' end`;

/** The cards that the events are about, and the position of each event, as texts with commas. */
const OWN_CARDS = Object.entries({ ids: 'card_id', positions: 'position' })
  .map(
    ([name, column]) => `string_agg(e.${column}::text, ',')
      filter (where e.card_id is not null and e.position <= ?::bigint + ${MOST_FOUND} and ${OWN}) as ${name}`,
  )
  .join(', ');

/** What a look back finds. */
interface Looked extends EventKinds {
  moved: MovedRow[] | null;
  /** The position of the last event. */
  last: number;
  ids: string | null;
  positions: string | null;
}

/**
 * Looks once through the events after a position: which kinds there have been, which cards they are about, and which tell of
 * many objects at once, for which also the minute before is looked through, since an extraction shows its rows by the metamodel and the rights that its
 * request began with, a little before its moment. Events are written in turn, so that times grow with positions. The minute
 * may hold a whole import: in it events are found by the ids of what they tell of. A type that is deleted has no objects,
 * and needs no look.
 * @param cards whether the cards that the events are about are wanted.
 */
export async function lookBack(
  snapshot: Snapshot,
  ctx: Ctx,
  after: number,
  cards: boolean,
): Promise<LookBack> {
  // who sees all costs sees the same when a field becomes a cost, or none any more
  const columns = may(ctx.caller, 'costs.view')
    ? ['is_hidden']
    : ['is_hidden', 'fields_schema', 'attributes_schema'];
  const { role, userId } = ctx.caller;
  const things = [
    ...ctx.metamodel.cardTypes.keys(),
    ...ctx.metamodel.relationTypes.keys(),
    ...(userId ? [userId] : []),
  ];
  const [found] = await snapshot.query<Looked>(
    numbered(
      `with behind as materialized (
         select l.at from events l where l.position <= ?::bigint order by l.position desc limit 1)
       select ${eventKinds}, json_agg(json_build_object(
           'kind', e.kind, 'key', e.data ->> 'key', 'position', e.position)) filter (where e.kind is not null) as moved,
         coalesce(max(e.position), 0) as last, ${cards ? OWN_CARDS : 'null as ids, null as positions'}
       from (select e.*, ${KIND} as kind
         from (select n.position, n.event_type, n.data, n.card_id, true as later from events n
               where n.position > ?::bigint
               union all
               select b.position, b.event_type, b.data, null, false from events b
               where b.position <= ?::bigint
                 and b.position >= (select f.position from events f
                   where f.at > (select at - ${BEFORE} from behind) order by f.at limit 1)
                 and b.data ->> 'id' = any(?::text[]
                   || array(select r.id::text from roles r where r.key = ?)
                   || array(select j.payload ->> 'user_id' from jobs j cross join behind
                            where j.kind = 'erase_user' and j.finished_at
                              between behind.at - ${BEFORE} - ${AROUND} and behind.at + ${AROUND}))) e) e`,
    ),
    [after, ...(cards ? [after, after] : []), columns, role, userId ?? '', after, after, things, role],
  );
  const { moved: rows, last, ids, positions, ...kinds } = found!;
  const moved: Moved = { cardTypes: new Map(), relationTypes: new Map(), everything: undefined };
  for (const { kind, key, position } of rows ?? []) {
    if (kind === 'card_type') latest(moved.cardTypes, key!, position);
    else if (kind === 'relation_type') latest(moved.relationTypes, key!, position);
    else moved.everything = Math.max(moved.everything ?? position, position);
  }
  // so many positions on there may be more of them than are kept
  const own = cards && last <= after + MOST_FOUND ? lastOf(ids, positions) : undefined;
  return { kinds, moved, own };
}

/** Letters of an id. */
const ID = 36;

/** Each card once, with the last of its positions, in the order of ids. */
function lastOf(ids: string | null, positions: string | null): Found {
  const places = positions?.split(',') ?? [];
  // sorted as one text each: a map of so many ids would take longer
  const events = (ids?.split(',') ?? []).map((id, n) => `${id}${places[n]}`).sort();
  const found: Found = { ids: [], positions: [], gone: false };
  for (const event of events) {
    const id = event.slice(0, ID);
    const position = event.slice(ID);
    if (found.ids.at(-1) !== id) {
      found.ids.push(id);
      found.positions.push(position);
    } else if (Number(position) > Number(found.positions.at(-1))) {
      found.positions[found.positions.length - 1] = position;
    }
  }
  return found;
}

function latest(positions: Map<string, number>, key: string, position: number): void {
  positions.set(key, Math.max(positions.get(key) ?? position, position));
}
