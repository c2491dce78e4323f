import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { MatchRecord } from '../../../integrations/analysis/matching/matching.types.ts';
import { type Api, type Job, runJob, type Started } from '../harness/api.ts';
import { sampleGrowth, timed } from '../harness/measure.ts';
import { atLeast, type Row, under, within } from '../harness/rows.ts';
import type { Scenario } from '../harness/scenario.ts';
import { startService } from '../harness/service.ts';
import { KINDS, plantedIn } from '../matching/planted.ts';

/** Applications of the full size; `--cards` is 100,000 unless given. */
const SHARE = 0.4;
const CHANGED = 100;
/** Clusters that are decided about before the second run. */
const DECIDED = 60;
const AT_ONCE = 5_000;
const POLL_MS = 20;

/** The kind of made-up records for each type, and how many of them for each application. */
const TYPES = [
  { type: 'Application', kind: 0, share: 1 },
  { type: 'ITComponent', kind: 1, share: 0.25 },
  { type: 'Provider', kind: 2, share: 0.05 },
  { type: 'BusinessCapability', kind: 3, share: 0.05 },
  { type: 'Interface', kind: 0, share: 0.15 },
] as const;

type Run = { model_version: string; results: { changed: number; compared_now: number } };

/** Pairs of names that are one thing. */
type Truth = Map<string, Set<string>>;

/** Fills the service with cards, a tenth of which are there twice, and another tenth variants that are no duplicates. */
export async function fillWithDuplicates(
  client: pg.Client,
  applications: number,
  types: readonly (typeof TYPES)[number][] = TYPES,
): Promise<Truth> {
  const truth: Truth = new Map();
  for (const { type, kind, share } of types) {
    const judged = plantedIn(KINDS[kind]!, Math.max(20, Math.round(applications * share)), type.length);
    // siblings must have different names
    const names = new Map<string, string>();
    const taken = new Set<string>();
    const rows = judged.left.map((record, at) => {
      const text = `${record.values.name}`;
      const name = taken.has(text.toLowerCase()) ? `${text} ${at}` : text;
      taken.add(name.toLowerCase());
      names.set(record.id, name);
      return { name, ...described(record) };
    });
    for (let from = 0; from < rows.length; from += AT_ONCE)
      await client.query(
        `insert into cards (type, name, description, attributes, data_quality)
         select $1, name, description, attributes, 0 from jsonb_to_recordset($2::jsonb) as r (name text, description text, attributes jsonb)`,
        [type, JSON.stringify(rows.slice(from, from + AT_ONCE))],
      );
    const pairs = [...judged.truth].map((key) => {
      const [left, right] = JSON.parse(key) as [string, string];
      return [names.get(left)!, names.get(right)!].sort().join('\n');
    });
    truth.set(type, new Set(pairs));
  }
  await client.query(`
       with app as (select id, row_number() over (order by id) as n from cards where type = 'Application'),
       component as (select id, row_number() over (order by id) as n, count(*) over () as total from cards where type = 'ITComponent')
     insert into relations (type, source_id, target_id, attributes)
     select 'relAppToITC', app.id, component.id, '{}' from app
     cross join generate_series(0, 1) k join component on component.n = (app.n * 7 + k * 13) % component.total + 1
     on conflict do nothing`);
  await client.query('vacuum analyze');
  return truth;
}

function described({ values }: MatchRecord) {
  const { vendor, description, address, cost, price } = values;
  const costTotalAnnual = cost ?? price ?? null;
  return {
    description: [vendor ? `By ${vendor}.` : '', description ?? address ?? ''].join(' ').trim() || null,
    attributes: costTotalAnnual === null ? {} : { costTotalAnnual },
  };
}

const ANALYSE = '/ai-analysis/duplicates/analyse';

/** Runs an analysis to its end. */
async function analyse(api: Api, mode: string): Promise<Run & { seconds: number }> {
  const { seconds, started } = await runJob(api, ANALYSE, { mode });
  return { seconds, ...(await api.get<Run>(`/ai-analysis/analysis-runs/${started.run_id}`)) };
}

/** Everything that a run has found, as one number. */
export async function fingerprint(client: pg.Client): Promise<string> {
  const { rows } = await client.query(`select md5(
       (select coalesce(string_agg(p::text, '' order by id), '') from (
          select id, class, score, alone, similarities, bits, model_id, cluster_id from duplicate_pairs) p) ||
       (select coalesce(string_agg(c::text, '' order by id), '') from (
          select id, card_ids, status, cohesion, least_score, most_score from duplicate_clusters) c)) as print`);
  return rows[0].print;
}

/** Confirms some clusters that were found and dismisses others, as people would between two runs. @returns how many. */
async function decide(api: Api, truth: Truth): Promise<number> {
  const right = truth.get('Application')!;
  const { items } = await api.get<{ items: { id: string; card_names: string[] }[] }>(
    `/ai-analysis/duplicates?card_type=Application&sort_by=cohesion&sort_dir=asc&page_size=${DECIDED}`,
  );
  for (const { id, card_names } of items) {
    const status =
      card_names.length === 2 && right.has(card_names.toSorted().join('\n')) ? 'confirmed' : 'dismissed';
    await api.patch(`/ai-analysis/duplicates/${id}/status`, { status });
  }
  return items.length;
}

/** Precision and recall of matches among the applications. */
async function judge(client: pg.Client, truth: Truth) {
  const { rows } = await client.query(`
     select least(a.name, b.name) as one, greatest(a.name, b.name) as other from duplicate_pairs p
     join cards a on a.id = p.left_id join cards b on b.id = p.right_id
     where p.card_type = 'Application' and p.class = 'match'`);
  const right = truth.get('Application')!;
  const hits = rows.filter(({ one, other }) => right.has([one, other].sort().join('\n'))).length;
  return { precision: hits / Math.max(1, rows.length), recall: hits / Math.max(1, right.size) };
}

/** Searches for duplicates among all types: time, memory, what 100 changes cost, and how quickly one is cancelled. */
export const duplicates: Scenario = {
  name: 'duplicates',
  loadsItself: true,
  async run({ args, log }) {
    await using service = await startService();
    const { api, client, pid } = service;
    const applications = Math.round(args.cards * SHARE);
    const truth = await fillWithDuplicates(client, applications);

    const stop = sampleGrowth(pid);
    const first = await analyse(api, 'learn');
    const growth = stop();
    const { precision, recall } = await judge(client, truth);
    log(`precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)} among ${applications} applications`);

    const decided = await decide(api, truth);
    await client.query(`update cards set name = name || ' anew', updated_at = now()
       where id in (select id from cards where type = 'Application' order by md5(id::text) limit ${CHANGED})`);
    const changes = await analyse(api, 'changes');
    const { changed, compared_now } = changes.results;
    const print = await fingerprint(client);
    log(
      `after ${CHANGED} changes and ${decided} decisions: ${changed} cards and ${compared_now} pairs of ${first.results.compared_now} compared`,
    );

    // cancelled while records are compared
    const cancelled = await api.post<Started>(ANALYSE, { mode: 'everything' });
    await delay((1_000 * first.seconds) / 4);
    const cancelMs = await timed(async () => {
      await api.post(`/ai-analysis/analysis-runs/${cancelled.run_id}/cancel`, {});
      while ((await api.get<Job>(`/jobs/${cancelled.job_id}`)).status !== 'cancelled') await delay(POLL_MS);
    });
    const full = await analyse(api, 'everything');
    const isSame = (await fingerprint(client)) === print && full.model_version === changes.model_version;
    return [
      under('duplicates of all types, one worker', first.seconds, 's', 180),
      under('duplicates, memory growth', growth, 'MB', 500),
      atLeast('duplicates, precision', precision, '', 0.9),
      atLeast('duplicates, recall', recall, '', 0.8),
      within('duplicates after 100 changes, cards compared anew', changed, 'cards', CHANGED),
      under('duplicates after 100 changes', changes.seconds, 's', 0.6, first.seconds),
      within('duplicates, differences from a full run', isSame ? 0 : 1, '', 0),
      under('duplicates, cancelled', cancelMs, 'ms', 2_000),
    ];
  },
};

const LEASE_POLL_MS = 500;

/** Samples the lease of a job. @returns what ends it: the seconds that it had left at least. */
function sampleLease(client: pg.Client): () => number {
  let least = Number.POSITIVE_INFINITY;
  const timer = setInterval(async () => {
    const { rows } = await client.query(
      `select extract(epoch from lease_until - clock_timestamp())::float8 as left from jobs where status = 'running' and kind = 'duplicates'`,
    );
    for (const { left } of rows) least = Math.min(least, left);
  }, LEASE_POLL_MS);
  return () => {
    clearInterval(timer);
    return least;
  };
}

/** Searches among as many applications as `--cards`, in a worker beside the API: time, memory, and its lease. */
export const duplicatesSize: Scenario = {
  name: 'duplicates-size',
  onlyNamed: true,
  loadsItself: true,
  async run({ args, log }) {
    await using service = await startService({}, 'api');
    const worker = await service.join('worker');
    const { api, client } = service;
    await fillWithDuplicates(client, args.cards, [TYPES[0]]);
    const rows: Row[] = [];
    for (const mode of ['learn', 'changes']) {
      const [growth, lease] = [sampleGrowth(worker.pid), sampleLease(client)];
      const { seconds, results } = await analyse(api, mode);
      const least = lease();
      log(
        `${mode}: ${results.compared_now} pairs compared; the lease had at least ${least.toFixed(1)} s left`,
      );
      rows.push(
        under(`duplicates among ${args.cards} applications, ${mode}, memory growth`, growth(), 'MB', 1_000),
        under(`duplicates among ${args.cards} applications, ${mode}`, seconds, 's', 36_000),
        atLeast('duplicates, lease left', least, 's', 3),
      );
      await client.query(`update cards set name = name || ' anew', updated_at = now()
         where id in (select id from cards where type = 'Application' order by md5(id::text) limit ${CHANGED})`);
    }
    return rows;
  },
};
