import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { call, type QueryInventoryData, type QueryResult, queryInventory } from '#client';

/** The body of a query, see `POST /reports/query`. */
export type InventoryQuery = NonNullable<QueryInventoryData['body']>;
type Cell = string | number | boolean | null;
export type QueryRow = Cell[];

/** Groups of one page; the most that the service sends at once. */
const PAGE = 10_000;
/** Pages after which reading ends, since nobody looks at more. */
const MOST_PAGES = 20;

/** All groups of a query. @throws ApiError if it is refused. */
async function queryRows(query: InventoryQuery, signal?: AbortSignal): Promise<QueryRow[]> {
  const rows: QueryRow[] = [];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const body = { ...query, page, page_size: PAGE };
    const answer = (await call(queryInventory({ body, ...(signal && { signal }) }))) as QueryResult;
    rows.push(...(answer.rows as QueryRow[]));
    if (!answer.has_more) break;
  }
  return rows;
}

/** The groups of a query, read again when it changes; without a query nothing is read. */
export const useQueryRows = (query: InventoryQuery | undefined) =>
  useQuery({
    queryKey: ['reports', 'query', query],
    queryFn: ({ signal }) => queryRows(query!, signal),
    enabled: query !== undefined,
    placeholderData: keepPreviousData,
  });
