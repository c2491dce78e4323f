import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { breakingChanges, type Description } from './openapi-changes.ts';

const root = path.resolve(import.meta.dirname, '../..');
const releases = path.join(root, 'docs/releases');

/** The description of the last release, `openapi-<version>.json`; undefined while there is none. */
export function lastRelease(folder: string): string | undefined {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const files = names.filter((name) => /^openapi-\d+\.\d+\.\d+\.json$/.test(name));
  const last = files.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
  return last && path.join(folder, last);
}

const read = (file: string): Description => JSON.parse(readFileSync(file, 'utf8'));

if (import.meta.main) {
  const [given, newer = path.join(root, 'docs/openapi.json')] = process.argv.slice(2);
  const older = given ?? lastRelease(releases);
  if (older === undefined) console.info('There is no release to compare with.');
  else {
    const changes = breakingChanges(read(older), read(newer));
    for (const change of changes) console.error(change);
    console.info(`${changes.length} breaking changes since ${path.basename(older)}.`);
    if (changes.length > 0) process.exitCode = 1;
  }
}
