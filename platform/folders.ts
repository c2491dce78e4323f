import { accessSync, chmodSync, constants, mkdirSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { StartupError } from './startup.ts';

/**
 * Makes a folder with its parents, and sees to it that it may be written.
 * Step by step, since the recursive way of Node's own `mkdir` never ends in a file system without folders of its
 * users, such as /proc.
 * @throws StartupError, or the file system's error with its path.
 */
export function makeFolder(folder: string): void {
  makeParents(path.resolve(folder));
  accessSync(folder, constants.W_OK | constants.X_OK);
}

function makeParents(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (isFolder(folder)) return;
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const parent = path.dirname(folder);
    if (isFolder(parent)) {
      throw new StartupError(`${folder} cannot be made there: choose another folder with DATA_DIR.`);
    }
    makeParents(parent);
    makeParents(folder);
  }
}

/**
 * Keeps what this process writes from all other users of the machine, and closes the data folder and its subfolders where
 * they were made by an earlier version. A right to pass through the data folder stays while this is root: PostgreSQL then runs
 * as a user of its own.
 */
export function protectData(dataDir: string): void {
  process.umask(0o077);
  if (!isFolder(dataDir)) return;
  const isRoot = process.getuid?.() === 0;
  close(dataDir, isRoot ? 0o711 : 0o700);
  for (const entry of readdirSync(dataDir, { withFileTypes: true })) {
    // the folders of PostgreSQL are its own matter
    if (entry.isDirectory() && !entry.name.startsWith('postgres'))
      close(path.join(dataDir, entry.name), 0o700);
  }
}

function close(folder: string, most: number): void {
  const mode = statSync(folder).mode & 0o777;
  if ((mode & most) === mode) return;
  try {
    chmodSync(folder, mode & most);
  } catch (error) {
    // a volume that belongs to another user is closed by anyone who owns it
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}

function isFolder(place: string): boolean {
  return statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
