import { embed, query, type Sql } from '../../../platform/database.ts';

/** Retention of archives and their staged rows. */
export const RETENTION_DAYS = 30;
/** SQL of whether the job of a transfer was cancelled or failed without updating the transfer. */
export const ENDED = `t.status in ('parsing', 'applying') and exists (
  select from jobs j where j.id = t.job_id and j.status in ('cancelled', 'failed'))`;

/** Deletes the rows that a transfer has staged. */
export async function unstage(sql: Sql, transferId: string): Promise<void> {
  await sql('workspace_transfer_rows').where({ transfer_id: transferId }).delete();
  await sql('workspace_transfer_ids').where({ transfer_id: transferId }).delete();
}

/** Deletes transfers that were not continued, like their archives. @returns how many. */
export async function removeOldTransfers(sql: Sql, limit: number): Promise<number> {
  // rows of transfers that were discarded while they were read
  for (const table of ['workspace_transfer_rows', 'workspace_transfer_ids']) {
    await query(sql).run`delete from ${embed(table)} r
      where not exists (select from workspace_transfers t where t.id = r.transfer_id)`;
  }
  const rows = await query(sql).rows`select t.id from workspace_transfers t
    where t.created_at < now() - make_interval(days => ${embed(RETENTION_DAYS)})
       and not (t.status in ('parsing', 'applying') and not (${embed(ENDED)})) limit ${limit}`;
  for (const { id } of rows) await unstage(sql, id);
  const ids = rows.map(({ id }: { id: string }) => id);
  await sql('workspace_transfers').whereIn('id', ids).delete();
  return rows.length;
}
