import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { callerOfOwner } from '../../domain/access/jobs.owner.ts';
import { scheduledExtractionJob } from '../../domain/exchange/exports/export.job.ts';
import type { Ctx } from '../../domain/kernel/context.ts';
import { openContent } from '../../domain/kernel/files/files.store.ts';
import { type JobResult, processes, type RunningJob } from '../../domain/kernel/jobs/jobs.running.ts';
import { createContext, type Services } from '../../domain/kernel/services.ts';
import { extractionsFolder, openStorage } from '../../integrations/exchange/storage/storage.open.ts';
import type { OutgoingFile, Storage } from '../../integrations/exchange/storage/storage.types.ts';
import { inTransaction } from '../../platform/database.ts';
import { EstateError, notFound } from '../../platform/errors.ts';
import {
  failRun,
  type OutdatedRun,
  outdatedRuns,
  recordRemoval,
  removeOldRuns,
  schedulesWithFiles,
  succeedRun,
} from '../../reports/exchange/schedules/extraction-runs.finish.ts';
import {
  beginRun,
  type ExtractionRun,
  hasNewerRun,
  lockFailedRun,
  makeRunFiles,
  recordFailedAttempt,
  runNames,
} from '../../reports/exchange/schedules/extraction-runs.store.ts';
import {
  endpointOf,
  secretContext,
} from '../../reports/exchange/schedules/extraction-schedules.destination.ts';
import { SCHEDULE_PERMISSION } from '../../reports/exchange/schedules/extraction-schedules.queries.ts';
import type { StoredDestination } from '../../reports/exchange/schedules/extraction-schedules.types.ts';
import { mailRun, messageRun, requireChannel, requireMailable } from './scheduled-extraction.mail.ts';

type Job = RunningJob<{ schedule_id: string }>;

/** One run of an extraction schedule: creates the file, delivers it, and applies the retention. */
export const scheduledExtractionProcessor = processes(
  scheduledExtractionJob,
  async (job: Job, services) => {
    const run = await inTransaction(services.db, async (sql) => {
      const scheduleId = job.payload.schedule_id;
      const started = await beginRun(sql, { id: job.id, slot: job.slot, scheduleId });
      await job.checkpoint({ sql }, {});
      return started;
    });
    if (!run) return { message: 'the schedule is gone', result: null };
    const result = await carryOut(job, services, run).catch(async (error) => {
      if (error instanceof EstateError) await recordFailedAttempt(services.db, run.id, error);
      throw error;
    });
    await removeOutdated(services, run.schedule_id).catch((error) =>
      job.ctx.log.warn({ err: error }, 'old files of the extraction could not be removed'),
    );
    return result;
  },
  async ({ sql }, { id, slot, payload, ctx, error, isStarted }) => {
    const run = await lockFailedRun(sql, { id, slot, scheduleId: payload.schedule_id });
    // A missing right pauses the schedule, unless it is a right of the user who started this run.
    if (run) await failRun(sql, ctx, run, error, isStarted && error.code === 'forbidden');
  },
);

async function carryOut(job: Job, services: Services, run: ExtractionRun): Promise<JobResult> {
  const ctx = await ownerContext(job, services, run);
  const { destination } = run;
  if (destination.kind === 'mail') await requireMailable(services.db, destination.recipients);
  if (destination.kind === 'channel') await requireChannel(ctx, destination.channel_id);
  const made = await makeRunFiles(job, services, ctx, run);
  const storage = await unlessCancelled(job.signal, storageOf(services, { ...run, id: run.schedule_id }));
  try {
    if (storage) await deliverFiles(services, storage, made, job.signal);
  } finally {
    storage?.close();
  }
  return await inTransaction(services.db, async (sql) => {
    const refused =
      destination.kind === 'mail' ? await mailRun(sql, job.ctx, made, destination.recipients) : [];
    if (destination.kind === 'channel') await messageRun(sql, job.ctx, made, destination.channel_id);
    const result: JobResult = { result: { schedule_id: run.schedule_id, run_id: run.id } };
    await job.finish({ sql }, result);
    await succeedRun(sql, job.ctx, run, refused);
    return result;
  });
}

/** Stops waiting for a login when the job is cancelled; a storage that opens later is closed. */
async function unlessCancelled(
  signal: AbortSignal,
  opening: Promise<Storage | undefined>,
): Promise<Storage | undefined> {
  const cancelled = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
  try {
    return await Promise.race([opening, cancelled]);
  } catch (error) {
    opening.then(
      (storage) => storage?.close(),
      () => undefined,
    );
    throw error;
  }
}

/** Acts as the schedule's owner. @throws OwnerRefused if the owner may no longer extract. */
async function ownerContext(job: Job, services: Services, run: ExtractionRun): Promise<Ctx> {
  const caller = await callerOfOwner(services.db, run, 'schedule', [SCHEDULE_PERMISSION]);
  return await createContext(services, caller, {
    requestId: job.ctx.requestId,
    origin: 'job',
    tool: `job ${job.kind}`,
    jobId: job.id,
  });
}

/**
 * Delivers the files of a run to a storage: the file before the manifest that describes it, and both before they become
 * the latest. Names contain the run's scheduled time, so that a repetition has the same result.
 */
async function deliverFiles(
  services: Services,
  storage: Storage,
  run: ExtractionRun & { file_id: string; manifest_id: string },
  signal: AbortSignal,
): Promise<void> {
  const file = await outgoing(services, run.file_id);
  const manifest = await outgoing(services, run.manifest_id);
  const { latestFile, latestManifest } = runNames(run, run.slot);
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

/** The storage that a schedule's files go to; undefined for mail and channels. */
async function storageOf(
  services: Services,
  schedule: { id: string; destination: StoredDestination; secret: string | null },
): Promise<Storage | undefined> {
  const { id, destination } = schedule;
  if (destination.kind === 'mail' || destination.kind === 'channel') return undefined;
  if (destination.kind === 'disk') return await openStorage(services, { kind: 'disk', scheduleId: id });
  if (destination.kind === 'sftp') {
    const { password, private_key, passphrase } = JSON.parse(openSecret(services, schedule.secret!, id));
    return await openStorage(services, {
      ...destination,
      hostKey: destination.host_key,
      password,
      privateKey: private_key,
      passphrase,
    });
  }
  return await openStorage(services, {
    ...destination,
    endpoint: endpointOf(destination),
    secret_access_key: openSecret(services, schedule.secret!, id),
  });
}

function openSecret({ secrets }: Services, sealed: string, id: string): string {
  try {
    return secrets.open(sealed, secretContext(id));
  } catch (error) {
    throw new EstateError(
      'storage_refused',
      'The secret of the storage was sealed with a key that the service no longer has: give it again.',
      { cause: error },
    );
  }
}

/** Partial files, and folders without a schedule, are ignored for this time: another process may be writing them. */
const ABANDONED_MS = 24 * 60 * 60 * 1000;

/**
 * Deletes the files of a schedule's runs that have exceeded the retention, at the destination and locally. @returns the
 * number of runs.
 */
async function removeOutdated(services: Services, scheduleId: string): Promise<number> {
  const runs = await outdatedRuns(services.db, scheduleId);
  if (runs.length === 0) return 0;
  const storage = await storageOf(services, runs[0]!.schedule);
  try {
    for (const run of runs) {
      // Files delivered elsewhere before the schedule was changed are not deleted.
      if (storage && run.here) for (const name of run.names) await storage.remove(name);
      await recordRemoval(services.db, run as OutdatedRun);
    }
  } finally {
    storage?.close();
  }
  return runs.length;
}

/**
 * Applies the retention of all schedules, and deletes what deleted schedules and crashed processes have left in the
 * data folder.
 */
export async function cleanExtractions(services: Services, signal: AbortSignal): Promise<number> {
  let removed = await removeOldRuns(services.db);
  for (const id of await schedulesWithFiles(services.db)) {
    signal.throwIfAborted();
    removed += await removeOutdated(services, id).catch((error) => {
      // An unavailable bucket does not affect others; the next clean-up retries it.
      services.log.warn({ err: error, schedule: id }, 'old files of an extraction could not be removed');
      return 0;
    });
  }
  await sweepFolders(services);
  return removed;
}

async function sweepFolders({ db, config }: Services): Promise<void> {
  const root = extractionsFolder(config.dataDir);
  const before = Date.now() - ABANDONED_MS;
  const isOld = async (place: string) =>
    ((await stat(place).catch(() => undefined))?.mtimeMs ?? before) < before;
  for (const folder of await readdir(root).catch(() => [] as string[])) {
    const place = path.join(root, folder);
    if (!/^[0-9a-f-]{36}$/.test(folder)) continue;
    if (!(await db('extraction_schedules').where({ id: folder }).first('id'))) {
      await rm(place, { recursive: true, force: true });
      continue;
    }
    for (const name of await readdir(place)) {
      const file = path.join(place, name);
      if (name.endsWith('.part') && (await isOld(file))) await rm(file, { force: true });
    }
  }
}
