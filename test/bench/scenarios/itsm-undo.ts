import { untilDone } from '../harness/api.ts';
import { mapApplications, runOnce, type SyncRun, startRemote } from '../harness/itsm.ts';
import { type Row, under } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { startService } from '../harness/service.ts';

/** How long it takes to take back a pull, held against the pull. */
async function run({ args, log }: Context): Promise<Row[]> {
  const records = Math.min(args.cards, 50_000);
  const remote = await startRemote('itsm-sync.remote.ts', records, 0, 0);
  const service = await startService({ OUTBOUND_ALLOW: '127.0.0.1:*' });
  try {
    const { api } = service;
    const mappingId = await mapApplications(api, remote.hello.base, { sync_direction: 'pull' });
    log(`pulling ${records} records`);
    const start = performance.now();
    const { id } = await runOnce(api, mappingId);
    const between = performance.now();
    log('taking the run back');
    const undo = await api.post<{ id: string; job_id: string }>(`/itsm-sync/sync/runs/${id}/undo`, {});
    await untilDone(api, undo.job_id);
    const seconds = (performance.now() - between) / 1000;
    const { stats } = await api.get<SyncRun>(`/itsm-sync/sync/runs/${undo.id}`);
    log(`by stage: ${JSON.stringify(stats.seconds)}`);
    if (stats.deleted !== records) throw new Error(`${stats.deleted} cards were archived`);
    const floor = (between - start) / 1000;
    return [under({ figure: `undo of a pull of ${records} records`, value: seconds, unit: 's', floor }, 3)];
  } finally {
    remote.stop();
    await service.stop();
  }
}

export const itsmUndo = { name: 'itsm-undo', run };
