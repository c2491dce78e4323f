import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Api } from '../harness/api.ts';
import { connect } from '../harness/database.ts';
import { type Row, under, within } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { type ServiceProcess, startService } from '../harness/service.ts';
import { mulberry32 } from '../landscape/random.ts';
import { fingerprint, furnish } from './duplicates.ts';

/** Applications of the full size; `--cards` is 100,000 unless given. */
const SHARE = 0.4;
/** Cancelled runs of each analysis, besides those at its own moments. */
const CANCELS = 6;
const POLL_MS = 10;

/** An analysis, and what tells all that it found, without ids that are made up. */
interface Analysis {
  name: string;
  path: string;
  body: object;
  /** Takes away what earlier runs found, where a run has nothing to write else. */
  forget?: string;
  /** Beginnings of what it tells of where it is, at which it is killed and cancelled besides random moments. */
  moments?: readonly string[];
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
    moments: [
      'Reads Application',
      'Compares Application',
      'Compares the candidates of Application',
      'Groups Application',
      'Stores the results of Application',
    ],
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
    forget: 'truncate compliance_findings, compliance_scanned cascade',
    print: printOf(
      `select regulation, rule_key, card_id, status, severity, evidence, decision, auto_resolved from compliance_findings`,
    ),
  },
];

interface Started {
  run_id: string;
  job_id: string;
}

/** What is worked with: one API, and two workers, of which one holds the job and the other is there. */
interface World {
  api: Api;
  client: pg.Client;
  random: () => number;
  workers: ServiceProcess[];
  startWorker(): Promise<void>;
  log(text: string): void;
}

interface JobState {
  status: string;
  message: string | null;
  lease_owner: string | null;
}

async function stateOf(client: pg.Client, job: string): Promise<JobState> {
  const { rows } = await client.query('select status, message, lease_owner from jobs where id = $1', [job]);
  return rows[0];
}

async function untilEnded(client: pg.Client, job: string): Promise<void> {
  for (;;) {
    const { status } = await stateOf(client, job);
    if (status === 'succeeded') return;
    if (status !== 'queued' && status !== 'running') throw new Error(`job ${job} is ${status}`);
    await delay(POLL_MS);
  }
}

async function start({ api, client }: World, { path, body, forget }: Analysis): Promise<Started> {
  if (forget) await client.query(forget);
  return await api.post<Started>(path, body);
}

async function undisturbed(world: World, analysis: Analysis): Promise<{ ms: number; print: string }> {
  const begin = performance.now();
  await untilEnded(world.client, (await start(world, analysis)).job_id);
  return { ms: performance.now() - begin, print: await analysis.print(world.client) };
}

/** When somebody steps in: while the job says something, or after a share of the time that it takes undisturbed. */
type Moment = { message: string } | { share: number };

/** Beyond the moment at which a message was first seen; some of what it stands for lasts no longer. */
const AFTER_MESSAGE_MS = 400;

/** @returns the job as it was then, once somebody has it; undefined where it has ended before. */
async function until(world: World, job: string, moment: Moment, ms: number): Promise<JobState | undefined> {
  const { client, random } = world;
  if ('share' in moment) await delay(moment.share * ms);
  for (;;) {
    const state = await stateOf(client, job);
    if (state.status === 'succeeded') return undefined;
    if (state.lease_owner !== null && ('share' in moment || state.message?.startsWith(moment.message))) {
      if ('share' in moment) return state;
      await delay(random() * AFTER_MESSAGE_MS);
      return await stateOf(client, job);
    }
    await delay(POLL_MS);
  }
}

/**
 * Kills the worker that holds the job: first at each of the analysis' own moments, then at random ones.
 * @returns how many were killed, and the longest time until the other one went on, in seconds.
 */
async function killed(world: World, analysis: Analysis, ms: number, kills: number) {
  const { client, random, workers, log } = world;
  const own = analysis.moments ?? [];
  const { job_id } = await start(world, analysis);
  let done = 0;
  let longest = 0;
  for (let n = 0; n < own.length + kills; n += 1) {
    const message = own[n];
    const state = await until(world, job_id, message ? { message } : { share: random() * 0.6 }, ms);
    if (!state || state.status === 'succeeded') break;
    const at = workers.findIndex(({ pid }) => state.lease_owner?.startsWith(`${pid}/`));
    if (at < 0) continue;
    log(`${analysis.name}: the worker is killed at "${state.message}"`);
    const begin = performance.now();
    await workers.splice(at, 1)[0]!.kill();
    done += 1;
    for (;;) {
      const { status, lease_owner } = await stateOf(client, job_id);
      // queued, it waits for the other one still
      if (status !== 'queued' && lease_owner !== state.lease_owner) break;
      await delay(POLL_MS);
    }
    const took = (performance.now() - begin) / 1_000;
    log(`${analysis.name}: another one went on after ${took.toFixed(1)} s`);
    longest = Math.max(longest, took);
    await world.startWorker();
  }
  await untilEnded(client, job_id);
  return { kills: done, longest };
}

/** @returns the longest time that a cancelled run went on, in milliseconds. */
async function cancelled(world: World, analysis: Analysis, ms: number): Promise<number> {
  const { api, client, random, log } = world;
  const moments: Moment[] = [
    ...(analysis.moments ?? []).map((message) => ({ message })),
    // spread over the whole run, each moment random within its share
    ...Array.from({ length: CANCELS }, (_, n) => ({ share: (n + random()) / CANCELS })),
  ];
  let longest = 0;
  for (const moment of moments) {
    const { run_id, job_id } = await start(world, analysis);
    const state = await until(world, job_id, moment, ms);
    if (!state || state.status === 'succeeded') continue;
    const asked = performance.now();
    await api.post(`/ai-analysis/analysis-runs/${run_id}/cancel`, {}).catch(async (error) => {
      // it has ended in the meantime
      if ((await stateOf(client, job_id)).status !== 'succeeded') throw error;
    });
    while ((await stateOf(client, job_id)).lease_owner !== null) await delay(POLL_MS);
    const took = performance.now() - asked;
    log(`${analysis.name}: cancelled at "${state.message}" in ${took.toFixed(0)} ms`);
    longest = Math.max(longest, took);
  }
  return longest;
}

async function run({ args, log }: Context): Promise<Row[]> {
  await using resources = new AsyncDisposableStack();
  const service = resources.adopt(
    await startService({ DEMO: 'false', LOG_LEVEL: 'info' }, 'api'),
    (started) => started.stop(),
  );
  const client = resources.adopt(await connect(service.databaseUrl), (connection) => connection.end());
  await furnish(client, Math.round(args.cards * SHARE));
  await client.query(
    `with provider as (select id, row_number() over (order by id) as n, count(*) over () as total from cards where type = 'Provider'),
       app as (select id, row_number() over (order by id) as n from cards where type = 'Application')
     insert into relations (type, source_id, target_id, attributes)
     select 'relProviderToApp', provider.id, app.id, '{}' from app join provider on provider.n = app.n * 7 % provider.total + 1`,
  );
  await client.query('vacuum analyze');
  const startWorker = async () => {
    const started = await service.join('worker');
    while (started.running() && !started.logTail().includes('the worker is ready')) await delay(POLL_MS);
    return started;
  };
  const world: World = {
    api: service.api,
    client,
    random: mulberry32(args.seed),
    workers: [await startWorker(), await startWorker()],
    async startWorker() {
      world.workers.push(await startWorker());
    },
    log,
  };
  const rows: Row[] = [];
  for (const analysis of analyses) {
    const { name } = analysis;
    const { ms, print } = await undisturbed(world, analysis);
    log(`${name}: ${(ms / 1_000).toFixed(1)} s undisturbed`);
    const { kills, longest } = await killed(world, analysis, ms, args.kills);
    const differs = (await analysis.print(client)) === print ? 0 : 1;
    const stopped = await cancelled(world, analysis, ms);
    rows.push(
      within(
        { figure: `${name}, differences after ${kills} workers killed`, value: differs, unit: '' },
        0,
        0,
      ),
      under({ figure: `${name}, until a worker that is there went on`, value: longest, unit: 's' }, 15),
      under({ figure: `${name}, longest of the cancelled runs`, value: stopped, unit: 'ms' }, 2_000),
    );
  }
  return rows;
}

/** Kills the workers of every analysis at random moments, and cancels runs at all times of them: what is found is the same. */
export const analysisDeaths = { name: 'analysis-deaths', run, onlyNamed: true };
