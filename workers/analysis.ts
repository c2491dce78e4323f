import { type ActiveRun, type AnalysisJob, resumeRun } from '../domain/analysis/runs/runs.execute.ts';
import { abortRun, lockRun } from '../domain/analysis/runs/runs.store.ts';
import type { AnalysisOutcome, analysisPayload } from '../domain/analysis/runs/runs.types.ts';
import { command, recordEvents } from '../domain/kernel/command.ts';
import { systemCaller } from '../domain/kernel/context.ts';
import type { EventDraft } from '../domain/kernel/events/events.types.ts';
import type { JobDefinition } from '../domain/kernel/jobs/jobs.define.ts';
import {
  JobCancelled,
  type JobProcessor,
  JobStopped,
  processes,
} from '../domain/kernel/jobs/jobs.running.ts';
import { createContext, type Services } from '../domain/kernel/services.ts';

/**
 * Carries out an analysis: begins its run, and ends it however the job ends.
 * @param carry does the work. It stores what it found in a command that calls `run.finish` last, and then answers
 * nothing; or answers the outcome where there is nothing to store. It gives way between steps (`breathe`), so that a
 * cancelled run stops within two seconds, and goes on from `job.resume` after a worker's end.
 */
export function processesAnalysis(
  definition: JobDefinition<typeof analysisPayload>,
  carry: (job: AnalysisJob, run: ActiveRun, services: Services) => Promise<AnalysisOutcome | undefined>,
): JobProcessor {
  return processes(
    definition,
    async (job: AnalysisJob, services) => {
      try {
        const run = await command(job.ctx, (work) => resumeRun(work, job));
        const outcome = await carry(job, run, services);
        if (outcome) await command(job.ctx, (work) => run.finish(work, outcome));
        // the job ended with the run
        return {};
      } catch (error) {
        const reason = error instanceof JobStopped ? error : (job.signal.reason ?? error);
        if (reason instanceof JobCancelled) await endCancelled(job, services);
        throw reason;
      }
    },
    async ({ sql }, { id, payload, ctx, error }) => {
      const run = await lockRun(sql, payload.run_id);
      if (run.status !== 'running' || run.job_id !== id) return;
      const events: EventDraft[] = [];
      await abortRun({ sql, emit: (event) => void events.push(event) }, run.id, {
        status: 'failed',
        error_code: error.code,
        error_message: error.message,
      });
      await recordEvents(sql, ctx, events, []);
    },
  );
}

/** Ends the run whose job was cancelled. */
async function endCancelled({ id, kind, ctx, payload }: AnalysisJob, services: Services): Promise<void> {
  const own = await createContext(services, systemCaller, {
    requestId: ctx.requestId,
    origin: 'system',
    tool: `job ${kind}`,
    jobId: id,
  });
  await command(own, async (work) => {
    const run = await lockRun(work.sql, payload.run_id);
    if (run.status === 'running' && run.job_id === id) await abortRun(work, run.id, { status: 'cancelled' });
  });
}
