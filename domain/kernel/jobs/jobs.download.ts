import { EstateError, notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../context.ts';
import { readFile, type StoredFile } from '../files/files.store.ts';
import { ownRows } from './jobs.enqueue.ts';
import { visibleJobs } from './jobs.queries.ts';

/**
 * The file that a job has made.
 * @throws EstateError `not_found` for no visible job, `job_result_missing` when it has no file or the file has
 * expired, `forbidden` as {@link readFile}.
 */
export async function resultFile(ctx: Ctx, jobId: string): Promise<StoredFile> {
  const own = ownRows(ctx.caller, 'j');
  const [visible] = visibleJobs(ctx);
  const { rows } = await ctx.db.raw(
    `select j.status, f.id as file_id, (${own.sql}) is true as own
     from jobs j left join files f on f.id = j.result_file_id and (f.expires_at is null or f.expires_at > now())
     where j.id = ?${visible ? ` and ${visible.sql}` : ''}`,
    [...own.bindings, jobId, ...(visible?.bindings ?? [])],
  );
  if (!rows[0]) throw notFound('job', jobId);
  if (!rows[0].file_id) throw missingResult(jobId, rows[0].status);
  return await readFile(ctx, rows[0].file_id, rows[0].own);
}

export function missingResult(jobId: string, status: string): EstateError {
  const why = status === 'succeeded' ? 'it made none, or the file has expired' : `its status is ${status}`;
  return new EstateError('job_result_missing', `There is no file of the job ${jobId}: ${why}.`);
}
