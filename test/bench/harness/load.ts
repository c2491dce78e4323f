import type { LoadOptions, LoadResult } from '../programs/load.ts';
import type { Api } from './api.ts';
import { median } from './measure.ts';
import { startProgram } from './programs.ts';

const CONNECTIONS = 8;
const WARM_UP_SECONDS = 1;
const ROUNDS = 3;

/** Loads one target from a process of its own. @throws Error if responses are not 2xx or get lost. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  using program = startProgram('load');
  const result = await program.ask<LoadResult>(options);
  if (result.failures > 0)
    throw new Error(
      `${result.failures} of ${result.requests} requests to ${options.url} failed: ${result.statuses}`,
    );
  return result;
}

/** Medians over the rounds. */
type LoadMedians = Pick<LoadResult, 'requestsPerSecond' | 'p50Ms' | 'p99Ms'>;

/**
 * Loads the service and a baseline in turn, three rounds after a short warm-up, so that a change of the machine's speed
 * affects both.
 */
export async function compareLoad(
  { url, headers }: Api,
  paths: string[],
  baseline: Pick<LoadOptions, 'url' | 'paths'>,
  seconds = 5,
): Promise<{ service: LoadMedians; baseline: LoadMedians }> {
  const results: LoadResult[][] = [[], []];
  const loadBoth = async (duration: number) => {
    for (const [at, target] of [{ url, headers, paths }, baseline].entries())
      results[at]!.push(await load({ ...target, connections: CONNECTIONS, seconds: duration }));
  };
  await loadBoth(WARM_UP_SECONDS);
  for (let round = 0; round < ROUNDS; round += 1) await loadBoth(seconds);
  const medians = results.map(([, ...rounds]): LoadMedians => {
    const of = (key: keyof LoadMedians) => median(rounds.map((round) => round[key]));
    return { requestsPerSecond: of('requestsPerSecond'), p50Ms: of('p50Ms'), p99Ms: of('p99Ms') };
  });
  return { service: medians[0]!, baseline: medians[1]! };
}
