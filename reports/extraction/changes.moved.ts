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

/**
 * The position after which to look for what concerns many objects: a minute before that of an extraction, since one
 * shows its rows by the metamodel and the rights that its request began with, a little before its moment. Events are
 * written in turn, so that times grow with positions.
 */
async function lookFrom(sql: Sql, after: number): Promise<number> {
  const { rows } = await sql.raw(
    `select coalesce((select m.position - 1 from events m where m.at > (
         select l.at - interval '1 minute' from events l where l.position <= ? order by l.position desc limit 1)
       order by m.at limit 1), ?::bigint) as position`,
    [after, after],
  );
  return Math.min(rows[0].position, after);
}

/** Looks for the events around and after a position that tell of many objects at once. */
export async function movedSince(sql: Sql, ctx: Ctx, after: number): Promise<Moved> {
  // who sees all costs sees the same when a field becomes a cost, or none any more
  const columns = may(ctx.caller, 'costs.view')
    ? ['is_hidden']
    : ['is_hidden', 'fields_schema', 'attributes_schema'];
  const { rows } = await sql.raw(
    `select m.kind, case when m.kind <> 'everything' then m.key end as key, max(m.position) as position
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
           from events e
           where e.position > :from
             and (e.event_type = 'role.updated' or e.event_type like 'user.%'
             or e.event_type like 'card_type.%' or e.event_type like 'relation_type.%')) m
     where m.kind is not null group by 1, 2`,
    {
      from: await lookFrom(sql, after),
      columns,
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
