import type { Static, TSchema } from 'typebox';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { recordFile, type StoredContent } from '../../kernel/files/files.store.ts';
import type { JobDefinition } from '../../kernel/jobs/jobs.define.ts';
import { enqueueJob, type StartedJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { RESUME_DAYS } from './imports.cards.stage.ts';

const DAY_MS = 86_400_000;
/** The file of a successful job is deleted at its end; this is for jobs that were abandoned. */
const UPLOAD_DAYS = 90 + RESUME_DAYS;

/**
 * Records an uploaded file, and starts the job that imports it.
 * @param options the payload of the job, without `file_id`.
 * @param facts further members of the event.
 */
export async function startFileJob<P extends TSchema>(
  ctx: Ctx,
  content: StoredContent,
  file: { name: string; mediaType: string },
  job: JobDefinition<P>,
  options: Omit<Static<P>, 'file_id'>,
  facts: object = {},
): Promise<StartedJob> {
  return await command(ctx, async (work) => {
    await recordFile(work.sql, content, {
      ...file,
      ownerId: ctx.caller.userId,
      withCosts: true,
      needs: [],
      expiresAt: new Date(Date.now() + UPLOAD_DAYS * DAY_MS),
    });
    const started = await enqueueJob<TSchema>(ctx, work, job, { ...options, file_id: content.id });
    const { size, sha256 } = content;
    work.emit({
      event_type: 'import.started',
      data: { ...options, ...facts, import_job_id: started.job_id, size, sha256 },
    });
    return started;
  });
}
