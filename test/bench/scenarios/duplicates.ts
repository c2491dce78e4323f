import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { MatchRecord } from '../../../integrations/analysis/matching/matching.types.ts';
import type { Api } from '../harness/api.ts';
import { connect } from '../harness/database.ts';
import { sampleMemory } from '../harness/memory.ts';
import { atLeast, type Row, under, within } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { startService } from '../harness/service.ts';
import { KINDS, plantedIn } from '../matching/planted.ts';

const MB = 1_000_000;
/** Applications of the full size; `--cards` is 100,000 unless given. */
const SHARE = 0.4;
const CHANGED = 100;
/** Clusters that are decided about before the second run. */
const DECIDED = 60;
const AT_ONCE = 5_000;
const POLL_MS = 20;

/** Which kind of made-up records stands for which type, and how many of them for each application. */
const TYPES = [
  { type: 'Application', kind: 0, share: 1 },
  { type: 'ITComponent', kind: 1, share: 0.25 },
  { type: 'Provider', kind: 2, share: 0.05 },
  { type: 'BusinessCapability', kind: 3, share: 0.05 },
  { type: 'Interface', kind: 0, share: 0.15 },
] as const;

interface Run {
  id: string;
  job_id: string;
  status: string;
  progress: number;
  model_version: string;
  error_message: string | null;
  results: { changed: number; compared_now: number };
}

/** Pairs of names that are one thing. */
type Truth = Map<string, Set<string>>;

/** Fills the service with cards, a tenth of which are there twice, and another tenth variants that are no duplicates. */
export async function furnish(client: pg.Client, applications: number): Promise<Truth> {
  const truth: Truth = new Map();
  for (const { type, kind, share } of TYPES) {
    const judged = plantedIn(KINDS[kind]!, Math.max(20, Math.round(applications * share)), type.length);
    // siblings have different names: what would be the same is told apart by a parent that says nothing
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
  await client.query(
    `with app as (select id, row_number() over (order by id) as n from cards where type = 'Application'),
       component as (select id, row_number() over (order by id) as n, count(*) over () as total from cards where type = 'ITComponent')
     insert into relations (type, source_id, target_id, attributes)
     select 'relAppToITC', app.id, component.id, '{}' from app
     cross join generate_series(0, 1) k join component on component.n = (app.n * 7 + k * 13) % component.total + 1
     on conflict do nothing`,
  );
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

async function start(api: Api, mode: string): Promise<{ run_id: string; job_id: string }> {
  return await api.post('/ai-analysis/duplicates/analyse', { mode });
}

async function untilEnded(api: Api, id: string): Promise<Run> {
  for (;;) {
    const run = await api.get<Run>(`/ai-analysis/analysis-runs/${id}`);
    if (run.status === 'completed') return run;
    if (run.status !== 'running') throw new Error(`the run is ${run.status}: ${run.error_message}`);
    await delay(POLL_MS);
  }
}

/** Everything that a run has found, as one number. */
export async function fingerprint(client: pg.Client): Promise<string> {
  const { rows } = await client.query(
    `select md5(
       (select coalesce(string_agg(p::text, '' order by id), '') from (
          select id, class, score, alone, similarities, bits, model_id, cluster_id from duplicate_pairs) p) ||
       (select coalesce(string_agg(c::text, '' order by id), '') from (
          select id, card_ids, status, cohesion, least_score, most_score from duplicate_clusters) c)) as print`,
  );
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
  const { rows } = await client.query(
    `select least(a.name, b.name) as one, greatest(a.name, b.name) as other from duplicate_pairs p
     join cards a on a.id = p.left_id join cards b on b.id = p.right_id
     where p.card_type = 'Application' and p.class = 'match'`,
  );
  const right = truth.get('Application')!;
  const hits = rows.filter(({ one, other }) => right.has([one, other].sort().join('\n'))).length;
  return { precision: hits / Math.max(1, rows.length), recall: hits / Math.max(1, right.size) };
}

async function run({ args, log }: Context): Promise<Row[]> {
  await using resources = new AsyncDisposableStack();
  const service = resources.adopt(await startService({ DEMO: 'false' }), (started) => started.stop());
  const client = resources.adopt(await connect(service.databaseUrl), (connection) => connection.end());
  const { api } = service;
  const applications = Math.round(args.cards * SHARE);
  const truth = await furnish(client, applications);

  const memory = resources.adopt(sampleMemory([service.pid]), (sampling) => void sampling.stop());
  const begin = performance.now();
  const first = await untilEnded(api, (await start(api, 'learn')).run_id);
  const seconds = (performance.now() - begin) / 1_000;
  const { growthBytes } = memory.stop();
  const { precision, recall } = await judge(client, truth);
  log(
    `duplicates among ${applications} applications and others: ${seconds.toFixed(1)} s, ${(growthBytes / MB).toFixed(0)} MB grown; precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`,
  );

  const decided = await decide(api, truth);
  await client.query(
    `update cards set name = name || ' anew', updated_at = now()
     where id in (select id from cards where type = 'Application' order by md5(id::text) limit ${CHANGED})`,
  );
  const after = performance.now();
  const changes = await untilEnded(api, (await start(api, 'changes')).run_id);
  const again = (performance.now() - after) / 1_000;
  const print = await fingerprint(client);
  log(
    `after ${CHANGED} changes and ${decided} decisions: ${again.toFixed(1)} s, ${changes.results.changed} cards and ${changes.results.compared_now} pairs of ${first.results.compared_now} compared`,
  );

  // cancelled while records are compared, then a worker killed at the same place
  const cancelled = await start(api, 'everything');
  await delay((1_000 * seconds) / 4);
  const asked = performance.now();
  await api.post(`/ai-analysis/analysis-runs/${cancelled.run_id}/cancel`, {});
  for (;;) {
    const { status } = await api.get<{ status: string }>(`/jobs/${cancelled.job_id}`);
    if (status === 'cancelled') break;
    await delay(POLL_MS);
  }
  const cancelMs = performance.now() - asked;
  const full = await untilEnded(api, (await start(api, 'everything')).run_id);
  const differs =
    (await fingerprint(client)) === print && full.model_version === changes.model_version ? 0 : 1;
  return [
    under({ figure: 'duplicates of all types, one worker', value: seconds, unit: 's' }, 180),
    under({ figure: 'duplicates, memory growth', value: growthBytes / MB, unit: 'MB' }, 500),
    atLeast({ figure: 'duplicates, precision', value: precision, unit: '' }, 0.9),
    atLeast({ figure: 'duplicates, recall', value: recall, unit: '' }, 0.8),
    within(
      {
        figure: 'duplicates after 100 changes, cards compared anew',
        value: changes.results.changed,
        unit: 'cards',
      },
      CHANGED,
      CHANGED,
    ),
    under({ figure: 'duplicates after 100 changes', value: again, unit: 's', floor: seconds }, 0.6),
    within({ figure: 'duplicates, differences from a full run', value: differs, unit: '' }, 0, 0),
    under({ figure: 'duplicates, cancelled', value: cancelMs, unit: 'ms' }, 2_000),
  ];
}

/** Searches for duplicates among all types: time, memory, what 100 changes cost, and how quickly one is cancelled. */
export const duplicates = { name: 'duplicates', run };
