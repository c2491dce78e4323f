import type { Ctx } from '../../domain/context.ts';
import { readFile, type StoredFile } from '../../domain/files/files.store.ts';
import { notFound } from '../../platform/errors.ts';
import { requireVisible } from './extraction-schedules.queries.ts';

/** What a run has made. */
export type RunFile = 'file' | 'manifest';

/**
 * A file of a run.
 * @throws EstateError `not_found` for no visible run and for one without files (any more), `forbidden` as {@link readFile}.
 */
export async function runFile(ctx: Ctx, id: string, runId: string, which: RunFile): Promise<StoredFile> {
  await requireVisible(ctx, id);
  const run = await ctx
    .db('extraction_runs')
    .where({ id: runId, schedule_id: id })
    .whereNull('removed_at')
    .first('file_id', 'manifest_id');
  const fileId = which === 'file' ? run?.file_id : run?.manifest_id;
  if (!fileId) throw notFound('file of the run', runId);
  return await readFile(ctx, fileId);
}
