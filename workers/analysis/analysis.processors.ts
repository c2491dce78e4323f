import { scan } from '../../domain/analysis/compliance/scans.run.ts';
import { analyseModernizations } from '../../domain/analysis/modernizations/modernizations.run.ts';
import {
  type ActiveRun,
  type AnalysisJob,
  abortRun,
  complianceScanJob,
  duplicatesJob,
  lockRun,
  modernizationsJob,
  resumeRun,
  vendorHierarchyJob,
  vendorsJob,
} from '../../domain/analysis/runs/runs.ts';
import type { analysisPayload } from '../../domain/analysis/runs/runs.types.ts';
import { command } from '../../domain/kernel/command.ts';
import type { JobDefinition } from '../../domain/kernel/jobs/jobs.define.ts';
import {
  type JobEndTransaction,
  type JobProcessor,
  processes,
} from '../../domain/kernel/jobs/jobs.running.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { findDuplicateCards } from '../../integrations/analysis/duplicates/run.ts';
import { createCardReader } from '../../integrations/analysis/models/read-compliance.ts';
import { analyseSuppliers } from '../../integrations/analysis/suppliers/suppliers.run.ts';

/**
 * The processor of an analysis: starts its run, and ends it together with the job.
 * @param analyse stores its results in a command whose last call is `run.finish`. It yields between steps (`breathe`),
 * so that a cancelled run stops within two seconds, and resumes from `job.resume` after its worker crashed.
 */
export function processesAnalysis(
  definition: JobDefinition<typeof analysisPayload>,
  analyse: (job: AnalysisJob, run: ActiveRun, services: Services) => Promise<void>,
): JobProcessor {
  return processes(
    definition,
    async (job: AnalysisJob, services) => {
      const run = await command(job.ctx, (work) => resumeRun(work, job));
      await analyse(job, run, services);
      // the job ended with the run
      return {};
    },
    (work, { id, payload, error }) =>
      endRun(work, payload.run_id, id, {
        status: 'failed',
        error_code: error.code,
        error_message: error.message,
      }),
    (work, { id, payload }) => endRun(work, payload.run_id, id, { status: 'cancelled' }),
  );
}

/** Ends the run of a job without results, unless it has ended or has another job. */
async function endRun(
  work: JobEndTransaction,
  runId: string,
  jobId: string,
  end: Parameters<typeof abortRun>[2],
): Promise<void> {
  const run = await lockRun(work.sql, runId);
  if (run.status === 'running' && run.job_id === jobId) await abortRun(work, run.id, end);
}

/** The processors of all analyses. */
export const analysisProcessors: JobProcessor[] = [
  processesAnalysis(complianceScanJob, (job, run, services) =>
    scan(job, run, (before) => createCardReader(services, run.id, job.signal, before)),
  ),
  processesAnalysis(vendorsJob, (job, run, services) => analyseSuppliers(services, job, run, 'categories')),
  processesAnalysis(vendorHierarchyJob, (job, run, services) =>
    analyseSuppliers(services, job, run, 'hierarchy'),
  ),
  processesAnalysis(modernizationsJob, analyseModernizations),
  processesAnalysis(duplicatesJob, findDuplicateCards),
];
