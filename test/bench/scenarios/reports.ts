import { type Row, under, within } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { median } from '../harness/stats.ts';

const ROUNDS = 7;
const CLIENTS = 200;

/** The reports' addresses, and how many U each may take. */
const figures: Record<string, { path: string; units: number }> = {
  'data quality': { path: '/reports/data-quality', units: 0.7 },
  cost: { path: '/reports/cost', units: 1.2 },
  roadmap: { path: '/reports/roadmap', units: 1.2 },
  portfolio: { path: '/reports/portfolio', units: 1.2 },
  'cost treemap, grouped and with related costs': {
    path: '/reports/cost-treemap?group_by=Organization&aggregate=ITComponent',
    units: 1.2,
  },
};

/** Makes everything that is kept out of date, without changing anything. */
const forget = ({ client }: Context) =>
  client.query(
    `select record_events('[]', array(select topic from topic_versions where topic like 'cards:%'))`,
  );

/** Milliseconds from the request to the last byte, computed each time. */
async function computed(context: Context, path: string): Promise<{ ms: number; bytes: number }> {
  const times: number[] = [];
  let bytes = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    await forget(context);
    const start = performance.now();
    const response = await context.service.api.fetch(path);
    bytes = (await response.arrayBuffer()).byteLength;
    times.push(performance.now() - start);
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
  }
  return { ms: median(times), bytes };
}

/** How often the answer was computed when many ask at once on a cold cache. */
async function computedAtOnce(context: Context): Promise<number> {
  const { api } = context.service;
  const count = async () => {
    const text = await (await fetch(`${api.url}/metrics`, { headers: api.headers })).text();
    const found = /estate_report_answers_total\{report="data-quality",outcome="computed"\} (\d+)/.exec(text);
    return Number(found?.[1] ?? 0);
  };
  await forget(context);
  const before = await count();
  await Promise.all(Array.from({ length: CLIENTS }, () => api.get('/reports/data-quality')));
  return (await count()) - before;
}

async function run(context: Context): Promise<Row[]> {
  const unit = await context.unit();
  const rows: Row[] = [];
  for (const [name, { path, units }] of Object.entries(figures)) {
    const { ms, bytes } = await computed(context, path);
    context.log(`${name}: ${(bytes / 1e6).toFixed(1)} MB`);
    rows.push(under({ figure: `${name}, computed`, value: ms, unit: 'ms', floor: unit }, units));
  }
  const times = await computedAtOnce(context);
  rows.push(
    within({ figure: `computations for ${CLIENTS} who ask at once`, value: times, unit: 'times' }, 1, 1),
  );
  return rows;
}

/** What the reports cost when they have to be computed, in the unit U, and that many askers cost one computation. */
export const reports = { name: 'reports', run };
