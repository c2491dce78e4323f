import type { Sql } from '../../../platform/database.ts';

/** Why a job of a migration must not run again; null where it may. */
export async function whyMigrationIsOver(sql: Sql, id: string, jobId: string): Promise<string | null> {
  const row = await sql('migrations').where({ id }).first('job_id', 'status');
  if (!row) return 'The migration was deleted.';
  if (row.job_id === jobId && ['uploaded', 'parsed', 'applying'].includes(row.status)) return null;
  return 'The migration has gone on meanwhile.';
}
