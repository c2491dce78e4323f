import { setTimeout as delay } from 'node:timers/promises';
import { type Api, apiAt, drain } from '../harness/api.ts';
import { invalidate } from '../harness/database.ts';
import { median, residentBytes, timesOf } from '../harness/measure.ts';
import { type Row, under } from '../harness/rows.ts';
import type { Context, Scenario } from '../harness/scenario.ts';

const large = [
  'capability-heatmap',
  'dependencies',
  'eol?days=3650',
  'landscape',
  'matrix',
  'app-portfolio',
].map((name) => `/reports/${name}`);

/** The highest memory in MB and response time of the liveness check in ms while `work` runs. */
async function worstDuring(pid: number, url: string, work: Promise<unknown>) {
  const worst = { memory: 0, live: 0 };
  let isDone = false;
  const done = () => {
    isDone = true;
  };
  work.then(done, done);
  while (!isDone) {
    worst.memory = Math.max(worst.memory, residentBytes(pid) / 1024 / 1024);
    const start = performance.now();
    await drain(await fetch(`${url}/api/health/live`));
    worst.live = Math.max(worst.live, performance.now() - start);
    await delay(20);
  }
  await work;
  return worst;
}

/** How many times longer the middle page of a list takes than the first. */
async function deepPage(api: Api, path: string): Promise<Row> {
  const { total } = await api.get<{ total: number }>(`${path}?page_size=1`);
  const timeOf = async (page: number) =>
    median(await timesOf(7, async () => drain(await api.fetch(`${path}?page_size=50&page=${page}`))));
  const first = await timeOf(1);
  return under(`middle page of ${path}`, await timeOf(Math.ceil(total / 100)), 'ms', 3, first);
}

/** Memory and responsiveness of an API while six large reports are requested at once, and deep pages of lists. */
export const largeReports: Scenario = {
  name: 'large-reports',
  onlyNamed: true,
  async run({ service, client, log }: Context) {
    const { pid, url, stop } = await service.join('api');
    try {
      const api = apiAt(url, service.api.headers);
      for (const path of large) {
        await invalidate(client);
        const start = performance.now();
        const bytes = await drain(await api.fetch(path));
        log(`${path}: ${Math.round(performance.now() - start)} ms, ${JSON.stringify(bytes)} bytes`);
      }
      await invalidate(client);
      const work = Promise.all(large.map(async (path) => drain(await api.fetch(path))));
      const { memory, live } = await worstDuring(pid, url, work);
      return [
        under('memory of an API during six large reports at once', memory, 'MB', 400),
        under('liveness check during six large reports at once', live, 'ms', 200),
        await deepPage(api, '/relations'),
        await deepPage(api, '/cards'),
      ];
    } finally {
      await stop();
    }
  },
};
