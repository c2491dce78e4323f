import type { Sql } from '../../../platform/database.ts';
import type { TokenScope } from '../permissions/permissions.data.ts';

/** What has become of a job, for its owner's stream. */
export interface JobState {
  job_id: string;
  owner_id: string | null;
  /** The scopes within which it runs; null: unbounded. */
  scopes: TokenScope[] | null;
  kind: string;
  status: string;
  outcome: string | null;
  /** 0 to 1. */
  progress: number;
  message: string | null;
  counts: Record<string, number> | null;
}

/** The present state of jobs. */
export async function readJobStates(sql: Sql, ids: string[]): Promise<JobState[]> {
  return await sql('jobs')
    .whereIn('id', ids)
    .select('id as job_id', 'owner_id', 'kind', 'status', 'outcome', 'progress', 'message', 'counts', {
      scopes: sql.raw(`rights -> 'scopes'`),
    });
}
