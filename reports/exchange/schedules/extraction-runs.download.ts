import type { Ctx } from '../../../domain/kernel/context.ts';
import { readFile, type StoredFile } from '../../../domain/kernel/files/files.store.ts';
import { ownRows } from '../../../domain/kernel/jobs/jobs.enqueue.ts';
import { notFound } from '../../../platform/errors.ts';
import { requireVisible } from './extraction-schedules.queries.ts';

/** The files of a run. */
export type RunFile = 'file' | 'manifest';

/**
 * Opens a file of a run.
 * @throws EstateError `not_found` if the run is not visible or has no files (any more), `forbidden` as {@link readFile}.
 */
export async function runFile(ctx: Ctx, id: string, runId: string, which: RunFile): Promise<StoredFile> {
  await requireVisible(ctx, id);
  const own = ownRows(ctx.caller, 'e');
  const run = await ctx
    .db('extraction_runs as r')
    .join('extraction_schedules as e', 'e.id', 'r.schedule_id')
    .where({ 'r.id': runId, 'r.schedule_id': id })
    .whereNull('r.removed_at')
    .first('r.file_id', 'r.manifest_id', {
      own: ctx.db.raw(`(${own.sql}) is true`, own.bindings),
    });
  const fileId = which === 'file' ? run?.file_id : run?.manifest_id;
  if (!fileId) throw notFound('file of the run', runId);
  return await readFile(ctx, fileId, run.own);
}
