import { setTimeout as delay } from 'node:timers/promises';
import { type ModelEmulator, startModels } from '../../emulators/openai.ts';
import { runJob, type Started } from '../harness/api.ts';
import { median, sampleGrowth, timed, timesOf } from '../harness/measure.ts';
import { type Row, under, within } from '../harness/rows.ts';
import type { Scenario } from '../harness/scenario.ts';
import { startService } from '../harness/service.ts';
import { loadLandscape } from '../harness/workspace.ts';

/** Capabilities that one session is about. */
const CHOSEN = 20;

/** What the phases of a target architecture cost for the capabilities of the most applications, in the unit U. */
export const architect: Scenario = {
  name: 'architect',
  async run({ api, client, unit }) {
    const baseline = await unit();
    const { rows: selectedCapabilities } = await client.query<{ id: string }>(
      `select c.id from cards c join relations r on r.target_id = c.id
       where c.type = 'BusinessCapability' and c.status = 'ACTIVE' group by c.id order by count(*) desc, c.id limit $1`,
      [CHOSEN],
    );
    const { rows: names } = await client.query<{ name: string }>(`select name from cards
      where type = 'BusinessCapability' and status = 'ACTIVE' order by id limit 1`);
    const widest = { selectedCapabilities, selectedOption: { id: 'buy' } };
    const rows: Row[] = [];
    for (const [figure, phase, body] of [
      ['questions', 'phase1', widest],
      ['gaps', 'phase3/gaps', widest],
      ['options', 'phase3/options', widest],
      ['dependencies', 'phase3/deps', widest],
      ['target architecture', 'phase3', widest],
      ['capabilities meant by a requirement', 'phase1', { requirement: names[0]!.name }],
    ] as const) {
      const times = await timesOf(3, () => api.post(`/ai-analysis/architect/${phase}`, body));
      rows.push(under(figure, median(times), 'ms', 0.6, baseline));
    }
    return rows;
  },
};

/** Seconds that a run may take, and milliseconds for reading what it found. */
const [RUN, READ] = [60, 2_000];

/** What the analyses of suppliers, modernisation and the portfolio take on a large landscape. */
export const portfolioAnalysis: Scenario = {
  name: 'portfolio-analysis',
  async run({ api }) {
    const rows: Row[] = [];
    for (const [figure, path, body] of [
      ['suppliers and what they supply', 'vendors/analyse', {}],
      ['suppliers, their owners and products', 'vendors/resolve', {}],
      ['what should be modernised', 'modernizations/analyse', { target_type: 'Application' }],
    ] as const)
      rows.push(under(figure, (await runJob(api, `/ai-analysis/${path}`, body)).seconds, 's', RUN));
    for (const [figure, path] of [
      ['suppliers by cost', 'vendors?sort_by=total_cost&sort_dir=desc'],
      ['products by cost', 'vendors/hierarchy?sort_by=total_cost&sort_dir=desc'],
      ['concentration', 'vendors/concentration'],
      ['candidates by score', 'modernizations'],
    ] as const)
      rows.push(under(`${figure}, read`, await timed(() => api.get(`/ai-analysis/${path}`)), 'ms', READ));
    const insights = await timed(() => api.post('/ai/portfolio-insights', { group_by: 'Organization' }));
    return [...rows, under('portfolio insights', insights, 'ms', READ)];
  },
};

const SCANS = '/compliance/scans';

/** What a scan of a large landscape by the rules of all built-in regulations costs, the first time and again. */
export const compliance: Scenario = {
  name: 'compliance',
  async run({ service, api, client, log }) {
    await client.query('vacuum analyze');
    const stop = sampleGrowth(service.pid);
    const first = await runJob(api, SCANS);
    const growth = stop();
    log(`first scan: ${JSON.stringify(first.job.counts)}`);
    await client.query('vacuum analyze compliance_findings');
    const second = await runJob(api, SCANS);

    // one that is cancelled in the middle
    const { run_id, job_id } = await api.post<Started>(SCANS, {});
    while ((await api.get<{ progress: number }>(`/jobs/${job_id}`)).progress <= 0.2) await delay(20);
    const cancelMs = await timed(async () => {
      await api.post(`/ai-analysis/analysis-runs/${run_id}/cancel`, {});
      const isLeased = async () =>
        (await client.query('select from jobs where id = $1 and lease_owner is not null', [job_id])).rowCount;
      while (await isLeased()) await delay(20);
    });
    const { found = 0, changed = 0, resolved = 0 } = second.job.counts!;
    return [
      under('first scan of six regulations', first.seconds, 's', 180),
      under('its growth in memory', growth, 'MB', 500),
      under('second scan, nothing changed', second.seconds, 's', 90),
      within('findings that it wrote', found + changed + resolved, '', 0),
      under('a cancelled scan has stopped', cancelMs / 1_000, 's', 2),
      under('overview', await timed(() => api.get('/compliance/overview')), 'ms', 1000),
      under('bundles', await timed(() => api.get('/compliance/bundles')), 'ms', 5000),
    ];
  },
};

/** One card in so many is found to be what a question asks. */
const FOUND = 50;
/** As much as budgets may be. */
const PLENTY = { tokens_per_run: 1_000_000_000, tokens_per_day: 1_000_000_000, calls_per_day: 1_000_000 };

/** A model that answers yes for some of the cards, and quotes their names. */
const answer: ModelEmulator['answer'] = ({ data }) => ({
  cards: (data as { cards: { id: string; name: string }[] }).cards.map(({ id, name }) => {
    const applies = Number.parseInt(id.slice(-4), 16) % FOUND === 0;
    return { id, applies, quote: applies ? name : null, reason: null };
  }),
});

/** What it costs to have a model read a large landscape: within the budget, all of it, and again where nothing has changed. */
export const complianceReadings: Scenario = {
  name: 'compliance-readings',
  onlyNamed: true,
  loadsItself: true,
  async run({ args, log }) {
    await using resources = new AsyncDisposableStack();
    const model = resources.adopt(await startModels(), (started) => started.close());
    model.answer = (asked, count) => {
      // the questions would fill the memory of the bench
      model.asked.length = 0;
      return answer(asked, count);
    };
    const service = resources.use(await startService({ OUTBOUND_ALLOW: '127.0.0.1:*' }));
    const { api, pid } = service;
    await loadLandscape(service, args);
    await api.patch('/settings/ai', {
      enabled: true,
      provider_type: 'openai',
      provider_url: model.url,
      model: 'small',
      outgoing_fields: { '*': ['name', 'description', 'subtype', 'attributes.*'] },
    });
    const scan = async (what: string) => {
      const stop = sampleGrowth(pid);
      const { seconds, started } = await runJob(api, SCANS);
      const growth = stop();
      const { model_parts } = await api.get<{ model_parts: { calls: number }[] }>(
        `/ai-analysis/analysis-runs/${started.run_id}`,
      );
      const calls = model_parts.reduce((sum, part) => sum + part.calls, 0);
      log(`${what}: ${seconds.toFixed(1)} s, ${calls} questions, ${growth.toFixed(0)} MB grown`);
      return { seconds, calls, growth };
    };
    const bounded = await scan('within the budget');
    await api.patch('/settings/ai', PLENTY);
    const whole = await scan('all cards');
    const again = await scan('nothing changed');
    return [
      under('scan with a model, within the budget', bounded.seconds, 's', 240),
      under('scan with a model, growth in memory', whole.growth, 'MB', 500),
      under('scan with a model, a question', (1_000 * whole.seconds) / whole.calls, 'ms', 100),
      within('scan with a model again, questions', again.calls, '', 0),
      under('scan with a model again', again.seconds, 's', 0.6, whole.seconds),
    ];
  },
};
