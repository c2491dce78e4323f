import { createCardListMemory, listCards } from '../../../domain/inventory/cards/cards.list.ts';
import { alternate } from '../harness/load.ts';
import { atLeast, type Row, under } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { type Reads, startBare } from './bare.ts';

const CONNECTIONS = 8;
const SECONDS = 2;
const PAGE_SIZE = 50;
const FILTER = { type: 'Application', status: 'ACTIVE', approval_status: 'DRAFT' };
const SORTS = [
  'name',
  'type',
  'subtype',
  'status',
  'approval_status',
  'data_quality',
  'created_at',
  'updated_at',
  'attributes.numberOfUsers',
];

interface Request {
  path: string;
  page: number;
  sort: string;
}

function requestsOf(sort: string, pages: number): Request[] {
  return [1, Math.min(100, pages), pages].map((page) => {
    const query = new URLSearchParams({
      ...FILTER,
      page: String(page),
      page_size: String(PAGE_SIZE),
      sort_by: sort,
    });
    return { path: `/api/v1/cards?${query}`, page, sort };
  });
}

async function run({ service, loadLandscape, log }: Context): Promise<Row[]> {
  await loadLandscape();
  const { total } = await service.api.get<{ total: number }>(`/cards?${new URLSearchParams(FILTER)}`);
  const requests = SORTS.flatMap((sort) => requestsOf(sort, Math.ceil(total / PAGE_SIZE)));
  const memory = createCardListMemory();
  const reads: Reads = {};
  for (const { path, page, sort } of requests) {
    const params = { ...FILTER, page, page_size: PAGE_SIZE, sort_by: sort };
    reads[path] = (ctx) => listCards(ctx, params, { topics: new Map(), memory });
  }
  const bare = await startBare(service.databaseUrl, reads);
  try {
    const rows: Row[] = [];
    for (const sort of SORTS) {
      log(`list by ${sort}`);
      const paths = requests.filter((request) => request.sort === sort).map(({ path }) => path);
      const results = await alternate(
        {
          service: { url: service.url, paths, connections: CONNECTIONS, headers: service.api.headers },
          floor: { url: bare.url, paths, connections: CONNECTIONS },
        },
        SECONDS,
      );
      const { requestsPerSecond: value, p50Ms, p99Ms } = results.service;
      const floor = results.floor.requestsPerSecond;
      rows.push(atLeast({ figure: `list by ${sort}`, value, unit: 'req/s', floor }, 0.4));
      rows.push(under({ figure: `list by ${sort}, p99 to p50`, value: p99Ms, unit: 'ms', floor: p50Ms }, 6));
    }
    return rows;
  } finally {
    await bare.stop();
  }
}

/** How fast the first, the 100th and the last page of a filtered list are answered in every documented order. */
export const list = { name: 'list', run };
