import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { mix, mulberry32 } from '../bench/landscape/random.ts';
import { makeRequests } from '../random/start.ts';
import { createPlace, type Place, processesIn } from '../support/processes.ts';
import type { ChangeEvent } from '../support/replay.ts';
import { until } from '../support/until.ts';
import { type Send, sendTo } from './caller.ts';
import { liveHistories, type Through, throughs } from './histories.ts';
import { createHistory, type History } from './history.ts';
import { killWorkers, testFaults } from './itsm/start.ts';
import { type Crew, startCrew } from './processes.ts';
import { followChanges, followStream } from './readers.ts';
import { type FullExport, readExport, readTables } from './stored.ts';
import { readAll, verifyJobs, verifyOrder, verifyReplay, verifyWrites } from './verify.ts';
import { createWorld, type World } from './world.ts';
import { acts } from './writer.acts.ts';
import { jobActs } from './writer.jobs.ts';
import { createWriter } from './writer.ts';

/**
 * A long random run: writers of every kind, readers of the feed, and processes that are killed in the middle of it;
 * in the end everything that was accepted must be there, once. `npm run soak -- --minutes N --seed S`.
 */
const WRITERS = 4;
const JOB_WRITERS = 2;
/** How long jobs and readers may take to come to their end when nobody writes any more. */
const SETTLE_MS = 180_000;

async function logIn(url: string, credentials: { email: string; password: string }): Promise<string> {
  const answer = await fetch(`${url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(credentials),
  });
  const { access_token } = (await answer.json()) as { access_token: string };
  return access_token;
}

/** A full export of everything in the middle of the run, by jobs like any other. */
async function exportAll(send: Send): Promise<{ cards: FullExport; relations: FullExport }> {
  const one = async (kind: 'cards' | 'relations') => {
    const started = await until(
      `the export of ${kind} to be accepted`,
      async () => {
        const answer = await send('POST', '/exports', { json: { format: 'ndjson', kind } }).catch(
          () => undefined,
        );
        return answer?.status === 202 && answer;
      },
      SETTLE_MS,
    );
    return await until(
      `the export of ${kind}`,
      () => readExport(send, started.body.job_id, kind).catch(() => undefined),
      SETTLE_MS,
    );
  };
  return { cards: await one('cards'), relations: await one('relations') };
}

interface Run {
  crew: Crew;
  send: Send;
  token: string;
  world: World;
  history: History;
  seed: number;
}

/** Writes and kills for the given time, then lets everything come to rest. @returns the checks' material. */
async function run({ crew, send, token, world, history, seed }: Run, minutes: number) {
  const stop = new AbortController();
  const changes = followChanges(send, mulberry32(mix(seed, 101)));
  const stream = followStream(crew.url, token, mulberry32(mix(seed, 102)));
  const writers = Array.from({ length: WRITERS + JOB_WRITERS }, (_, number) =>
    createWriter({ number, seed, acts: number < WRITERS ? acts : jobActs, world, history, send }),
  );
  const writing = writers.map(async (writer) => {
    while (!stop.signal.aborted) await writer.step();
  });
  const trouble = crew.trouble(mulberry32(mix(seed, 103)), stop.signal);
  await delay(minutes * 30_000);
  const exported = exportAll(send);
  await delay(minutes * 30_000);
  stop.abort();
  await Promise.all([...writing, trouble]);
  const exports = await exported;
  console.log('# the writers have stopped; waiting for jobs and readers');
  type Job = Parameters<typeof verifyJobs>[1][number];
  const jobs = await until(
    'all jobs to have ended',
    async () => {
      const all = await readAll<Job>(send, '/jobs').catch(() => undefined);
      return all?.every(({ status }) => status !== 'queued' && status !== 'running') && all;
    },
    SETTLE_MS,
  );
  return { changes, stream, jobs, exports };
}

async function verify(
  place: Place,
  { world, history }: Run,
  { changes, stream, jobs, exports }: Awaited<ReturnType<typeof run>>,
): Promise<ChangeEvent[]> {
  const access = JSON.parse(await readFile(path.join(place.dataDir, 'postgres.json'), 'utf8'));
  const client = new pg.Client({ connectionString: access.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ position: string }>(
      `select position::text from events where scope = 'inventory' order by events.position`,
    );
    const positions = rows.map(({ position }) => Number(position));
    const newest = positions.at(-1) ?? 0;
    const caughtUp = async () =>
      Number(changes.seen.at(-1)?.position ?? 0) >= newest && (stream.seen.at(-1) ?? 0) >= newest;
    await until('the readers to have seen the newest event', caughtUp, SETTLE_MS).catch((error: Error) =>
      history.fault(error.message),
    );
    await Promise.all([changes.stop(), stream.stop()]);
    verifyOrder(
      'the reader of /changes',
      changes.seen.map(({ position }) => Number(position)),
      positions,
      history,
    );
    verifyOrder('the stream', stream.seen, positions, history);
    verifyWrites(world, changes.seen, history);
    verifyJobs(world, jobs, changes.seen, history);
    verifyReplay(changes.seen, exports, await readTables(client), history);
    return changes.seen;
  } finally {
    await client.end();
  }
}

function summary(history: History): string {
  const counts = new Map<string, Record<string, number>>();
  for (const { what, outcome } of history.entries) {
    if (!outcome) continue;
    const row = counts.get(what) ?? { accepted: 0, refused: 0, lost: 0 };
    row[outcome]! += 1;
    counts.set(what, row);
  }
  const line = (...cells: unknown[]) =>
    cells.map((cell, at) => (at === 0 ? String(cell).padEnd(18) : String(cell).padStart(9))).join('');
  return [
    line('', 'accepted', 'refused', 'lost'),
    ...[...counts].sort().map(([what, row]) => line(what, row.accepted, row.refused, row.lost)),
  ].join('\n');
}

async function soak(minutes: number, seed: number): Promise<boolean> {
  console.log(`# soak for ${minutes} minutes, seed ${seed}${process.env.REDIS_URL ? ', on Redis' : ''}`);
  const history = createHistory();
  const place = await createPlace();
  try {
    const crew = await startCrew(place, history);
    const token = await logIn(crew.url, place.admin);
    const work: Run = { crew, send: sendTo(crew.url, token), token, world: createWorld(), history, seed };
    const outcome = await run(work, minutes);
    const events = await verify(place, work, outcome);
    await crew.end();
    const left = processesIn(place.dataDir);
    if (left.length > 0) history.fault(`processes were left behind: ${left.join(', ')}`);
    console.log(summary(history));
    console.log(
      [
        `events ${events.length}`,
        `jobs ${outcome.jobs.length}`,
        `kills and restarts ${crew.kills}`,
        `streams opened ${outcome.stream.restarts() + 1}`,
        `changes asked again ${outcome.changes.restarts()}`,
      ].join(', '),
    );
  } catch (error) {
    history.fault((error as Error).stack ?? String(error));
  } finally {
    await place.clear();
  }
  if (history.faults.length === 0) {
    console.log(`ok: everything accepted is there, nothing twice (seed ${seed})`);
    return true;
  }
  const file = path.join(await mkdtemp(path.join(os.tmpdir(), 'estate-soak-')), 'history.ndjson');
  await writeFile(file, history.entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  for (const entry of history.entries.slice(-100)) console.error(JSON.stringify(entry));
  for (const text of history.faults) console.error(`FAIL ${text}`);
  console.error(`FAIL ${history.faults.length} faults with seed ${seed}; the whole history is in ${file}`);
  return false;
}

const { values } = parseArgs({
  options: {
    histories: { type: 'string' },
    itsm: { type: 'boolean', default: false },
    'itsm-kills': { type: 'string' },
    minutes: { type: 'string', default: '2' },
    requests: { type: 'string' },
    runs: { type: 'string', default: '500' },
    seed: { type: 'string' },
    through: { type: 'string', default: 'memory' },
  },
});
const minutes = Number(values.minutes);
const requests = Number(values.requests ?? 1);
const histories = Number(values.histories ?? 1);
const runs = Number(values.runs);
const kills = Number(values['itsm-kills'] ?? 1);
const whole = (count: number) => Number.isSafeInteger(count) && count > 0;
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
if (
  !(minutes > 0) ||
  !Number.isSafeInteger(seed) ||
  !whole(requests) ||
  !whole(histories) ||
  !whole(runs) ||
  !whole(kills) ||
  !throughs.includes(values.through as Through)
) {
  console.error('npm run soak -- --minutes N --seed S: N is a number above 0, S a whole number.');
  console.error('npm run soak -- --requests N --seed S: as many requests at random; N is a whole number.');
  console.error(
    'npm run soak -- --histories N --seed S --through memory|postgres|relations: as many histories of synchronisation; N is a whole number.',
  );
  console.error(
    'npm run soak -- --itsm --runs N --seed S: as many runs of a synchronisation whose remote fails; N is a whole number.',
  );
  console.error(
    'npm run soak -- --itsm-kills N --seed S: runs of a synchronisation whose workers are killed as many times; N is a whole number.',
  );
  process.exit(2);
}
async function begun(): Promise<boolean> {
  if (values.requests !== undefined) return await makeRequests(requests, seed);
  if (values.histories !== undefined) return await liveHistories(histories, seed, values.through as Through);
  if (values['itsm-kills'] !== undefined) return await killWorkers(kills, seed);
  if (values.itsm) return await testFaults(runs, seed);
  return await soak(minutes, seed);
}
process.exitCode = (await begun()) ? 0 : 1;
