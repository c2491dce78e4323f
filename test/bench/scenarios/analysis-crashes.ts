import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { type Started, untilDone } from '../harness/api.ts';
import { timed } from '../harness/measure.ts';
import { type Row, under, within } from '../harness/rows.ts';
import type { Scenario } from '../harness/scenario.ts';
import { type Service, type ServiceProcess, startService } from '../harness/service.ts';
import { mulberry32 } from '../landscape/random.ts';
import { fillWithDuplicates, fingerprint } from './duplicates.ts';

/** Applications of the full size; `--cards` is 100,000 unless given. */
const SHARE = 0.4;
/** Runs of each analysis that are cancelled, besides those at its own messages. */
const CANCELS = 6;
const POLL_MS = 10;

/** An analysis, and a fingerprint of all that it found, without generated ids. */
interface Analysis {
  name: string;
  path: string;
  body: object;
  /** Deletes what earlier runs found, where a run would have nothing to write otherwise. */
  reset?: string;
  /** Beginnings of its progress messages, at which it is killed and cancelled besides random moments. */
  messages?: readonly string[];
  print(client: pg.Client): Promise<string>;
}

const printOf = (query: string) => async (client: pg.Client) => {
  const { rows } = await client.query(
    `select md5(coalesce(string_agg(r::text, '' order by r::text), '')) as print from (${query}) r`,
  );
  return rows[0].print as string;
};

const suppliers = printOf(
  `select s.canonical_name, s.vendor_type, p.canonical_name as parent, s.group_name, s.product_key, s.category, s.sub_category,
     s.category_confidence,
     array(select (name, name_key, confidence, reason)::text from supplier_names where supplier_id = s.id order by name) as names,
     array(select (card_id, role, shared_by)::text from supplier_cards where supplier_id = s.id order by card_id, role) as cards
   from suppliers s left join suppliers p on p.id = s.parent_id`,
);

const analyses: Analysis[] = [
  {
    name: 'duplicates',
    path: '/ai-analysis/duplicates/analyse',
    body: { mode: 'learn' },
    // of the type with the most cards
    messages: ['Reads Application', 'Compares Application', 'Storing the results of Application'],
    print: fingerprint,
  },
  { name: 'suppliers', path: '/ai-analysis/vendors/analyse', body: {}, print: suppliers },
  { name: 'supplier hierarchy', path: '/ai-analysis/vendors/resolve', body: {}, print: suppliers },
  {
    name: 'modernisation',
    path: '/ai-analysis/modernizations/analyse',
    body: { target_type: 'Application' },
    print: printOf(
      `select target_type, card_id, modernization_type, current_tech, recommendation, effort, score, score_without_costs, reasons,
         dependants
       from modernizations where is_current`,
    ),
  },
  {
    name: 'compliance',
    path: '/compliance/scans',
    body: {},
    reset: 'truncate compliance_findings, compliance_scanned cascade',
    print: printOf(
      `select regulation, rule_key, card_id, status, severity, evidence, decision, auto_resolved from compliance_findings`,
    ),
  },
];

/** One API and two workers, of which one executes the job and the other is idle. */
interface World {
  service: Service;
  random: () => number;
  workers: ServiceProcess[];
  startWorker(): Promise<void>;
  log(text: string): void;
}

type JobState = { status: string; message: string | null; lease_owner: string | null };

async function stateOf({ service: { client } }: World, job: string): Promise<JobState> {
  return (await client.query('select status, message, lease_owner from jobs where id = $1', [job])).rows[0];
}

async function start({ service: { api, client } }: World, { path, body, reset }: Analysis): Promise<Started> {
  if (reset) await client.query(reset);
  return await api.post<Started>(path, body);
}

/** When a run is disturbed: when the job has a message, or after a share of the time that it takes undisturbed. */
type Moment = { message: string } | { share: number };

/** At most so long after a message was first seen; some of the work behind it takes no longer. */
const AFTER_MESSAGE_MS = 400;

/** @returns the job's state at that moment, once a worker executes it; undefined if it has ended before. */
async function untilMoment(world: World, job: string, moment: Moment, ms: number) {
  if ('share' in moment) await delay(moment.share * ms);
  for (;;) {
    const state = await stateOf(world, job);
    if (state.status === 'succeeded') return undefined;
    if (state.lease_owner !== null && ('share' in moment || state.message?.startsWith(moment.message))) {
      if ('share' in moment) return state;
      await delay(world.random() * AFTER_MESSAGE_MS);
      const later = await stateOf(world, job);
      return later.status === 'succeeded' ? undefined : later;
    }
    await delay(POLL_MS);
  }
}

/**
 * Kills the worker that executes the job: first at each of the analysis' own messages, then at random moments.
 * @returns how many were killed, and the longest time until the other worker continued, in seconds.
 */
async function killWorkers(world: World, analysis: Analysis, ms: number, kills: number) {
  const { random, workers, log } = world;
  const own = analysis.messages ?? [];
  const { job_id } = await start(world, analysis);
  let killed = 0;
  let longest = 0;
  for (let n = 0; n < own.length + kills; n += 1) {
    const message = own[n];
    const state = await untilMoment(world, job_id, message ? { message } : { share: random() * 0.6 }, ms);
    if (!state) break;
    const at = workers.findIndex(({ pid }) => state.lease_owner?.startsWith(`${pid}/`));
    if (at < 0) continue;
    const [worker] = workers.splice(at, 1);
    log(`${analysis.name}: the worker is killed at "${state.message}"`);
    const seconds =
      (await timed(async () => {
        worker!.child.kill('SIGKILL');
        await worker!.child.ended();
        for (;;) {
          const { status, lease_owner } = await stateOf(world, job_id);
          // while it is queued, it waits for the other worker
          if (status !== 'queued' && lease_owner !== state.lease_owner) break;
          await delay(POLL_MS);
        }
      })) / 1_000;
    killed += 1;
    log(`${analysis.name}: the other worker continued after ${seconds.toFixed(1)} s`);
    longest = Math.max(longest, seconds);
    await world.startWorker();
  }
  await untilDone(world.service.api, job_id);
  return { killed, longest };
}

/** Cancels runs at moments all over them. @returns the longest time until one has stopped, in milliseconds. */
async function cancelRuns(world: World, analysis: Analysis, ms: number): Promise<number> {
  const { random, log } = world;
  const moments: Moment[] = [
    ...(analysis.messages ?? []).map((message) => ({ message })),
    // spread over the whole run, each moment random within its share
    ...Array.from({ length: CANCELS }, (_, n) => ({ share: (n + random()) / CANCELS })),
  ];
  let longest = 0;
  for (const moment of moments) {
    const { run_id, job_id } = await start(world, analysis);
    const state = await untilMoment(world, job_id, moment, ms);
    if (!state) continue;
    const took = await timed(async () => {
      await world.service.api.post(`/ai-analysis/analysis-runs/${run_id}/cancel`, {}).catch(async (error) => {
        // it has ended in the meantime
        if ((await stateOf(world, job_id)).status !== 'succeeded') throw error;
      });
      while ((await stateOf(world, job_id)).lease_owner !== null) await delay(POLL_MS);
    });
    log(`${analysis.name}: cancelled at "${state.message}" in ${took.toFixed(0)} ms`);
    longest = Math.max(longest, took);
  }
  return longest;
}

/** Kills the workers of every analysis at random moments, and cancels runs at all stages: the results are the same. */
export const analysisCrashes: Scenario = {
  name: 'analysis-crashes',
  onlyNamed: true,
  loadsItself: true,
  async run({ args, log }) {
    await using service = await startService({ LOG_LEVEL: 'info' }, 'api');
    const { api, client } = service;
    await fillWithDuplicates(client, Math.round(args.cards * SHARE));
    await client.query(`
         with provider as (select id, row_number() over (order by id) as n, count(*) over () as total from cards where type = 'Provider'),
         app as (select id, row_number() over (order by id) as n from cards where type = 'Application')
       insert into relations (type, source_id, target_id, attributes)
       select 'relProviderToApp', provider.id, app.id, '{}' from app join provider on provider.n = app.n * 7 % provider.total + 1`);
    await client.query('vacuum analyze');
    const workers: ServiceProcess[] = [];
    const startWorker = async () => {
      const worker = await service.join('worker');
      await worker.child.until(/the worker is ready/);
      workers.push(worker);
    };
    await startWorker();
    await startWorker();
    const world: World = { service, random: mulberry32(args.seed), workers, startWorker, log };
    const rows: Row[] = [];
    for (const analysis of analyses) {
      const { name } = analysis;
      const ms = await timed(async () => untilDone(api, (await start(world, analysis)).job_id));
      const print = await analysis.print(client);
      log(`${name}: ${(ms / 1_000).toFixed(1)} s undisturbed`);
      const { killed, longest } = await killWorkers(world, analysis, ms, args.kills);
      const differences = (await analysis.print(client)) === print ? 0 : 1;
      const stopMs = await cancelRuns(world, analysis, ms);
      rows.push(
        within(`${name}, differences after ${killed} workers killed`, differences, '', 0),
        under(`${name}, until a worker that is there went on`, longest, 's', 15),
        under(`${name}, longest of the cancelled runs`, stopMs, 'ms', 2_000),
      );
    }
    return rows;
  },
};
