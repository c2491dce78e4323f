import { createRequire } from 'node:module';
import { percentile } from '../harness/measure.ts';
import { answerMessages } from '../harness/programs.ts';

export interface LoadOptions {
  url: string;
  connections: number;
  seconds: number;
  headers?: Record<string, string>;
  /** Paths that each connection asks for in turn, below the URL's host; the URL's own path when absent. */
  paths?: string[];
}

export interface LoadResult {
  requests: number;
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Answers other than 2xx, errors and time-outs. */
  failures: number;
  /** The statuses seen, such as `200 429`. */
  statuses: string;
}

/** What is used of autocannon, which comes without types. */
type Autocannon = (
  options: Record<string, unknown>,
  done: (error: Error | null, result: AutocannonResult) => void,
) => {
  on(event: 'response', listener: (client: unknown, status: number, bytes: number, ms: number) => void): void;
};

type AutocannonResult = { duration: number; errors: number; timeouts: number };

async function measure({ url, connections, seconds, headers, paths }: LoadOptions): Promise<LoadResult> {
  const autocannon = createRequire(import.meta.url)('autocannon') as Autocannon;
  // autocannon's own histogram knows whole milliseconds only, too coarse for p99 against p50
  const times: number[] = [];
  const statuses = new Map<number, number>();
  const result = await new Promise<AutocannonResult>((resolve, reject) => {
    const requests = paths?.map((path) => ({ method: 'GET', path }));
    const options = { url, connections, duration: seconds, headers, ...(requests ? { requests } : {}) };
    const instance = autocannon(options, (error, done) => (error ? reject(error) : resolve(done)));
    instance.on('response', (_client, status, _bytes, ms) => {
      times.push(ms);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    });
  });
  const refused = [...statuses].filter(([status]) => status < 200 || status > 299);
  return {
    requests: times.length,
    requestsPerSecond: times.length / result.duration,
    p50Ms: times.length === 0 ? 0 : percentile(times, 0.5),
    p99Ms: times.length === 0 ? 0 : percentile(times, 0.99),
    failures: result.errors + result.timeouts + refused.reduce((sum, [, count]) => sum + count, 0),
    statuses: [...statuses.keys()].join(' '),
  };
}

answerMessages(measure);
