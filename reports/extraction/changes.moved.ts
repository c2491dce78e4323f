import { may } from '../../domain/access/policy.ts';
import type { Ctx } from '../../domain/context.ts';
import type { Sql } from '../../platform/database.ts';

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

/** From this long before the event behind a position on, what concerns many objects is looked for. */
const BEFORE = "interval '1 minute'";
/** So much later than its event an erasure's job may have been written as finished, and as much earlier. */
const AROUND = "interval '10 minutes'";

/**
 * Looks for the events around and after a position that tell of many objects at once: those after it, and those of the
 * minute before, since an extraction shows its rows by the metamodel and the rights that its request began with, a little
 * before its moment. Events are written in turn, so that times grow with positions. The minute may hold a whole import: in
 * it events are found by the ids of what they tell of. A type that is deleted has no objects, and needs no look.
 */
export async function movedSince(sql: Sql, ctx: Ctx, after: number): Promise<Moved> {
  // who sees all costs sees the same when a field becomes a cost, or none any more
  const columns = may(ctx.caller, 'costs.view')
    ? ['is_hidden']
    : ['is_hidden', 'fields_schema', 'attributes_schema'];
  const { rows } = await sql.raw(
    `with behind as materialized (
       select l.at from events l where l.position <= :after order by l.position desc limit 1)
     select m.kind, case when m.kind <> 'everything' then m.key end as key, max(m.position) as position
     from (select e.data ->> 'key' as key, e.position,
             case when e.event_type in ('card_type.deleted', 'relation_type.deleted')
                    or e.event_type in ('card_type.updated', 'relation_type.updated')
                       and jsonb_exists_any(e.data -> 'changes', :columns::text[])
                  then split_part(e.event_type, '.', 1)
                  when e.event_type = 'user.erased'
                    or e.event_type = 'role.updated' and e.data ->> 'key' = :role
                       and jsonb_exists(e.data -> 'changes', 'permissions')
                    or e.event_type like 'user.%' and e.data ->> 'id' = :user
                       and jsonb_exists(e.data -> 'changes', 'role')
                  then 'everything' end as kind
           from (select n.position, n.event_type, n.data from events n
                 where n.position > :after
                   and (n.event_type = 'role.updated' or n.event_type like 'user.%'
                   or n.event_type like 'card_type.%' or n.event_type like 'relation_type.%')
                 union all
                 select b.position, b.event_type, b.data from events b
                 where b.position <= :after
                   and b.position >= (select f.position from events f
                     where f.at > (select at - ${BEFORE} from behind) order by f.at limit 1)
                   and b.data ->> 'id' = any(:ids::text[]
                     || array(select r.id::text from roles r where r.key = :role)
                     || array(select j.payload ->> 'user_id' from jobs j cross join behind
                              where j.kind = 'erase_user' and j.finished_at
                                between behind.at - ${BEFORE} - ${AROUND} and behind.at + ${AROUND}))) e) m
     where m.kind is not null group by 1, 2`,
    {
      after,
      columns,
      ids: [
        ...ctx.metamodel.cardTypes.keys(),
        ...ctx.metamodel.relationTypes.keys(),
        ...(ctx.caller.userId ? [ctx.caller.userId] : []),
      ],
      role: ctx.caller.role,
      user: ctx.caller.userId ?? '',
    } as never,
  );
  const moved: Moved = { cardTypes: new Map(), relationTypes: new Map(), everything: undefined };
  for (const { kind, key, position } of rows as MovedRow[]) {
    if (kind === 'card_type') moved.cardTypes.set(key!, position);
    else if (kind === 'relation_type') moved.relationTypes.set(key!, position);
    else moved.everything = position;
  }
  return moved;
}
