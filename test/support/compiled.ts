import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { startChild } from './child.ts';

const root = path.resolve(import.meta.dirname, '../..');
const cache = path.join(root, 'node_modules/.cache');

/** Where Node stores compiled modules: the processes of a run load the same ones again and again. */
export const compileCache = path.join(cache, 'compiled');

/** Fills it. Processes that are killed, as most of those are that tests start, leave nothing there for the next. */
export async function compileAll(): Promise<void> {
  const file = path.join(import.meta.dirname, 'compile-all.ts');
  await startChild(file, [], { NODE_COMPILE_CACHE: compileCache }).ended();
}

const SOURCES = [
  'api',
  'domain',
  'integrations',
  'migrations',
  'platform',
  'reports',
  'workers',
  'test/support',
];

/**
 * A folder for what is made from the sources alone, so that the next run of the same sources finds it. Its name changes with every
 * file of them, and with the version of Node and the packages.
 */
export function preparedFolder(): string {
  const hash = createHash('sha256').update(process.version);
  const add = (file: string) => {
    const { size, mtimeMs, mode } = statSync(path.join(root, file));
    hash.update(`${file} ${size} ${mtimeMs} ${mode}\n`);
  };
  for (const file of ['boot.ts', 'package-lock.json']) add(file);
  for (const folder of SOURCES) {
    for (const name of readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).sort())
      add(path.join(folder, name));
  }
  return path.join(cache, `prepared-${hash.digest('hex').slice(0, 16)}`);
}
