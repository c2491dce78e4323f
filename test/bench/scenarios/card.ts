import { readCard } from '../../../domain/inventory/cards/cards.read.ts';
import { alternate } from '../harness/load.ts';
import { atLeast, type Row, under } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { type Reads, startBare } from './bare.ts';

const CONNECTIONS = 8;
const CARDS = 200;

async function run({ service, client, loadLandscape }: Context): Promise<Row[]> {
  await loadLandscape();
  const { rows } = await client.query<{ id: string }>(
    'select id from cards order by md5(id::text) limit $1',
    [CARDS],
  );
  const reads: Reads = {};
  for (const { id } of rows) reads[`/api/v1/cards/${id}`] = (ctx) => readCard(ctx, id);
  const bare = await startBare(service.databaseUrl, reads);
  try {
    const paths = Object.keys(reads);
    const results = await alternate({
      service: { url: service.url, paths, connections: CONNECTIONS, headers: service.api.headers },
      floor: { url: bare.url, paths, connections: CONNECTIONS },
    });
    const { requestsPerSecond: value, p50Ms, p99Ms } = results.service;
    return [
      atLeast({ figure: 'one card', value, unit: 'req/s', floor: results.floor.requestsPerSecond }, 0.4),
      under({ figure: 'one card, p99 to p50', value: p99Ms, unit: 'ms', floor: p50Ms }, 6),
    ];
  } finally {
    await bare.stop();
  }
}

/** How fast single cards are answered. */
export const card = { name: 'card', run };
