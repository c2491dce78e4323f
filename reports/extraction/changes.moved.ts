import { may } from '../../domain/access/policy.ts';
import type { Ctx } from '../../domain/context.ts';
import type { Snapshot } from '../../platform/snapshot.ts';
import { type Found, type FoundRow, kept, MOST_FOUND } from './changes.found.ts';
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

/** The cards that the events after a position are about, with the last position of each. */
const OWN_CARDS = `(select json_build_object('count', coalesce(sum(o.events), 0),
      'ids', string_agg(o.id::text, ',' order by o.id), 'positions', string_agg(o.position::text, ',' order by o.id))
    from (select e.card_id as id, max(e.position) as position, count(*) as events
      from (select e.card_id, e.position from events e
            where e.position > ?::bigint and e.card_id is not null and ${OWN} limit ${MOST_FOUND + 1}) e
      group by e.card_id) o)`;

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
  const ids = [
    ...ctx.metamodel.cardTypes.keys(),
    ...ctx.metamodel.relationTypes.keys(),
    ...(userId ? [userId] : []),
  ];
  const [found] = await snapshot.query<
    EventKinds & { moved: MovedRow[] | null; own: Omit<FoundRow, 'gone'> | null }
  >(
    numbered(
      `with behind as materialized (
         select l.at from events l where l.position <= ?::bigint order by l.position desc limit 1)
       select ${eventKinds}, json_agg(json_build_object(
           'kind', e.kind, 'key', e.data ->> 'key', 'position', e.position)) filter (where e.kind is not null) as moved,
         ${cards ? OWN_CARDS : 'null'} as own
       from (select e.*, ${KIND} as kind
         from (select n.position, n.event_type, n.data, true as later from events n where n.position > ?::bigint
               union all
               select b.position, b.event_type, b.data, false from events b
               where b.position <= ?::bigint
                 and b.position >= (select f.position from events f
                   where f.at > (select at - ${BEFORE} from behind) order by f.at limit 1)
                 and b.data ->> 'id' = any(?::text[]
                   || array(select r.id::text from roles r where r.key = ?)
                   || array(select j.payload ->> 'user_id' from jobs j cross join behind
                            where j.kind = 'erase_user' and j.finished_at
                              between behind.at - ${BEFORE} - ${AROUND} and behind.at + ${AROUND}))) e) e`,
    ),
    [after, ...(cards ? [after] : []), columns, role, userId ?? '', after, after, ids, role],
  );
  const { moved: rows, own, ...kinds } = found!;
  const moved: Moved = { cardTypes: new Map(), relationTypes: new Map(), everything: undefined };
  for (const { kind, key, position } of rows ?? []) {
    if (kind === 'card_type') latest(moved.cardTypes, key!, position);
    else if (kind === 'relation_type') latest(moved.relationTypes, key!, position);
    else moved.everything = Math.max(moved.everything ?? position, position);
  }
  return { kinds, moved, own: own ? kept({ ...own, gone: false }) : undefined };
}

function latest(positions: Map<string, number>, key: string, position: number): void {
  positions.set(key, Math.max(positions.get(key) ?? position, position));
}
