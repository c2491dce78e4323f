import { callerOfOwner } from '../domain/access/jobs.owner.ts';
import { scheduledExtractionJob } from '../domain/exchange/exports/export.job.ts';
import type { Ctx } from '../domain/kernel/context.ts';
import { type JobResult, processes, type RunningJob } from '../domain/kernel/jobs/jobs.running.ts';
import { createContext, type Services } from '../domain/kernel/services.ts';
import { inTransaction } from '../platform/database.ts';
import { failRun, succeedRun } from '../reports/exchange/schedules/extraction-runs.finish.ts';
import { makeRunFiles } from '../reports/exchange/schedules/extraction-runs.make.ts';
import {
  beginRun,
  type ExtractionRun,
  lockFailedRun,
} from '../reports/exchange/schedules/extraction-runs.store.ts';
import { SCHEDULE_PERMISSION } from '../reports/exchange/schedules/extraction-schedules.queries.ts';
import { deliverFiles } from './extraction/extraction.deliver.ts';
import { mailRun, requireMailServer } from './extraction/extraction.mail.ts';
import { removeOutdated } from './extraction/extraction.retention.ts';
import { storageOf } from './extraction/extraction.storage.ts';

type Job = RunningJob<{ schedule_id: string }>;

/** One run of an extraction schedule: creates the file, delivers it, and applies the retention. */
export const scheduledExtractionProcessor = processes(
  scheduledExtractionJob,
  async (job: Job, services) => {
    const run = await inTransaction(services.db, async (sql) => {
      const begun = await beginRun(sql, { id: job.id, slot: job.slot, scheduleId: job.payload.schedule_id });
      await job.checkpoint({ sql }, {});
      return begun;
    });
    if (!run) return { message: 'the schedule is gone', result: null };
    const result = await carryOut(job, services, run);
    await removeOutdated(services, run.schedule_id).catch((error) =>
      job.ctx.log.warn({ err: error }, 'old files of the extraction could not be removed'),
    );
    return result;
  },
  async ({ sql }, { id, slot, payload, ctx, error, begun }) => {
    const run = await lockFailedRun(sql, { id, slot, scheduleId: payload.schedule_id });
    // A missing right pauses the schedule, unless it is a right of the user who started this run.
    if (run) await failRun(sql, ctx, run, error, begun && error.code === 'forbidden');
  },
);

async function carryOut(job: Job, services: Services, run: ExtractionRun): Promise<JobResult> {
  const ctx = await ownerContext(job, services, run);
  const { destination } = run;
  if (destination.kind === 'mail') await requireMailServer(services.db);
  const made = await makeRunFiles(job, services, ctx, run);
  const storage = await storageOf(services, { ...run, id: run.schedule_id });
  try {
    if (storage) await deliverFiles(services, storage, made, job.signal);
  } finally {
    storage?.close();
  }
  return await inTransaction(services.db, async (sql) => {
    if (destination.kind === 'mail') await mailRun(sql, job.ctx, made, destination.recipients);
    const result: JobResult = { result: { schedule_id: run.schedule_id, run_id: run.id } };
    await job.finish({ sql }, result);
    await succeedRun(sql, job.ctx, run);
    return result;
  });
}

/** Acts as the schedule's owner. @throws OwnerRefused if the owner may no longer extract. */
async function ownerContext(job: Job, services: Services, run: ExtractionRun): Promise<Ctx> {
  const caller = await callerOfOwner(services.db, run, 'schedule', [SCHEDULE_PERMISSION]);
  return await createContext(services, caller, {
    requestId: job.ctx.requestId,
    origin: 'job',
    tool: `job ${job.kind}`,
    jobId: job.id,
  });
}
