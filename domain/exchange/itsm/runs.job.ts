import Type from 'typebox';
import { query, type Sql } from '../../../platform/database.ts';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';

/**
 * Executes a run: from its start to its plan, and from an approved plan to its end. If the remote is not available, the job is
 * retried for about half an hour.
 */
export const itsmRunJob = defineJob({
  kind: 'itsm_run',
  queue: 'sync',
  payload: Type.Object({ run_id: Type.String({ format: 'uuid' }) }, { additionalProperties: false }),
  // delays of 2, 4, ... 512 and 600 seconds
  attempts: 11,
  longestWaitSeconds: 600,
  resumable: true,
  // also for runs that a schedule, a change or another user started
  watchedWith: 'itsm_sync.view',
  whyNotAgain: (sql, { id, payload }) => whyNotResumable(sql, payload.run_id, id),
});

/**
 * Why the job of a run cannot resume, with what to do instead; null if it can. A run ends with its job: its observed records
 * are deleted, and the next run reads the records again that it had not finished.
 */
async function whyNotResumable(sql: Sql, runId: string, jobId: string): Promise<string | null> {
  const rows = await query(sql)
    .rows`select mapping_id, job_id, status, undo_of from itsm_runs where id = ${runId}`;
  const [run] = rows;
  if (!run) return 'The run of this job was deleted.';
  if (['queued', 'running'].includes(run.status)) {
    return run.job_id === jobId ? null : `Another job executes the run: ${run.job_id}.`;
  }
  const state = run.status === 'review' ? 'Its plan is in review' : `Its status is ${run.status}`;
  return `The run of this job cannot resume. ${state}; ${nextStep(runId, run)}`;
}

interface EndedRun {
  mapping_id: string | null;
  status: string;
  undo_of: string | null;
}

function nextStep(runId: string, { mapping_id, status, undo_of }: EndedRun): string {
  if (status === 'review') return `apply it: POST /api/v1/itsm-sync/sync/runs/${runId}/apply.`;
  if (mapping_id === null) return 'its mapping was deleted as well.';
  if (undo_of !== null) return `undo the run again: POST /api/v1/itsm-sync/sync/runs/${undo_of}/undo.`;
  return `start another run, which also handles what this run left unfinished: POST /api/v1/itsm-sync/sync/run/${mapping_id}.`;
}

/** Starts the scheduled run of a mapping, or defers it while another run is open. */
export const itsmScheduleJob = defineJob({
  kind: 'itsm_schedule',
  queue: 'routine',
  payload: Type.Object({ mapping_id: Type.String({ format: 'uuid' }) }, { additionalProperties: false }),
  attempts: 5,
  retentionDays: 7,
  resumable: false,
});
