import { Readable } from 'node:stream';
import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { recordFile, storeContent } from '../../../domain/kernel/files/files.store.ts';
import type { RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { inTransaction } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { type MadeExport, makeExport } from '../extraction/exports.job.ts';
import { manifestOf } from '../extraction/extraction.manifest.ts';
import { runNames } from './extraction-runs.names.ts';
import type { ExtractionRun } from './extraction-runs.store.ts';

/**
 * Writes the file of a run and its manifest, unless an earlier attempt of the job has. Both are recorded in one
 * transaction with the run, so that retries deliver the same snapshot.
 */
export async function makeRunFiles(
  job: RunningJob,
  services: Services,
  ctx: Ctx,
  run: ExtractionRun,
): Promise<ExtractionRun & { file_id: string; manifest_id: string }> {
  const { file_id, manifest_id } = run;
  if (file_id !== null && manifest_id !== null) return { ...run, file_id, manifest_id };
  const made = await extract(job, services, ctx, run);
  const names = runNames(run.request, run.slot);
  const { content, facts, written } = made;
  const described = manifestOf(written, { ...content, name: names.file });
  const manifest = {
    schedule: { id: run.schedule_id, name: run.schedule_name },
    run_id: run.id,
    slot: run.slot.toISOString(),
    ...described,
    file: { ...described.file, media_type: facts.mediaType },
  };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  const manifestContent = await storeContent(services.blobs, Readable.from([Buffer.from(text)]));
  return await inTransaction(services.db, async (sql) => {
    const file = await recordFile(sql, content, { ...facts, name: names.file });
    const stored = await recordFile(sql, manifestContent, {
      ...facts,
      mediaType: 'application/json',
      name: names.manifest,
    });
    await sql('extraction_runs').where({ id: run.id }).update({
      file_id: file.id,
      manifest_id: stored.id,
      rows: made.rows,
      bytes: file.size,
      sha256: file.sha256,
      after_position: described.after,
      position: described.position,
    });
    await job.checkpoint(
      { sql },
      { progress: 0.5, message: `${made.rows} rows extracted, delivery pending` },
    );
    return { ...run, file_id: file.id, manifest_id: stored.id };
  });
}

/** Extracts the changes since the last delivered run; everything if events since then are no longer stored. */
async function extract(
  job: RunningJob,
  services: Services,
  ctx: Ctx,
  { request, after }: ExtractionRun,
): Promise<MadeExport> {
  const make = (wanted: ExportRequest) =>
    makeExport(services, ctx, wanted, {
      signal: job.signal,
      onRows: (rows, share) => job.progress(share / 2, `${rows} rows`, { rows }),
    });
  if (after === null) return await make(request);
  return await make({ ...request, after }).catch((error) => {
    if (!(error instanceof EstateError) || error.code !== 'position_expired') throw error;
    return make(request);
  });
}
