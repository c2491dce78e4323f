import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
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
    mkdirSync(folder);
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

function isFolder(place: string): boolean {
  return statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
