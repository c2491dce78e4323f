import { setTimeout as delay } from 'node:timers/promises';
import { type Downloaded, drain, exportByJob, measureWork } from '../harness/export.ts';
import { smallOf, startLoaded } from '../harness/loaded.ts';
import { sampleMemory } from '../harness/memory.ts';
import { type Row, under, within } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import type { Service } from '../harness/service.ts';
import { median } from '../harness/stats.ts';

const MB = 1_000_000;
const ROUNDS = 5;
/** What takes a few hundredths of a second is asked for more often. */
const SHORT_ROUNDS = 60;
/** Rounds in which memory may grow; of fewer cards more, until as many rows are written: a process also grows by what it has done. */
const GROWTH_ROUNDS = 3;
const CHANGES = 1_000;

const formats = [
  { format: 'csv', limit: 3 },
  { format: 'ndjson', limit: 3 },
  { format: 'parquet', limit: 5 },
] as const;

const streamed = async (service: Pick<Service, 'api'>, query: string, url = service.api.url) => {
  const answer = await fetch(`${url}/api/v1/extracts/cards?${query}`, { headers: service.api.headers });
  if (!answer.ok) throw new Error(`The extract answered ${answer.status}: ${await answer.text()}`);
  return await drain(answer);
};

/** So many processes each, since what a collector of garbage leaves differs from process to process. */
const PROCESSES = 5;
/** By how much an API that has just started grows while it streams all cards, in bytes, by format: the middle of some. */
async function growths(service: Service, rounds: number): Promise<Map<string, number>> {
  const grown = new Map<string, number>();
  for (const { format } of formats) {
    const each: number[] = [];
    for (let process = 0; process < PROCESSES; process += 1) {
      const api = await service.join('api');
      const memory = sampleMemory([api.pid]);
      for (let round = 0; round < rounds; round += 1) {
        await streamed(service, `format=${format}`, api.url);
      }
      each.push(memory.stop().growthBytes);
      await api.stop();
    }
    grown.set(format, median(each));
  }
  return grown;
}

async function smallGrowths({ args }: Context): Promise<Map<string, number>> {
  await using resources = new AsyncDisposableStack();
  const cards = smallOf(args);
  const rounds = Math.round((GROWTH_ROUNDS * args.cards) / cards);
  return await growths(await startLoaded(resources, args, cards), rounds);
}

/** Waits until whoever is told of changes has been: that work is not part of asking for them. */
async function untilFollowed(client: Context['client']): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ behind: boolean }>(
      'select min(position) < (select max(position) from events) as behind from feed_followers',
    );
    if (!rows[0]!.behind) return;
    await delay(100);
  }
}

/** Changes cards one batch at a time, and then asks for what has changed. */
async function changed({ service, client }: Context): Promise<{ ms: number; short: number }> {
  const { api } = service;
  const { rows } = await client.query<{ id: string }>(
    `select id from cards where type = 'Application' and status = 'ACTIVE' order by md5(id::text) limit $1`,
    [CHANGES],
  );
  const { next } = await api.get<{ next: string }>('/changes?after=now');
  await api.patch('/cards/bulk', { ids: rows.map(({ id }) => id), updates: { description: 'Extracted' } });
  await untilFollowed(client);
  const times: number[] = [];
  let short = 0;
  for (let round = 0; round < SHORT_ROUNDS; round += 1) {
    const start = performance.now();
    const { lineBreaks } = await streamed(service, `after=${next}`);
    times.push(performance.now() - start);
    // one line more tells the end
    if (lineBreaks < rows.length + 1) short += 1;
  }
  return { ms: median(times), short };
}

async function run(context: Context): Promise<Row[]> {
  const { service, client } = context;
  const unit = await context.unit();
  const { rows } = await client.query<{ n: number }>('select count(*)::int as n from cards');
  let short = 0;
  const count = (format: string, { lineBreaks }: Downloaded) => {
    if (format !== 'parquet' && lineBreaks < rows[0]!.n) short += 1;
  };
  const figures: Row[] = [];
  for (const { format, limit } of formats) {
    const job = await measureWork(service.pid, ROUNDS, async () =>
      count(format, await exportByJob(service.api, format)),
    );
    const stream = await measureWork(service.pid, ROUNDS, async () =>
      count(format, await streamed(service, `format=${format}`)),
    );
    figures.push(
      under({ figure: `${format} of all, by a job`, value: job.ms, unit: 'ms', floor: unit }, limit),
      under({ figure: `${format} of all, streamed`, value: stream.ms, unit: 'ms', floor: unit }, limit),
    );
  }
  const large = await growths(service, GROWTH_ROUNDS);
  const small = await smallGrowths(context);
  for (const { format } of formats) {
    const figure = `${format} of all, memory growth beside a fifth of the cards`;
    const value = large.get(format)! / MB;
    const floor = small.get(format)! / MB;
    figures.push(under({ figure, value, unit: 'MB', floor }, 1.2));
  }
  // minutes later the machine is another one
  const later = await context.unit();
  const increment = await changed(context);
  short += increment.short;
  return [
    ...figures,
    under({ figure: `what ${CHANGES} changes are`, value: increment.ms, unit: 'ms', floor: later }, 0.1),
    within({ figure: 'extracts that lack lines', value: short, unit: 'files' }, 0, 0),
  ];
}

/** All cards in every format, request to last byte, by a job and streamed; and what has changed among them. */
export const extracts = { name: 'extracts', run };
