import { openDatabase } from '../../../platform/database.ts';
import { readAsOf } from '../../../reports/kernel/as-of/as-of.ts';
import { type Api, apiAt, drain } from '../harness/api.ts';
import { cardIds, invalidate } from '../harness/database.ts';
import { compareLoad } from '../harness/load.ts';
import { median, timesOf } from '../harness/measure.ts';
import { startProgram } from '../harness/programs.ts';
import { atLeast, type Row, under, within } from '../harness/rows.ts';
import type { Context, Scenario } from '../harness/scenario.ts';
import { makePlan, writeHistory } from './reports.data-sets.ts';

/** A figure in the unit U: what is read, and how many U it may take. */
type Computed = [figure: string, read: string | ((round: number) => Promise<unknown>), units: number];

/** The median milliseconds of reading something that is computed each time, by figure. */
async function computed(
  { api, client, unit }: Context,
  figures: Computed[],
  { rounds, topics }: { rounds: number; topics?: string[] },
): Promise<Row[]> {
  const baseline = await unit();
  const rows: Row[] = [];
  for (const [figure, read, units] of figures) {
    const times = await timesOf(
      rounds,
      typeof read === 'string' ? async () => drain(await api.fetch(read)) : read,
      () => invalidate(client, topics),
    );
    rows.push(under(figure, median(times), 'ms', units, baseline));
  }
  return rows;
}

const DASHBOARD = '/reports/dashboard';

/** What the dashboard costs when it has to be computed. */
export const dashboardComputed: Scenario = {
  name: 'dashboard-computed',
  async run(context) {
    const { api, client } = context;
    const [id] = await cardIds(client, 'Application', 1);
    const baseline = await context.unit();
    const changed = await timesOf(
      11,
      () => api.get(DASHBOARD),
      (round) => api.patch(`/cards/${id}`, { alias: `round ${round}` }),
    );
    return [
      under('dashboard, computed after a change', median(changed), 'ms', 0.5, baseline),
      ...(await computed(context, [['dashboard, computed after changes of all types', DASHBOARD, 0.5]], {
        rounds: 11,
      })),
    ];
  },
};

const CLIENTS = 200;

/** How often a report is computed when many ask at once on a cold cache. */
async function computedAtOnce({ api, client }: Context): Promise<number> {
  const count = async () => {
    const text = await (await fetch(`${api.url}/metrics`, { headers: api.headers })).text();
    return Number(
      /estate_report_responses_total\{report="data-quality",outcome="computed"\} (\d+)/.exec(text)?.[1] ?? 0,
    );
  };
  await invalidate(client);
  const before = await count();
  await Promise.all(Array.from({ length: CLIENTS }, () => api.get('/reports/data-quality')));
  return (await count()) - before;
}

/** What reports cost when they have to be computed, and that many who ask at once cause one computation. */
export const reports: Scenario = {
  name: 'reports',
  async run(context) {
    const costs = '/reports/cost-treemap?group_by=Organization&aggregate=ITComponent';
    const figures: Computed[] = [
      ['data quality, computed', '/reports/data-quality', 0.7],
      ['cost, computed', '/reports/cost', 1.2],
      ['roadmap, computed', '/reports/roadmap', 1.2],
      ['portfolio, computed', '/reports/portfolio', 1.2],
      ['cost treemap, grouped and with related costs, computed', costs, 1.2],
    ];
    const rows = await computed(context, figures, { rounds: 7 });
    const times = await computedAtOnce(context);
    return [...rows, within(`computations for ${CLIENTS} who ask at once`, times, 'times', 1)];
  },
};

/** What the reports on groups of cards cost when they have to be computed. */
export const landscapeReports: Scenario = {
  name: 'landscape-reports',
  run: (context) =>
    computed(
      context,
      ['landscape', 'capability-heatmap', 'app-portfolio'].map((name) => [
        `${name}, computed`,
        `/reports/${name}`,
        2,
      ]),
      { rounds: 5 },
    ),
};

const query = {
  from: ['Application'],
  dimensions: [
    { field: 'attributes.businessCriticality' },
    { field: 'relation.relAppToITC.target.subtype', as: 'component' },
    { field: 'phase' },
  ],
  measures: [
    { fn: 'count' },
    { fn: 'sum', field: 'attributes.costTotalAnnual' },
    { fn: 'percentile', p: 0.9, field: 'attributes.numberOfUsers' },
    { fn: 'sum', field: 'relation.relAppToITC.attributes.costTotalAnnual' },
  ],
};

/** What the reports of relations and a query over all cards cost. */
export const reportGraphs: Scenario = {
  name: 'report-graphs',
  async run(context) {
    const { api, client, log } = context;
    const { rows: hubs } = await client.query<{ id: string; n: number }>(`
       select c.id, count(*)::int as n from cards c join relations r on c.id in (r.source_id, r.target_id)
       where c.status = 'ACTIVE' group by c.id order by n desc limit 1`);
    log(`the busiest card has ${hubs[0]!.n} relations`);
    const { rows: usual } = await client.query<{ id: string }>(`
       select c.id from relations r join cards c on c.id = r.source_id and c.status = 'ACTIVE'
       where r.type = 'relAppToITC' order by r.id limit 3`);
    const around = (id: string) => `/reports/dependencies?center_id=${id}`;
    const figures: Computed[] = [
      ['matrix', '/reports/matrix', 2],
      ['dependencies, 2 hops around a card', (round) => api.get(around(usual[round]!.id)), 0.3],
      ['dependencies, 2 hops around the busiest card', around(hubs[0]!.id), 0.3],
      ['dependencies, whole graph, streamed', '/reports/dependencies', 5],
      ['query: 3 dimensions, 4 measures, over a relation', () => api.post('/reports/query', query), 2],
    ];
    return await computed(context, figures, { rounds: 3 });
  },
};

const LINKED = 4;

/** What it costs to report what ends in a large landscape, and to propose products for its cards. */
export const eol: Scenario = {
  name: 'eol',
  async run(context) {
    // one in four applications and IT components is linked to a product
    await context.client.query(`with cycles as (
         select product, cycle, row_number() over (order by product, cycle) - 1 as n, count(*) over () as total from eol_cycles
       ), chosen as (
         select id, row_number() over (order by id) as n from cards
         where type in ('Application', 'ITComponent') and status = 'ACTIVE'
       )
       update cards c set attributes = coalesce(c.attributes, '{}')
         || jsonb_build_object('eol_product', y.product, 'eol_cycle', y.cycle)
       from chosen k join cycles y on y.n = (k.n / ${LINKED}) % y.total
       where c.id = k.id and k.n % ${LINKED} = 0`);
    const propose = (round: number) =>
      context.api.post(`/eol/mass-search?type_key=ITComponent&page_size=200&page=${round + 1}`, {});
    const figures: Computed[] = [
      ['end of life, computed', '/reports/eol', 2],
      ['products proposed for 200 cards', propose, 0.5],
    ];
    return await computed(context, figures, { rounds: 5 });
  },
};

/** What a portfolio with a large plan costs to read. */
export const ppm: Scenario = {
  name: 'ppm',
  async run(context) {
    const { id, tasks, items } = await makePlan(context.client);
    const figures: Computed[] = [
      ['gantt of all initiatives, computed', '/reports/ppm/gantt', 0.5],
      ['portfolio dashboard, computed', '/reports/ppm/dashboard', 0.5],
      [`critical path of ${tasks} tasks`, `/ppm/initiatives/${id}/critical-path`, 0.5],
      [`progress of ${items} items over ${tasks} tasks`, `/ppm/initiatives/${id}/wbs?page_size=200`, 0.5],
    ];
    return await computed(context, figures, { rounds: 7, topics: ['ppm'] });
  },
};

/** What is read while nothing changes: responses of some kilobytes, and a list of some hundred cards. */
const cached = {
  dashboard: DASHBOARD,
  'data quality': '/reports/data-quality',
  'cost with parameters': '/reports/cost?type=Platform',
};

const ALTERNATIONS = 10_000;

interface Dashboard {
  position: string;
  recent_events: { card_id: string; data: { changes: Record<string, { new: unknown }> } }[];
}

/** Changes a card through one process and reads the dashboard through the other, by turns. @returns how often it was stale. */
async function countStale(apis: [Api, Api], cardId: string, log: Context['log']): Promise<number> {
  let stale = 0;
  for (let turn = 0; turn < ALTERNATIONS; turn += 1) {
    const [writer, reader] = turn % 2 === 0 ? apis : apis.toReversed();
    const alias = `turn ${turn}`;
    const written = await writer!.send('PATCH', `/cards/${cardId}`, { alias });
    await written.arrayBuffer();
    const { position, recent_events } = await reader!.get<Dashboard>(DASHBOARD);
    const [newest] = recent_events;
    const isFresh =
      Number(position) >= Number(written.headers.get('x-position')) &&
      newest?.card_id === cardId &&
      newest.data.changes.alias?.new === alias;
    if (!isFresh) stale += 1;
    if ((turn + 1) % 2_500 === 0) log(`${turn + 1} of ${ALTERNATIONS} alternations`);
  }
  return stale;
}

/** How fast reports are read that nothing has changed since, and that the dashboard is never stale. */
export const dashboardCached: Scenario = {
  name: 'dashboard-cached',
  async run({ service, api, client, log }) {
    const rows: Row[] = [];
    using program = startProgram('static');
    const baseline = { url: await program.ask<string>({}), paths: ['/static'] };
    for (const [name, path] of Object.entries(cached)) {
      const load = await compareLoad(api, [`/api/v1${path}`], baseline);
      const value = load.service.requestsPerSecond;
      rows.push(atLeast(`${name}, cached`, value, 'req/s', 0.2, load.baseline.requestsPerSecond));
    }
    const second = await service.join('api');
    const [id] = await cardIds(client, 'Platform', 1);
    const stale = await countStale([api, apiAt(second.url, api.headers)], id!, log);
    await second.stop();
    return [...rows, within(`stale of ${ALTERNATIONS} through two APIs`, stale, 'answers', 0)];
  },
};

const EVENTS = 200_000;
const PAST_ROUNDS = 3;
const pastReports = [
  ...['data-quality', 'cost', 'roadmap', 'portfolio', 'app-portfolio', 'landscape', 'capability-heatmap'],
  ...['matrix', 'cost-treemap', 'dependencies', 'eol', 'stakeholder-directory', 'dashboard', 'my-workspace'],
  'admin-dashboard',
];

/** Reports as of a time since which much was written, compared with the present ones. */
export const past: Scenario = {
  name: 'past',
  async run({ service, api, client, log }) {
    const { rows: first } = await client.query('select max(position) from events');
    if (first[0].max === null) await api.post('/cards', { type: 'Application', name: 'Written first' });
    const asOf = (await client.query<{ at: Date }>('select clock_timestamp() as at')).rows[0]!.at;
    await writeHistory(client, EVENTS);
    const db = openDatabase({ url: service.databaseUrl, name: 'bench', poolMax: 2 });
    const empty = await timesOf(PAST_ROUNDS, () => readAsOf(db, asOf, async () => undefined));
    await db.destroy();
    log(`the tables as of then are there after ${Math.round(median(empty))} ms`);
    const [center] = await cardIds(client, 'Application', 1);
    const around = `dependencies?center_id=${center}&depth=2&`;
    const read = pastReports.map((report) => [report, `${report}?`]);
    const found: Row[] = [];
    for (const [name, start] of [...read, ['dependencies around a card', around]]) {
      // another filter each time, and one that is true of all cards: nothing comes from the cache
      const path = (n: number) => `/reports/${start}filter=${encodeURIComponent(`name != "No card ${n}"`)}`;
      const present = await timesOf(PAST_ROUNDS, (n) => api.get(path(n)));
      const past = await timesOf(PAST_ROUNDS, (n) => api.get(`${path(n)}&as_of=${asOf.toISOString()}`));
      found.push(under(`${name}, ${EVENTS} events ago`, median(past), 'ms', 5, median(present)));
    }
    return found;
  },
};
