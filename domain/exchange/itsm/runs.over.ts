import type { Sql } from '../../../platform/database.ts';

/**
 * Why the job of a run has nothing left to do, with what to do instead; null while the run goes on with it. A run ends
 * with its job: what it had read is thrown away, and the next run looks at what it has left open.
 */
export async function whyRunIsOver(sql: Sql, runId: string, jobId: string): Promise<string | null> {
  const { rows } = await sql.raw('select mapping_id, job_id, status, undo_of from itsm_runs where id = ?', [
    runId,
  ]);
  const [run] = rows;
  if (!run) return 'The run of this job is gone.';
  if (['queued', 'running'].includes(run.status)) {
    return run.job_id === jobId ? null : `Another job carries the run: ${run.job_id}.`;
  }
  const over = run.status === 'review' ? 'Its plan waits for review' : `It has ended as ${run.status}`;
  return `The run of this job cannot go on. ${over}; ${nextStep(runId, run)}`;
}

interface Over {
  mapping_id: string | null;
  status: string;
  undo_of: string | null;
}

function nextStep(runId: string, { mapping_id, status, undo_of }: Over): string {
  if (status === 'review') return `apply it: POST /api/v1/itsm-sync/sync/runs/${runId}/apply.`;
  if (mapping_id === null) return 'its mapping is gone as well.';
  if (undo_of !== null) return `take the run back again: POST /api/v1/itsm-sync/sync/runs/${undo_of}/undo.`;
  return `start another one, which looks at what this one has left open: POST /api/v1/itsm-sync/sync/run/${mapping_id}.`;
}
