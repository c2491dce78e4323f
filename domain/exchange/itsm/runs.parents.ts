import type { Sql } from '../../../platform/database.ts';

/** A card that is about to get a parent. */
export interface NewParent {
  card_id: string;
  parent_id: string;
}

/**
 * Which of these cards are above their new parent already. Both sides' parents count: what only one of them has is going to be
 * written on the other.
 * @param column the remote's column that holds the key of the parent.
 */
export async function circlesAmong(
  sql: Sql,
  { runId, mappingId, column }: { runId: string; mappingId: string; column: string },
  wanted: readonly NewParent[],
): Promise<NewParent[]> {
  if (wanted.length === 0) return [];
  const { rows } = await sql.raw(
    `with recursive wanted as (
       select card_id, parent_id from json_to_recordset(?::json) as v(card_id uuid, parent_id uuid)
     ), above as (
       select card_id, parent_id, parent_id as id from wanted
       union
       select a.card_id, a.parent_id, up.id from above a cross join lateral (
         select c.parent_id as id from cards c where c.id = a.id and c.parent_id is not null
         union all
         select q.card_id from itsm_pairs p
         left join itsm_run_records r on r.run_id = ? and r.remote_id = p.remote_id
         join itsm_pairs q on q.mapping_id = p.mapping_id and q.state in ('linked', 'quarantined')
           and q.remote_id = case when r.record is null then p.base -> 'parent_id' ->> 'remote'
             else r.record -> 'fields' -> ?::text ->> 'value' end
         where p.mapping_id = ? and p.card_id = a.id and p.state in ('linked', 'quarantined')
       ) up where a.id <> a.card_id
     )
     select distinct card_id, parent_id from above where id = card_id`,
    [JSON.stringify(wanted), runId, column, mappingId],
  );
  return rows;
}
