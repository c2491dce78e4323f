import type { Sql } from '../../../platform/database.ts';
import { CLEANUP_BATCH, type Retention } from '../extensions.ts';
import { PURGED_THROUGH } from './changes.ts';

/** The feed's oldest events, always a piece from its beginning; readers learn where it begins now. */
export async function removeEvents(sql: Sql, { events_days }: Retention): Promise<number> {
  const { rows } = await sql.raw(
    `with cut as (
       select coalesce((select min(position) from events where at >= now() - make_interval(days => ?)),
                       (select max(position) + 1 from events)) as position
     ),
     gone as (
       delete from events where position in (
         select e.position from events e, cut where e.position < cut.position order by e.position limit ${CLEANUP_BATCH}
       ) returning position
     ),
     of_cards as (delete from card_old_values where position <= (select max(position) from gone)),
     of_relations as (delete from relation_old_values where position <= (select max(position) from gone)),
     purged as (
       insert into settings (key, value) select '${PURGED_THROUGH}', to_jsonb(max(position)) from gone
       having count(*) > 0
       on conflict (key) do update set value = excluded.value, updated_at = now()
     )
     select count(*)::int as n from gone`,
    [events_days],
  );
  return rows[0].n;
}
