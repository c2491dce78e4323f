import { embed, query, type Sql } from '../../../platform/database.ts';
import { planTable, rowsTable } from './imports.cards.stage.ts';

const tables = [
  ...Object.values(rowsTable),
  ...Object.values(planTable),
  'import_outcomes',
  'import_warnings',
];
const CLEAN_BATCH = 20_000;
/** How long a failed or cancelled import can be resumed. */
export const RESUME_DAYS = 7;

/** Deletes the working data of an import that has ended. */
export async function removeStaged(db: Sql, jobId: string): Promise<void> {
  for (const table of tables) await db(table).where({ job_id: jobId }).delete();
}

/**
 * Deletes a batch of the working data of imports that succeeded, can no longer be resumed, or no longer exist.
 * @returns the number of deleted rows.
 */
export async function removeStale(sql: Sql): Promise<number> {
  let removed = 0;
  for (const table of tables) {
    const rowCount = await query(sql).count`delete from ${embed(table)} where ctid = any(array(
         select t.ctid from ${embed(table)} t left join jobs j on j.id = t.job_id
         where j.id is null or j.status = 'succeeded'
           or (j.status in ('failed', 'cancelled') and j.finished_at < now() - interval '${embed(RESUME_DAYS)} days')
         limit ${embed(CLEAN_BATCH)}))`;
    removed += rowCount as number;
  }
  return removed;
}
