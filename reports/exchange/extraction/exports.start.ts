import { type ExportRequest, exportJob } from '../../../domain/exchange/exports/export.job.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { enqueueJob, type StartedJob } from '../../../domain/kernel/jobs/jobs.enqueue.ts';
import { planExtraction } from './extraction.plan.ts';

/** Checks an export and asks for it as a job. @throws EstateError as {@link planExtraction}. */
export async function startExport(ctx: Ctx, request: ExportRequest): Promise<StartedJob> {
  await planExtraction(ctx, request);
  return await command(ctx, async (work) => {
    const job = await enqueueJob(ctx, work, exportJob, request);
    work.emit({ event_type: 'export.started', data: { ...request, export_job_id: job.job_id } });
    return job;
  });
}
