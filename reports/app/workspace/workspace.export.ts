import type { Writable } from 'node:stream';
import { type WorkspaceExport, workspaceExportJob } from '../../../domain/app/workspace/workspace.jobs.ts';
import { readShapes, schemaVersion } from '../../../domain/app/workspace/workspace.schema.ts';
import { contentTables } from '../../../domain/app/workspace/workspace.tables.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { recordFile, storeWritten } from '../../../domain/kernel/files/files.store.ts';
import { enqueueJob, type StartedJob } from '../../../domain/kernel/jobs/jobs.enqueue.ts';
import type { JobResult, RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { readSetting } from '../../../domain/kernel/settings/settings.read.ts';
import { inTransaction } from '../../../platform/database.ts';
import { type Snapshot, withSnapshot } from '../../../platform/snapshot.ts';
import type { StartedStream } from '../../exchange/extraction/exports.stream.ts';
import { snapshotPosition } from '../../exchange/extraction/extraction.plan.ts';
import { type ArchiveFacts, writeArchive } from './workspace.archive.write.ts';

const ZIP = 'application/zip';

/**
 * Whoever takes the whole workspace along takes its costs as well.
 * @throws EstateError `forbidden`.
 */
function requireRights({ caller }: Ctx): void {
  requirePermission(caller, 'admin.export_workspace');
  requirePermission(caller, 'costs.view');
}

const nameOf = (moment: Date): string => `estate-workspace-${moment.toISOString().slice(0, 10)}.zip`;

async function factsOf(
  { db }: Services,
  snapshot: Snapshot,
  { include_archived }: WorkspaceExport,
): Promise<ArchiveFacts> {
  return {
    shapes: await readShapes(db, contentTables),
    schema: await schemaVersion(db),
    position: await snapshotPosition(snapshot),
    sourceUrl: (await readSetting(db, 'email')).app_base_url || null,
    includeArchived: include_archived,
  };
}

/**
 * Starts to write the whole workspace into `out`, from one snapshot, and answers as soon as rows flow. A failure on the way
 * destroys `out`: a zip without its end is none.
 * @throws EstateError `forbidden`, before anything is written.
 */
export async function streamWorkspace(
  services: Services,
  ctx: Ctx,
  request: WorkspaceExport,
  out: Writable,
): Promise<StartedStream> {
  requireRights(ctx);
  // known before the first row goes out
  await command(ctx, async ({ emit }) =>
    emit({ event_type: 'export.streamed', data: { format: 'workspace', ...request } }),
  );
  let flows = false;
  return await new Promise<StartedStream>((resolve, reject) => {
    withSnapshot(services.db, async (snapshot) => {
      const facts = await factsOf(services, snapshot, request);
      flows = true;
      resolve({ name: nameOf(new Date()), mediaType: ZIP, position: facts.position });
      await writeArchive(snapshot, services.blobs, facts, out);
    }).catch((error: unknown) => {
      if (flows) out.destroy(error as Error);
      else reject(error);
    });
  });
}

/** Asks for the archive as a job. @throws EstateError `forbidden`. */
export async function startWorkspaceExport(ctx: Ctx, request: WorkspaceExport): Promise<StartedJob> {
  requireRights(ctx);
  return await command(ctx, async (work) => {
    const job = await enqueueJob(ctx, work, workspaceExportJob, request);
    work.emit({
      event_type: 'export.started',
      data: { ...request, format: 'workspace', export_job_id: job.job_id },
    });
    return job;
  });
}

/** Writes the archive as the job's file. */
export async function runWorkspaceExport(
  job: RunningJob<WorkspaceExport>,
  services: Services,
): Promise<JobResult> {
  const { ctx, payload, signal } = job;
  requireRights(ctx);
  return await withSnapshot(services.db, async (snapshot) => {
    const facts = await factsOf(services, snapshot, payload);
    const { content, written: manifest } = await storeWritten(services.blobs, (out) =>
      writeArchive(snapshot, services.blobs, facts, out, signal),
    );
    const counts = Object.fromEntries(
      manifest.files.flatMap(({ kind, rows }) => (kind && rows ? [[kind, rows]] : [])),
    );
    return await inTransaction(services.db, async (sql) => {
      const file = await recordFile(sql, content, {
        name: nameOf(new Date()),
        mediaType: ZIP,
        ownerId: ctx.caller.userId,
        withCosts: true,
        needs: ['admin.export_workspace'],
        expiresAt: null,
      });
      const done: JobResult = {
        fileId: file.id,
        counts,
        result: {
          position: facts.position,
          format_version: manifest.format_version,
          include_archived: payload.include_archived,
          parts: manifest.files.length,
          size: file.size,
          sha256: file.sha256,
        },
      };
      await job.finish({ sql }, done);
      return done;
    });
  });
}
