import { readFileSync } from 'node:fs';
import path from 'node:path';
import { findCycles } from './imports.cycles.ts';
import { checkFile, type Fault } from './imports.rules.ts';
import { scanSources } from './imports.scan.ts';

/** The files that package.json's scripts start as programs. */
function startedFiles(root: string): Set<string> {
  const { scripts = {} } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  return new Set(
    Object.values<string>(scripts).flatMap((script) =>
      Array.from(script.matchAll(/\bnode (?:--\S+ )*(\S+\.ts)\b/g), (match) => match[1] ?? ''),
    ),
  );
}

/**
 * Holds the tree under `root` against the rules of the house: imports go downwards and never in a circle,
 * no barrels or default exports in product code, no database or queue in `api`, no console but in programs,
 * no file over 400 lines.
 */
export function checkImports(root: string): Fault[] {
  const files = scanSources(root);
  const mains = startedFiles(root);
  const faults = [...files.flatMap((file) => checkFile(file, mains)), ...findCycles(files)];
  return faults.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line));
}

if (import.meta.main) {
  const faults = checkImports(process.argv[2] ?? path.resolve(import.meta.dirname, '../..'));
  for (const { path: file, line, reason } of faults) console.error(`${file}:${line} ${reason}`);
  if (faults.length > 0) process.exitCode = 1;
}
