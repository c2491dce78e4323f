import type { Api } from '../harness/api.ts';
import { untilDone } from '../harness/api.ts';
import { type Row, under } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';

/** Seconds that a run may take, and milliseconds for reading what it found. */
const [RUN, READ] = [60, 2_000];

async function timed<T>(work: () => Promise<T>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function runOf(api: Api, path: string, body: object): Promise<number> {
  const took = await timed(async () => {
    const { job_id } = await api.post<{ job_id: string }>(`/ai-analysis/${path}`, body);
    await untilDone(api, job_id);
  });
  return took / 1_000;
}

async function run({ service: { api }, unit }: Context): Promise<Row[]> {
  await unit();
  const rows: Row[] = [];
  for (const [figure, path, body] of [
    ['suppliers and what they supply', 'vendors/analyse', {}],
    ['suppliers, their owners and products', 'vendors/resolve', {}],
    ['what should be modernised', 'modernizations/analyse', { target_type: 'Application' }],
  ] as const) {
    rows.push(under({ figure, value: await runOf(api, path, body), unit: 's' }, RUN));
  }
  for (const [figure, path] of [
    ['suppliers by cost', 'vendors?sort_by=total_cost&sort_dir=desc'],
    ['products by cost', 'vendors/hierarchy?sort_by=total_cost&sort_dir=desc'],
    ['concentration', 'vendors/concentration'],
    ['candidates by score', 'modernizations'],
  ] as const) {
    const value = await timed(() => api.get(`/ai-analysis/${path}`));
    rows.push(under({ figure: `${figure}, read`, value, unit: 'ms' }, READ));
  }
  const insights = await timed(() => api.post('/ai/portfolio-insights', { group_by: 'Organization' }));
  rows.push(under({ figure: 'portfolio insights', value: insights, unit: 'ms' }, READ));
  return rows;
}

/** What the analyses of suppliers, modernisation and the portfolio take on a large landscape. */
export const portfolioAnalysis = { name: 'portfolio-analysis', run };
