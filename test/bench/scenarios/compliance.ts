import { setTimeout as delay } from 'node:timers/promises';
import { type Job, untilDone } from '../harness/api.ts';
import { sampleMemory } from '../harness/memory.ts';
import { type Row, under, within } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';

const MB = 1_000_000;

interface Started {
  run_id: string;
  job_id: string;
}

async function run({ service, client, loadLandscape, log }: Context): Promise<Row[]> {
  await loadLandscape();
  await client.query('vacuum analyze');
  const { api } = service;
  const start = () => api.post<Started>('/compliance/scans', {});
  const timed = async (): Promise<[number, Job]> => {
    const begin = performance.now();
    const { job_id } = await start();
    const job = await untilDone(api, job_id);
    return [(performance.now() - begin) / 1000, job];
  };
  const memory = sampleMemory([service.pid]);
  const [first, { counts }] = await timed();
  const { growthBytes } = memory.stop();
  log(`first scan: ${JSON.stringify(counts)}`);
  await client.query('vacuum analyze compliance_findings');
  const [second, again] = await timed();

  // one that is cancelled in the middle
  const { run_id, job_id } = await start();
  for (;;) {
    const { progress } = await api.get<{ progress: number }>(`/jobs/${job_id}`);
    if (progress > 0.2) break;
    await delay(20);
  }
  const cancelled = performance.now();
  await api.post(`/ai-analysis/analysis-runs/${run_id}/cancel`, {});
  for (;;) {
    const { rows } = await client.query('select from jobs where id = $1 and lease_owner is null', [job_id]);
    if (rows.length > 0) break;
    await delay(20);
  }
  const stopped = (performance.now() - cancelled) / 1000;

  const read = async (path: string): Promise<number> => {
    const begin = performance.now();
    await api.get(path);
    return performance.now() - begin;
  };
  const seen = again.counts as Record<string, number>;
  return [
    under({ figure: 'first scan of six regulations', value: first, unit: 's' }, 180),
    under({ figure: 'its growth in memory', value: growthBytes / MB, unit: 'MB' }, 500),
    under({ figure: 'second scan, nothing changed', value: second, unit: 's' }, 90),
    within(
      {
        figure: 'findings that it wrote',
        value: (seen.found ?? 0) + (seen.changed ?? 0) + (seen.resolved ?? 0),
        unit: '',
      },
      0,
      0,
    ),
    under({ figure: 'a cancelled scan has stopped', value: stopped, unit: 's' }, 2),
    under({ figure: 'overview', value: await read('/compliance/overview'), unit: 'ms' }, 1000),
    under({ figure: 'bundles', value: await read('/compliance/bundles'), unit: 'ms' }, 5000),
  ];
}

/** What it costs to look at a large landscape by the rules of all built-in regulations, the first time and again. */
export const compliance = { name: 'compliance', run };
