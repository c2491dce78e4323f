import Type from 'typebox';
import type { Sql } from '../../../platform/database.ts';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';

/**
 * Carries a run of the synchronisation on: from its beginning to its plan, and from an approved plan to its end. A
 * remote that is away is waited for, for about half an hour.
 */
export const itsmRunJob = defineJob({
  kind: 'itsm_run',
  queue: 'bulk',
  payload: Type.Object({ run_id: Type.String({ format: 'uuid' }) }, { additionalProperties: false }),
  // waits of 2 to 512 seconds, each twice as long as the one before, and one of 600
  attempts: 11,
  longestWaitSeconds: 600,
  resumable: true,
  // also of runs that a schedule, a change or somebody else has started
  watchedWith: 'itsm_sync.view',
  whyNotAgain: (sql, { id, payload }) => whyNotResumable(sql, payload.run_id, id),
});

/**
 * Why the job of a run has nothing left to do, with what to do instead; null while the run goes on with it. A run ends
 * with its job: what it had read is thrown away, and the next run looks at what it has left open.
 */
async function whyNotResumable(sql: Sql, runId: string, jobId: string): Promise<string | null> {
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

/** A slot in the schedule of a mapping has come: starts its run, unless one is not over. */
export const itsmScheduleJob = defineJob({
  kind: 'itsm_schedule',
  queue: 'routine',
  payload: Type.Object({ mapping_id: Type.String({ format: 'uuid' }) }, { additionalProperties: false }),
  attempts: 5,
  retentionDays: 7,
  resumable: false,
});
