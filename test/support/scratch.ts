import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** Where Linux keeps files in memory. */
const MEMORY = '/dev/shm';
/** Several times what a run has there at any time: its databases, their log, and the clusters that tests make. */
const ENOUGH_BYTES = 2 * 2 ** 30;

/**
 * Where temporary files of a run go: into memory, where there is room for them. No disk is waited for then; and a database is more
 * than a thousand files, of which ext4 does not reuse those deleted in the last minute or five, but looks at each of them
 * whenever it makes one: databases made and dropped one after the other took a second each before long, where the first took 50 ms.
 */
async function place(): Promise<string> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  return Math.min(bavail * bsize, os.freemem()) > ENOUGH_BYTES ? MEMORY : os.tmpdir();
}

/** Gives this process, and all that it starts, a folder for temporary files. @returns what removes it, with all that was left in it. */
export async function useScratch(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(await place(), 'estate-test-'));
  // started by root, PostgreSQL works as a user of its own, who must be able to reach its data
  await chmod(folder, 0o755);
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  return async () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}
