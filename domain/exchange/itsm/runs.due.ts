import type { Sql } from '../../../platform/database.ts';

/** Mappings of which a scheduled run is due, and nothing keeps it from beginning any more. */
export async function listDue(sql: Sql): Promise<string[]> {
  const { rows } = await sql.raw(
    `select m.id from itsm_mappings m join itsm_connections c on c.id = m.connection_id
     where m.due_at is not null and m.is_active and c.is_active
       and not exists (select from itsm_runs r where r.mapping_id = m.id and r.status in ('queued', 'running', 'review'))
     order by m.due_at, m.id`,
  );
  return rows.map(({ id }: { id: string }) => id);
}

/** Lets no scheduled run of the mapping wait any more. */
export async function forgetDue(sql: Sql, mappingId: string): Promise<void> {
  await sql('itsm_mappings').where({ id: mappingId }).update({ due_at: null });
}
