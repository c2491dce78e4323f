import { setTimeout as delay } from 'node:timers/promises';
import { importCsv, untilDone } from '../harness/api.ts';
import { mapApplications, startRemote } from '../harness/itsm.ts';
import { type Row, under, within } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { type Service, startService } from '../harness/service.ts';

const CHANGES = 5_000;
const LIMIT = 40;
const WRITE_MS = 50;
/** How long a run goes before the limit is halved, how long it may take to follow, and how long it is watched then. */
const BEFORE_MS = 15_000;
const FOLLOWS_MS = 10_000;
const WATCHED_MS = 15_000;

interface Told {
  now: number;
  calls: { at: number; refused: boolean }[];
}

async function importCards({ api }: Service, from: number, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, at) => `Application,Pushed ${from + at},Made here`);
  await importCsv(api, 'cards', ['type,name,description', ...lines].join('\n'));
}

interface Started {
  id: string;
  job_id: string;
}

async function run({ log }: Context): Promise<Row[]> {
  const remote = await startRemote<object, { limit?: number }, Told>('itsm-push.remote.ts', LIMIT, WRITE_MS);
  const service = await startService({ OUTBOUND_ALLOW: '127.0.0.1:*' });
  const { api } = service;
  const push = (mappingId: string) => api.post<Started>(`/itsm-sync/sync/push/${mappingId}`, {});
  try {
    await importCards(service, 0, CHANGES);
    const mappingId = await mapApplications(api, remote.hello.base, { sync_direction: 'push' });
    log(`pushing ${CHANGES} cards at a limit of ${LIMIT} requests a second`);
    await remote.ask({});
    const start = performance.now();
    const first = await push(mappingId);
    await untilDone(api, first.job_id);
    const seconds = (performance.now() - start) / 1000;
    const { stats, status } = await api.get<{ stats: Record<string, number>; status: string }>(
      `/itsm-sync/sync/runs/${first.id}`,
    );
    log(JSON.stringify(stats));
    if (stats.created !== CHANGES) throw new Error(`${stats.created} records: ${status}`);
    const { calls } = await remote.ask({});
    const refused = calls.filter((call) => call.refused).length;

    await importCards(service, CHANGES, CHANGES);
    log('pushing on, and halving the limit');
    const second = await push(mappingId);
    let halved = 0;
    while (halved === 0) {
      await delay(BEFORE_MS);
      if ((await remote.ask({})).calls.length > LIMIT) halved = (await remote.ask({ limit: LIMIT / 2 })).now;
    }
    await delay(FOLLOWS_MS + WATCHED_MS);
    const late = (await remote.ask({})).calls.filter(({ at }) => at >= halved + FOLLOWS_MS);
    await api.post(`/itsm-sync/sync/runs/${second.id}/cancel`, {});
    const span = (late.at(-1)!.at - halved - FOLLOWS_MS) / 1000;
    const pace = late.filter((call) => !call.refused).length / span;
    return [
      under({ figure: `${CHANGES} changes pushed by a run`, value: seconds, unit: 's' }, 140),
      under({ figure: 'refused of its requests', value: (refused / calls.length) * 100, unit: '%' }, 1),
      within(
        { figure: 'pace of a run 10 s after the limit was halved', value: pace, unit: '/s' },
        LIMIT * 0.4,
        LIMIT / 2 + 1,
      ),
    ];
  } finally {
    remote.stop();
    await service.stop();
  }
}

/** How fast a run pushes to a remote that lets only so many requests a second through, each with one change. */
export const itsmPush = { name: 'itsm-push', run };
