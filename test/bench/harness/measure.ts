import { readFileSync } from 'node:fs';

/** The value below which the share `p` (0 to 1) of the sorted values lies, by nearest rank. */
export function percentile(values: number[], p: number): number {
  if (values.length === 0) throw new RangeError('there are no values');
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)]!;
}

/** The middle value; of an even number of values the mean of the middle two. */
export function median(values: number[]): number {
  if (values.length === 0) throw new RangeError('there are no values');
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Milliseconds that some work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Milliseconds of each round of some work. @param before is done before each round and not timed. */
export async function timesOf(
  rounds: number,
  work: (round: number) => Promise<unknown>,
  before?: (round: number) => Promise<unknown>,
): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await before?.(round);
    times.push(await timed(() => work(round)));
  }
  return times;
}

/** Resident memory of a process with all its threads, in bytes; 0 when it has ended. Linux only. */
export function residentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

const SAMPLE_MS = 20;

/** Samples the memory of a process every 20 ms. @returns what ends it: the most by which the process grew, in megabytes. */
export function sampleGrowth(pid: number): () => number {
  const start = residentBytes(pid);
  let peak = start;
  const sample = () => {
    peak = Math.max(peak, residentBytes(pid));
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return () => {
    clearInterval(timer);
    sample();
    return (peak - start) / 1_000_000;
  };
}
