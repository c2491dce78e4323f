import { reportCatalogue } from '../../../reports/reports.catalogue.ts';
import { cardIds, invalidate } from '../harness/database.ts';
import { type Row, under } from '../harness/rows.ts';
import type { Context, Scenario } from '../harness/scenario.ts';

/** How often each request is sent; the best run counts, since others contain pauses of the machine. */
const ROUNDS = 3;
const MOST_MS = 50;
/** The resolution of the measurement, which each delay contains. */
const RESOLUTION_MS = 10;

/** The longest delay of the process's event loop in milliseconds since the last call. */
async function longestDelay(url: string, headers: Record<string, string>): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers })).text();
  const seconds = Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)![1]);
  return Math.max(0, seconds * 1_000 - RESOLUTION_MS);
}

const reportPaths = reportCatalogue.flatMap(({ name, module, isPaged }) => {
  const path = `/api/v1/reports/${module ? name.replace(`${module}-`, `${module}/`) : name}`;
  return isPaged ? [path, `${path}?detail=aggregate`] : [path];
});

const pathsOf = (card: string) => [
  ...reportPaths,
  `/api/v1/reports/dependencies?center_id=${card}&depth=3`,
  '/api/v1/reports/eol?days=3650',
  '/api/v1/reports/matrix?row_type=Application&col_type=ITComponent',
  '/api/v1/cards?page_size=200',
  '/api/v1/cards?page_size=200&sort_by=attributes.businessCriticality&type=Application',
  '/api/v1/cards?page_size=200&search=data',
  '/api/v1/cards?page_size=200&cursor=&filter=attributes.businessCriticality%20is%20not%20empty',
  '/api/v1/relations?page_size=200',
  '/api/v1/changes?limit=10000',
  '/api/v1/cards/counts',
  '/api/v1/cards/facets?facets=type,subtype,tags,lifecycle_phase,relations.relAppToITC',
  `/api/v1/cards/${card}/overview`,
  `/api/v1/cards/${card}/impact?depth=5`,
  '/api/v1/cards/export/csv',
  ...['csv', 'ndjson', 'xlsx', 'parquet'].map((format) => `/api/v1/extracts/cards?format=${format}`),
  '/odata/v4/Application?$top=1000',
];

/** The longest time for which a large read keeps the event loop of an API from other requests. */
export const eventLoop: Scenario = {
  name: 'event-loop',
  onlyNamed: true,
  async run({ service, client }: Context) {
    const { url, stop } = await service.join('api');
    const { headers } = service.api;
    try {
      const [card] = await cardIds(client, 'Application', 1);
      const rows: Row[] = [];
      for (const path of pathsOf(card!)) {
        let best = Number.POSITIVE_INFINITY;
        for (let round = 0; round < ROUNDS; round += 1) {
          await invalidate(client);
          await longestDelay(url, headers);
          const response = await fetch(url + path, {
            headers: { 'accept-encoding': 'identity', ...headers },
          });
          if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
          for await (const _ of response.body!);
          best = Math.min(best, await longestDelay(url, headers));
        }
        rows.push(under(`event loop, ${path.replace(card!, '{id}')}`, best, 'ms', MOST_MS));
      }
      return rows;
    } finally {
      await stop();
    }
  },
};
