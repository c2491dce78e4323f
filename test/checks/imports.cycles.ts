import type { Fault } from './imports.rules.ts';
import type { SourceFile } from './imports.scan.ts';

/**
 * Import cycles, type-only imports included: one fault for each knot of files that reach each other,
 * showing its shortest round trip.
 */
export function findCycles(files: SourceFile[]): Fault[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const reported = new Set<string>();
  const faults: Fault[] = [];
  for (const file of files) {
    if (reported.has(file.path)) continue;
    const way = shortestWayBack(file, byPath);
    if (!way) continue;
    for (const member of knotOf(file.path, byPath)) reported.add(member);
    const line = file.imports.find((entry) => entry.target === way[1])?.line ?? 1;
    faults.push({ path: file.path, line, reason: `import cycle: ${way.join(' -> ')}` });
  }
  return faults;
}

function targets(file: string, byPath: Map<string, SourceFile>): string[] {
  const imports = byPath.get(file)?.imports ?? [];
  return imports.flatMap(({ target }) => (target !== undefined && byPath.has(target) ? [target] : []));
}

/** Breadth-first from the file to itself. */
function shortestWayBack(file: SourceFile, byPath: Map<string, SourceFile>): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const queue = [file.path];
  for (const current of queue) {
    for (const next of targets(current, byPath)) {
      if (next === file.path) {
        const way = [file.path];
        for (let step = current; step !== file.path; step = cameFrom.get(step)!) way.unshift(step);
        return [file.path, ...way];
      }
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, current);
      queue.push(next);
    }
  }
  return undefined;
}

/** The files that the given one reaches and that reach it. */
function knotOf(file: string, byPath: Map<string, SourceFile>): string[] {
  const reached = reach(file, byPath);
  return [...reached].filter((other) => reach(other, byPath).has(file));
}

function reach(file: string, byPath: Map<string, SourceFile>): Set<string> {
  const seen = new Set<string>();
  const queue = [file];
  for (const current of queue) {
    for (const next of targets(current, byPath)) {
      if (seen.has(next)) continue;
      seen.add(next);
      queue.push(next);
    }
  }
  return seen;
}
