import type { Sql } from '../../../platform/database.ts';

export interface JobFigure {
  kind: string;
  status: string;
  count: number;
}

/** How many jobs of each kind are in each state; finished ones for as long as they are kept. */
export async function countJobs(sql: Sql): Promise<JobFigure[]> {
  return await sql('jobs').select('kind', 'status').count({ count: '*' }).groupBy('kind', 'status');
}

/** The age in seconds of the oldest job that is due and not yet started; 0 when none waits. */
export async function oldestWaitingSeconds(sql: Sql): Promise<number> {
  const { rows } = await sql.raw(
    `select coalesce(extract(epoch from now() - min(run_after)), 0)::double precision as seconds
     from jobs where status = 'queued' and run_after <= now()`,
  );
  return rows[0].seconds;
}
