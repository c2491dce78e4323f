import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { recordFile, type StoredContent } from '../../kernel/files/files.store.ts';
import { enqueueJob, type StartedJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { type ArchimateImport, archimateImportJob } from './archimate.jobs.ts';

const UPLOAD_MS = 97 * 86_400_000;

/** The permissions that an import of a model needs. @throws EstateError `forbidden` naming the first missing one. */
export function requireModelRights({ caller }: Ctx, { mode }: Pick<ArchimateImport, 'mode'>): void {
  requirePermission(caller, 'inventory.create');
  if (mode === 'upsert') requirePermission(caller, 'inventory.edit');
  requirePermission(caller, 'relations.manage');
  requirePermission(caller, 'diagrams.manage');
}

/** Starts a job that imports an uploaded model. @throws EstateError `forbidden`. */
export async function startModelImport(
  ctx: Ctx,
  content: StoredContent,
  options: Omit<ArchimateImport, 'file_id'>,
): Promise<StartedJob> {
  requireModelRights(ctx, options);
  return await command(ctx, async (work) => {
    await recordFile(work.sql, content, {
      name: 'model.xml',
      mediaType: 'application/xml',
      ownerId: ctx.caller.userId,
      withCosts: true,
      needs: [],
      expiresAt: new Date(Date.now() + UPLOAD_MS),
    });
    const job = await enqueueJob(ctx, work, archimateImportJob, { ...options, file_id: content.id });
    const { size, sha256 } = content;
    work.emit({
      event_type: 'import.started',
      data: { ...options, format: 'archimate', import_job_id: job.job_id, size, sha256 },
    });
    return job;
  });
}
