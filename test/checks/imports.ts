import path from 'node:path';
import { checkFile, type Violation } from './imports.rules.ts';
import { scanSources } from './imports.scan.ts';

/**
 * Checks the rules that Biome cannot express: imports follow the order of layers and contexts, product code has no re-exports,
 * `api` no database or queue, and connections are opened by the guard of outgoing connections.
 */
export function checkImports(root: string): Violation[] {
  const violations = scanSources(root).flatMap(checkFile);
  return violations.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line));
}

if (import.meta.main) {
  const violations = checkImports(process.argv[2] ?? path.resolve(import.meta.dirname, '../..'));
  for (const { path: file, line, reason } of violations) console.error(`${file}:${line} ${reason}`);
  if (violations.length > 0) process.exitCode = 1;
}
