import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sha256 } from '../crypto.ts';
import { processMark } from './processes.ts';

/** The entry of this process among those that use the server of a data folder. */
export interface ServerUser {
  /** Leaves; synchronous, so that a process can do it in its very last moment. @returns whether it was the last. */
  leave(): boolean;
}

/** An entry is an empty file whose name says all, so that it is never half-written. */
function entryName(pid: number): string | undefined {
  const mark = processMark(pid);
  return mark && `${pid}.${sha256(mark).slice(0, 12)}`;
}

/** Takes out the entries of processes that have ended without leaving. @returns how many live. */
function prune(folder: string): number {
  let living = 0;
  // whoever removed the data folder took the entries with it
  for (const file of existsSync(folder) ? readdirSync(folder) : []) {
    const name = entryName(Number.parseInt(file, 10));
    if (name && file.startsWith(`${name}.`)) living += 1;
    else rmSync(path.join(folder, file), { force: true });
  }
  return living;
}

/** Enters this process among the users; to be done before it looks whether the server runs. */
export function joinUsers(dataDir: string): ServerUser {
  const folder = path.join(dataDir, 'postgres.users');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  prune(folder);
  // one process may use the server more than once
  const file = path.join(folder, `${entryName(process.pid)}.${randomBytes(4).toString('hex')}`);
  writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
  return {
    leave() {
      rmSync(file, { force: true });
      return prune(folder) === 0;
    },
  };
}
