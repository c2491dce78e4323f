import { Readable } from 'node:stream';
import type { Ctx } from '../../domain/context.ts';
import { recordFile, storeContent } from '../../domain/files/files.store.ts';
import type { RunningJob } from '../../domain/jobs/jobs.running.ts';
import type { Services } from '../../domain/services.ts';
import { inTransaction } from '../../platform/database.ts';
import { makeExport } from '../extraction/exports.make.ts';
import { runNames } from './extraction-runs.names.ts';
import { type ExtractionRun, noteMade } from './extraction-runs.store.ts';

/**
 * Makes the file of a run and its manifest, unless an earlier try of the job has. Both are recorded in one transaction
 * with the run, so that what is delivered is one moment, however often the job is broken off.
 */
export async function makeRunFiles(
  job: RunningJob,
  services: Services,
  ctx: Ctx,
  run: ExtractionRun,
): Promise<ExtractionRun & { file_id: string; manifest_id: string }> {
  const { file_id, manifest_id } = run;
  if (file_id !== null && manifest_id !== null) return { ...run, file_id, manifest_id };
  const made = await makeExport(services, ctx, run.request, {
    signal: job.signal,
    onRows: (written, total) =>
      job.progress(total === 0 ? 0.5 : written / total / 2, `${written} of ${total} rows`, {
        rows: written,
        total,
      }),
  });
  const names = runNames(run.request, run.slot);
  const { content, facts } = made;
  const manifest = {
    schedule: { id: run.schedule_id, name: run.schedule_name },
    run_id: run.id,
    slot: run.slot.toISOString(),
    made_at: new Date().toISOString(),
    ...made.result,
    request: run.request,
    file: { name: names.file, media_type: facts.mediaType, size: content.size, sha256: content.sha256 },
  };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  const manifestContent = await storeContent(services.blobs, Readable.from([Buffer.from(text)]));
  return await inTransaction(services.db, async (sql) => {
    const file = await recordFile(sql, content, { ...facts, name: names.file });
    const described = await recordFile(sql, manifestContent, {
      ...facts,
      mediaType: 'application/json',
      name: names.manifest,
    });
    await noteMade(sql, run.id, {
      fileId: file.id,
      manifestId: described.id,
      rows: made.rows,
      bytes: file.size,
      sha256: file.sha256,
      position: made.result.position,
    });
    await job.checkpoint({ sql }, { progress: 0.5, message: `${made.rows} rows, to be delivered` });
    return { ...run, file_id: file.id, manifest_id: described.id };
  });
}
