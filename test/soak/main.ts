import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { mix, mulberry32 } from '../bench/landscape/random.ts';
import { createPlace, logIn, type Place, processesIn, type Send } from '../support/processes.ts';
import type { ChangeEvent } from '../support/replay.ts';
import { until } from '../support/until.ts';
import { liveHistories, type Through, throughs } from './histories.ts';
import { type Crew, startCrew } from './processes.ts';
import { followChanges, followStream } from './readers.ts';
import {
  type FullExport,
  readAll,
  readExport,
  readTables,
  verifyJobs,
  verifyOrder,
  verifyReplay,
  verifyWrites,
} from './verify.ts';
import { createHistory, createWorld, type History, type World } from './world.ts';
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

/** A full export of everything in the middle of the run, by jobs like any other. */
async function exportAll(send: Send): Promise<{ cards: FullExport; relations: FullExport }> {
  const one = async (kind: 'cards' | 'relations') => {
    const started = await until(
      `the export of ${kind} to be accepted`,
      async () => {
        const answer = await send('POST', '/exports', { format: 'ndjson', kind }).catch(() => undefined);
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
  headers: Record<string, string>;
  world: World;
  history: History;
  seed: number;
}

/** Writes and kills for the given time, then lets everything come to rest. @returns the checks' material. */
async function run({ crew, send, headers, world, history, seed }: Run, minutes: number) {
  const stop = new AbortController();
  const changes = followChanges(send, mulberry32(mix(seed, 101)));
  const stream = followStream(crew.url, headers, mulberry32(mix(seed, 102)));
  const writing = Array.from({ length: WRITERS + JOB_WRITERS }, (_, number) =>
    createWriter({ number, seed, acts: number < WRITERS ? acts : jobActs, world, history, send }),
  ).map(async (writer) => {
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
    const { rows } = await client.query<{ position: string }>(`select position::text from events
      where scope = 'inventory' order by events.position`);
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
    const { headers, send } = await logIn(crew.url, place.admin);
    const work: Run = { crew, send, headers, world: createWorld(), history, seed };
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
        `streams opened ${outcome.stream.restarts}`,
        `changes asked again ${outcome.changes.restarts}`,
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

/** Runs a long test in a process of the test runner. @returns whether it passed. */
async function runTest(what: string, file: string, env: Record<string, unknown>): Promise<boolean> {
  console.log(`# ${what}`);
  const runner = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.long.config.ts', file];
  const child = spawn(process.execPath, runner, {
    cwd: path.resolve(import.meta.dirname, '../..'),
    stdio: 'inherit',
    env: { ...process.env, ...(env as NodeJS.ProcessEnv) },
  });
  const [code] = await once(child, 'exit');
  return code === 0;
}

const USAGE = `npm run soak -- --minutes N --seed S: random writes while processes are killed; N is a number above 0
npm run soak -- --requests N --seed S: as many requests at random
npm run soak -- --histories N --seed S --through memory|postgres|relations: as many histories of synchronisation
npm run soak -- --itsm --runs N --seed S: as many runs of a synchronisation whose remote fails
npm run soak -- --itsm-kills N --seed S: runs of a synchronisation whose workers are killed as many times
All other numbers are whole.`;

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
const { requests, histories, runs, 'itsm-kills': kills, through } = values;
const minutes = Number(values.minutes);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const isWhole = (count = '1') => Number.isSafeInteger(Number(count)) && Number(count) > 0;
const isValid =
  minutes > 0 &&
  Number.isSafeInteger(seed) &&
  [requests, histories, runs, kills].every(isWhole) &&
  throughs.includes(through as Through);
if (!isValid) {
  console.error(USAGE);
  process.exit(2);
}

async function start(): Promise<boolean> {
  if (requests !== undefined)
    return await runTest(`${requests} requests at random, seed ${seed}`, 'requests.test.ts', {
      RANDOM_REQUESTS: requests,
      RANDOM_SEED: seed,
    });
  if (histories !== undefined) return await liveHistories(Number(histories), seed, through as Through);
  if (kills !== undefined)
    return runTest(`synchronisation whose workers are killed ${kills} times, seed ${seed}`, 'kills.test.ts', {
      ITSM_KILLS: kills,
      ITSM_SEED: seed,
    });
  if (values.itsm)
    return await runTest(`synchronisation with ${runs} runs under faults, seed ${seed}`, 'faults.test.ts', {
      ITSM_RUNS: runs,
      ITSM_SEED: seed,
    });
  return await soak(minutes, seed);
}
process.exitCode = (await start()) ? 0 : 1;
