import type { InventoryQuery } from '../../kit/query.ts';

/** What the address of the query page says. */
export interface QuerySearch {
  q?: InventoryQuery;
  /** The question as it was asked. */
  ask?: string;
  view?: 'table';
  sort?: string;
}

/** Reads the address; the service checks the query itself. */
export function readQuerySearch(search: Record<string, unknown>): QuerySearch {
  const isQuery = typeof search.q === 'object' && search.q !== null && !Array.isArray(search.q);
  return {
    q: isQuery ? (search.q as InventoryQuery) : undefined,
    ask: typeof search.ask === 'string' ? search.ask : undefined,
    view: search.view === 'table' ? 'table' : undefined,
    sort:
      typeof search.sort === 'string' || typeof search.sort === 'number' ? String(search.sort) : undefined,
  };
}
