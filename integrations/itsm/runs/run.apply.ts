import type { RunRow } from '../../../domain/itsm/runs.types.ts';
import type { JobResult } from '../../../domain/jobs/jobs.running.ts';
import type { RunJob } from './run.begin.ts';
import { finishRun } from './run.finish.ts';

/**
 * Ends a run whose plan is made, and needs nobody's word any more.
 * @param calls how many requests the run has sent so far.
 */
export async function applyStage(job: RunJob, run: RunRow, calls: () => number): Promise<JobResult> {
  return await finishRun(job, run.id, {
    remoteCalls: calls(),
    seconds: run.stats.seconds ?? {},
    findings: 0,
  });
}
