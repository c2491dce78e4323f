import { statfs } from 'node:fs/promises';

/** What PostgreSQL's programs get of the environment: nothing that changes what they do, and none of our secrets. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'TMPDIR', 'LD_LIBRARY_PATH', 'SystemRoot', 'TEMP'].filter(
    (name) => process.env[name],
  );
  // their messages are read here, so they must be in one language
  return { ...Object.fromEntries(kept.map((name) => [name, process.env[name]])), LC_ALL: 'C' };
}

// less than one segment of the write-ahead log
const LITTLE_BYTES = 16 * 1024 * 1024;

/** Whether the disk of a folder has no room left; on a full disk, programs often cannot even log why they fail. */
export async function isFull(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize < LITTLE_BYTES;
}

/** The error that the file system would have given. */
export function diskFull(folder: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`no space left in ${folder}`), { code: 'ENOSPC', path: folder });
}
