import type { BlobStore } from '../../../platform/blobs.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { openContent, recordFile, type StoredContent } from '../../kernel/files/files.store.ts';
import { enqueueJob, type StartedJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { type ImportPayload, importJob } from './imports.job.ts';
import { requireImportRights } from './imports.rights.ts';
import { readSource } from './imports.source.ts';
import { RESUME_DAYS } from './imports.staging.ts';

export type ImportOptions = Omit<ImportPayload, 'file_id'>;

const DAY_MS = 86_400_000;
/** The file of a successful job is deleted at its end; this is for jobs that were abandoned. */
const UPLOAD_DAYS = 90 + RESUME_DAYS;
const mediaTypes = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

/**
 * Checks the header of an uploaded file and starts a job that imports it.
 * @throws EstateError `forbidden`, `validation_failed` naming each invalid column.
 */
export async function startImport(
  ctx: Ctx,
  blobs: BlobStore,
  content: StoredContent,
  options: ImportOptions,
): Promise<StartedJob> {
  requireImportRights(ctx, options);
  await checkHead(ctx, blobs, content, options);
  return await command(ctx, async (work) => {
    await recordFile(work.sql, content, {
      name: `import.${options.format}`,
      mediaType: mediaTypes[options.format],
      ownerId: ctx.caller.userId,
      withCosts: true,
      needs: [],
      expiresAt: new Date(Date.now() + UPLOAD_DAYS * DAY_MS),
    });
    const job = await enqueueJob(ctx, work, importJob, { ...options, file_id: content.id });
    work.emit({
      event_type: 'import.started',
      data: { ...options, import_job_id: job.job_id, size: content.size, sha256: content.sha256 },
    });
    return job;
  });
}

/** Reads as much of the file as its first row needs. */
async function checkHead(
  ctx: Ctx,
  blobs: BlobStore,
  content: StoredContent,
  options: ImportOptions,
): Promise<void> {
  const stream = await openContent(blobs, content.id);
  try {
    await readSource(stream, ctx.metamodel, options.kind, options, 1).next();
  } finally {
    stream.destroy();
  }
}
