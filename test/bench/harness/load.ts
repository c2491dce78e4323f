import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { LoadOptions, LoadResult } from './load-process.ts';
import { median } from './stats.ts';

const run = promisify(execFile);
const program = path.join(import.meta.dirname, 'load-process.ts');

const WARM_UP_SECONDS = 1;
const ROUNDS = 3;

/** Loads one target from a process of its own. Answers other than 2xx, and lost ones, throw. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const { stdout } = await run(process.execPath, [program, JSON.stringify(options)], { maxBuffer: 2 ** 20 });
  const result = JSON.parse(stdout) as LoadResult;
  if (result.failures > 0) {
    throw new Error(
      `${result.failures} of ${result.requests} requests to ${options.url} failed: ${result.statuses}`,
    );
  }
  return result;
}

/** Medians over the rounds. */
export interface LoadMedians {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
}

/**
 * Loads several targets in turn, three rounds after a short warm-up, so that a change in the machine's mood
 * meets all of them.
 */
export async function alternate<Name extends string>(
  targets: Record<Name, Omit<LoadOptions, 'seconds'>>,
  seconds = 5,
): Promise<Record<Name, LoadMedians>> {
  const names = Object.keys(targets) as Name[];
  for (const name of names) await load({ ...targets[name], seconds: WARM_UP_SECONDS });
  const results = new Map<Name, LoadResult[]>(names.map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of names) results.get(name)!.push(await load({ ...targets[name], seconds }));
  }
  const medians = names.map((name) => {
    const rounds = results.get(name)!;
    const of = (key: 'requestsPerSecond' | 'p50Ms' | 'p99Ms') => median(rounds.map((round) => round[key]));
    return [name, { requestsPerSecond: of('requestsPerSecond'), p50Ms: of('p50Ms'), p99Ms: of('p99Ms') }];
  });
  return Object.fromEntries(medians) as Record<Name, LoadMedians>;
}
