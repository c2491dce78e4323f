import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Service } from '../bench/harness/service.ts';

interface Job {
  status: string;
  counts: Record<string, number> | null;
}

/** Imports the `*.cards.csv` and then the `*.relations.csv` of a folder; refused rows are counted and left out. */
export async function importFolder({ api }: Service, folder: string): Promise<void> {
  const names = (await readdir(folder)).sort();
  for (const kind of ['cards', 'relations']) {
    for (const name of names.filter((one) => one.endsWith(`.${kind}.csv`))) {
      const answer = await api.fetch(`/imports?kind=${kind}&mode=upsert`, {
        method: 'POST',
        headers: { 'content-type': 'text/csv' },
        body: await readFile(path.join(folder, name)),
      });
      const { job_id } = (await answer.json()) as { job_id: string };
      let job = await api.get<Job>(`/jobs/${job_id}`);
      while (!['succeeded', 'failed', 'cancelled'].includes(job.status)) {
        await setTimeout(500);
        job = await api.get<Job>(`/jobs/${job_id}`);
      }
      console.info(`${name}: ${job.status} ${JSON.stringify(job.counts)}`);
    }
  }
}
