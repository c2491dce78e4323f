import type { Ctx } from '../../../domain/kernel/context.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';

/**
 * What changed in many objects at once since a position, with the position of the last such change: types that were hidden, shown,
 * or whose costs changed, by key; and everything, where the caller's rights changed or texts of an erased user were replaced.
 */
export interface WideChanges {
  cardTypes: Map<string, number>;
  relationTypes: Map<string, number>;
  everything: number | undefined;
}

interface WideChangeRow {
  kind: 'card_type' | 'relation_type' | 'everything';
  key: string | null;
  position: number;
}

/** Time before the event at a position in which wide changes are looked for as well. */
const BEFORE = "interval '1 minute'";
/** Difference between the time of an erasure's event and the time at which its job was recorded as finished. */
const AROUND = "interval '10 minutes'";

/** Which part of {@link WideChanges} the event `e` belongs to. */
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

/**
 * Finds wide changes after a position and in the minute before: an extraction uses the metamodel and the rights that were loaded when
 * its request began, shortly before its snapshot. Times of events grow with positions. That minute may contain a whole import, so
 * its events are found by the ids of what they are about.
 */
export async function findWideChanges(snapshot: Snapshot, ctx: Ctx, after: number): Promise<WideChanges> {
  // a caller who sees all costs sees no difference when a field becomes a cost
  const columns = may(ctx.caller, 'costs.view')
    ? ['is_hidden']
    : ['is_hidden', 'fields_schema', 'attributes_schema'];
  const { role, userId } = ctx.caller;
  const ids = [
    ...ctx.metamodel.cardTypes.keys(),
    ...ctx.metamodel.relationTypes.keys(),
    ...(userId ? [userId] : []),
  ];
  const rows = await snapshot.query<WideChangeRow>(
    `with last as materialized (
       select l.at from events l where l.position <= ?::bigint order by l.position desc limit 1)
     select e.kind, e.data ->> 'key' as key, max(e.position) as position
     from (select e.*, ${KIND} as kind
       from (select n.position, n.event_type, n.data from events n where n.position > ?::bigint
             union all
             select b.position, b.event_type, b.data from events b
             where b.position <= ?::bigint
               and b.position >= (select f.position from events f
                 where f.at > (select at - ${BEFORE} from last) order by f.at limit 1)
               and b.data ->> 'id' = any(?::text[]
                 || array(select r.id::text from roles r where r.key = ?)
                 || array(select j.payload ->> 'user_id' from jobs j cross join last
                          where j.kind = 'erase_user' and j.finished_at
                            between last.at - ${BEFORE} - ${AROUND} and last.at + ${AROUND}))) e) e
     where e.kind is not null group by 1, 2`,
    [after, columns, role, userId ?? '', after, after, ids, role],
  );
  const changes: WideChanges = { cardTypes: new Map(), relationTypes: new Map(), everything: undefined };
  for (const { kind, key, position } of rows) {
    if (kind === 'card_type') changes.cardTypes.set(key!, position);
    else if (kind === 'relation_type') changes.relationTypes.set(key!, position);
    else changes.everything = Math.max(changes.everything ?? position, position);
  }
  return changes;
}
