import { createHash } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openSearch } from '../../../integrations/analysis/duplicates/find.ts';
import type { Found, SearchLimits } from '../../../integrations/analysis/duplicates/find.types.ts';
import type { MatchField } from '../../../integrations/analysis/matching/matching.types.ts';
import { residentBytes } from '../harness/measure.ts';
import type { Values } from './judged.ts';
import { applications } from './planted.ts';
import { Random } from './random.ts';

const PAGE = 2_000;
const SAMPLE_MS = 50;

/** The fields of a search among cards. */
const FIELDS: readonly MatchField[] = [
  { name: 'name', kind: 'name', weight: 1, without: 'vendor' },
  { name: 'names', kind: 'list', weight: 0.5 },
  { name: 'description', kind: 'text', weight: 0.5 },
  { name: 'vendor', kind: 'name', weight: 0.5 },
  { name: 'relations', kind: 'set', weight: 0.5 },
  { name: 'attributes.cost', kind: 'number', weight: 0.25 },
];

/** As many cards as given in pages, a tenth of which are copies of others, and another tenth variants that are none. */
async function* pagesOf(count: number) {
  const random = new Random(7);
  let page: { id: string; values: Values & Record<string, string | number | string[] | null> }[] = [];
  let pending: Values[] = [];
  for (let at = 0; at < count; at++) {
    if (pending.length === 0) pending = entity(random, at);
    const { uses, cost, ...values } = pending.shift()!;
    // ascending, as cards are read
    const id = `${at.toString(16).padStart(8, '0')}-0000-7000-8000-000000000000`;
    page.push({
      id,
      values: { ...values, names: [`${values.name}`], relations: uses, 'attributes.cost': cost } as never,
    });
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  yield page;
}

/** A made-up application, with a copy or a variant of it or alone. */
function entity(random: Random, at: number): Values[] {
  const values = applications.make(random, at);
  if (random.happens(0.12)) return [values, applications.copy(random, values)];
  return random.happens(0.1) ? applications.variants!(random, values) : [values];
}

/**
 * Searches among as many made-up cards as given in the thread in which jobs do, and prints the time, the most memory of the process,
 * and the longest time for which the event loop of the main thread was blocked.
 */
export async function size(count: number, limits?: SearchLimits): Promise<void> {
  const search = openSearch(new AbortController().signal);
  const start = performance.now();
  const cpu = process.cpuUsage();
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const before = residentBytes(process.pid);
  let [most, last] = [0, -1];
  const timer = setInterval(() => (most = Math.max(most, residentBytes(process.pid))), SAMPLE_MS);
  const found = (await search.find({
    fields: FIELDS,
    base: null,
    previous: null,
    decisions: [],
    vocabulary: undefined,
    limits,
    maySkip: false,
    records: pagesOf(count),
    onProgress(progress) {
      const tenth = Math.floor(progress * 10);
      if (tenth === last) return;
      last = tenth;
      console.log(`  ${tenth * 10} %: ${seconds(start)} s, ${megabytes(residentBytes(process.pid))} MB`);
    },
  })) as Found;
  clearInterval(timer);
  delay.disable();
  search.close();
  const { pairs, compared, snapshot, base } = found;
  const used = process.cpuUsage(cpu);
  const print = createHash('sha256').update(JSON.stringify(pairs)).digest('hex').slice(0, 16);
  console.log(
    `${count} cards: ${seconds(start)} s, ${((used.user + used.system) / 1e6).toFixed(1)} s of processors, at most ${megabytes(most)} MB (${megabytes(before)} MB before); event loop blocked for at most ${(delay.max / 1e6).toFixed(0)} ms`,
  );
  console.log(
    `  ${compared} pairs compared, ${pairs.length} of them results (${print}); model ${megabytes(base.length)} MB, snapshot ${megabytes(snapshot.length)} MB`,
  );
}

const seconds = (start: number) => ((performance.now() - start) / 1_000).toFixed(1);
const megabytes = (bytes: number) => (bytes / 1_000_000).toFixed(0);
