import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Api, at } from '../harness/api.ts';
import { alternate } from '../harness/load.ts';
import { type NodeProcess, startNode } from '../harness/processes.ts';
import { atLeast, type Row, within } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';

const CONNECTIONS = 8;
const ALTERNATIONS = 10_000;
const LOOK_MS = 25;
const dashboard = '/reports/dashboard';

/** What the scenario looks at in the dashboard. */
interface Dashboard {
  position: string;
  recent_events: { card_id: string; data: { changes: Record<string, { new: unknown }> } }[];
}

async function listeningPort(server: NodeProcess): Promise<number> {
  for (;;) {
    const found = /listening on (\d+)/.exec(server.logTail());
    if (found) return Number(found[1]);
    if (!server.running()) throw new Error(`The static route has ended:\n${server.logTail()}`);
    await delay(LOOK_MS);
  }
}

/** What is loaded: answers of some kilobytes, and one of a list of some hundred cards with a query that is checked against schema and metamodel. */
const targets = {
  dashboard,
  'data quality': '/reports/data-quality',
  'cost with parameters': '/reports/cost?type=Platform',
};

async function measureLoad(api: Api): Promise<Row[]> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'estate-bench-static-'));
  const server = startNode({
    entry: 'test/bench/harness/static-server.ts',
    env: {},
    logFile: path.join(folder, 'log'),
  });
  try {
    const floorUrl = `http://127.0.0.1:${await listeningPort(server)}/static`;
    const rows: Row[] = [];
    for (const [name, target] of Object.entries(targets)) {
      const url = `${api.url}/api/v1${target}`;
      const { cached, floor } = await alternate({
        cached: { url, connections: CONNECTIONS, headers: api.headers },
        floor: { url: floorUrl, connections: CONNECTIONS },
      });
      const value = cached.requestsPerSecond;
      rows.push(
        atLeast({ figure: `${name}, cached`, value, unit: 'req/s', floor: floor.requestsPerSecond }, 0.2),
      );
    }
    return rows;
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Changes a card through one process and reads the dashboard through the other, by turns: does it show the change? */
async function countStale(apis: [Api, Api], cardId: string, log: Context['log']): Promise<number> {
  let stale = 0;
  for (let turn = 0; turn < ALTERNATIONS; turn += 1) {
    const [writer, reader] = turn % 2 === 0 ? apis : apis.toReversed();
    const alias = `turn ${turn}`;
    const written = await writer!.fetch(`/cards/${cardId}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ alias }),
    });
    await written.arrayBuffer();
    const seen = await reader!.get<Dashboard>(dashboard);
    const newest = seen.recent_events[0];
    const fresh =
      Number(seen.position) >= Number(written.headers.get('x-position')) &&
      newest?.card_id === cardId &&
      newest.data.changes.alias?.new === alias;
    if (!fresh) stale += 1;
    if ((turn + 1) % 2_500 === 0) log(`${turn + 1} of ${ALTERNATIONS} alternations`);
  }
  return stale;
}

async function run({ service, client, loadLandscape, log }: Context): Promise<Row[]> {
  await loadLandscape();
  const load = await measureLoad(service.api);
  const second = await service.join('api');
  try {
    const { rows } = await client.query<{ id: string }>(
      `select id from cards where status = 'ACTIVE' and type = 'Platform' order by id limit 1`,
    );
    const stale = await countStale([service.api, at(service.api, second.url!)], rows[0]!.id, log);
    return [
      ...load,
      within({ figure: `stale of ${ALTERNATIONS} through two APIs`, value: stale, unit: 'answers' }, 0, 0),
    ];
  } finally {
    await second.stop();
  }
}

/** How fast reports that nothing has changed since are answered, and that the dashboard is never stale. */
export const dashboardCached = { name: 'dashboard-cached', run };
