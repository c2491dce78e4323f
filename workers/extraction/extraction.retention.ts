import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Services } from '../../domain/kernel/services.ts';
import { extractionsFolder } from '../../integrations/exchange/storage/storage.open.ts';
import {
  type OutdatedRun,
  outdatedRuns,
  recordRemoval,
  removeOldRuns,
  schedulesWithFiles,
} from '../../reports/exchange/schedules/extraction-runs.retention.ts';
import { storageOf } from './extraction.storage.ts';

/** Partial files, and folders without a schedule, are ignored for this time: another process may be writing them. */
const ABANDONED_MS = 24 * 60 * 60 * 1000;

/**
 * Deletes the files of a schedule's runs that have exceeded the retention, at the destination and locally. @returns the
 * number of runs.
 */
export async function removeOutdated(services: Services, scheduleId: string): Promise<number> {
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
