import { openContent } from '../../domain/kernel/files/files.store.ts';
import type { Services } from '../../domain/kernel/services.ts';
import type { OutgoingFile, Storage } from '../../integrations/exchange/storage/storage.types.ts';
import { notFound } from '../../platform/errors.ts';
import { runNames } from '../../reports/exchange/schedules/extraction-runs.names.ts';
import { type ExtractionRun, hasNewerRun } from '../../reports/exchange/schedules/extraction-runs.store.ts';

/**
 * Delivers the files of a run to a storage: the file before the manifest that describes it, and both before they become
 * the latest. Names contain the run's scheduled time, so that a repetition has the same result.
 */
export async function deliverFiles(
  services: Services,
  storage: Storage,
  run: ExtractionRun & { file_id: string; manifest_id: string },
  signal: AbortSignal,
): Promise<void> {
  const file = await outgoing(services, run.file_id);
  const manifest = await outgoing(services, run.manifest_id);
  const { latestFile, latestManifest } = runNames(run.request, run.slot);
  await storage.put(file, signal);
  await storage.put(manifest, signal);
  if (await hasNewerRun(services.db, run)) return;
  await storage.publish(file, latestFile, signal);
  await storage.publish(manifest, latestManifest, signal);
}

async function outgoing({ db, blobs }: Services, id: string): Promise<OutgoingFile> {
  const row = await db('files').where({ id }).first('name', 'media_type', 'size', 'sha256');
  if (!row) throw notFound('file', id);
  return {
    name: row.name,
    mediaType: row.media_type,
    size: Number(row.size),
    sha256: row.sha256,
    open: () => openContent(blobs, id),
  };
}
