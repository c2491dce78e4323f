import { exportJob } from '../../../domain/exchange/exports/export.job.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { missingResult } from '../../../domain/kernel/jobs/jobs.download.ts';
import { visibleJobs } from '../../../domain/kernel/jobs/jobs.queries.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Manifest } from './extraction.manifest.ts';

/**
 * The manifest of an export job.
 * @throws EstateError `not_found` for no visible export, `job_result_missing` before it has ended well.
 */
export async function readManifest(ctx: Ctx, jobId: string): Promise<Manifest> {
  const [visible] = visibleJobs(ctx);
  const { rows } = await ctx.db.raw(
    `select j.status, j.result from jobs j where j.id = ? and j.kind = ?${visible ? ` and ${visible.sql}` : ''}`,
    [jobId, exportJob.kind, ...(visible?.bindings ?? [])] as never,
  );
  if (!rows[0]) throw notFound('export', jobId);
  if (!rows[0].result) throw missingResult(jobId, rows[0].status);
  return rows[0].result;
}
