import { access, constants, mkdir, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { StartupError } from '../startup.ts';

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

/**
 * Makes a folder with its parents, and sees to it that it may be written.
 * Step by step, since the recursive way of Node's own `mkdir` never ends in a file system without folders of its
 * users, such as /proc.
 * @throws StartupError, or the file system's error with its path.
 */
export async function makeFolder(folder: string): Promise<void> {
  await makeParents(path.resolve(folder));
  await access(folder, constants.W_OK | constants.X_OK);
}

async function makeParents(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    if (await isFolder(folder)) return;
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const parent = path.dirname(folder);
    if (await isFolder(parent)) {
      throw new StartupError(`${folder} cannot be made there: choose another folder with DATA_DIR.`);
    }
    await makeParents(parent);
    await makeParents(folder);
  }
}

const isFolder = (place: string) =>
  stat(place).then(
    (found) => found.isDirectory(),
    () => false,
  );
