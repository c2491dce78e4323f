import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { call, type ListCardsData, type ListCardsResponse, listCards } from '#client';
import { filterOf, type InventorySearch } from './inventory.search.ts';

export type CardListItem = Required<ListCardsResponse['items'][number]>;

/** Rows of one request. */
const PAGE = 200;

type Query = NonNullable<ListCardsData['query']>;

/** The parameters of the list of an address. */
function listQueryOf(search: InventorySearch): Query {
  const sort = search.sort ?? (search.search ? 'relevance' : 'name');
  const key = sort.replace(/^-/, '');
  return {
    ...(search.type && { type: search.type }),
    ...(search.search && { search: search.search }),
    filter: filterOf(search),
    sort_by: key as Query['sort_by'],
    sort_dir: sort.startsWith('-') || key === 'relevance' ? 'desc' : 'asc',
  };
}

/** The rows around those that are visible, and the number of all. */
export function useRows(search: InventorySearch, from: number, to: number) {
  const query = listQueryOf(search);
  const pages = [];
  for (let page = Math.floor(from / PAGE); page <= Math.floor(Math.max(from, to) / PAGE); page += 1)
    pages.push(page);
  const optionsOf = (page: number) => ({
    queryKey: ['cards', 'list', query, page],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      call(listCards({ signal, query: { ...query, page: page + 1, page_size: PAGE } })),
    placeholderData: page === 0 ? keepPreviousData : undefined,
  });
  const first = useQuery(optionsOf(0));
  const results = useQueries({ queries: pages.map(optionsOf) });
  const byPage = new Map(pages.map((page, at) => [page, results[at]!]));
  return {
    total: first.data?.total ?? 0,
    isLoading: first.isPending,
    isStale: first.isPlaceholderData,
    error: first.error,
    row: (index: number): CardListItem | undefined => {
      const page = Math.floor(index / PAGE);
      const { data } = byPage.get(page) ?? (page === 0 ? first : { data: undefined });
      return data?.items[index % PAGE] as CardListItem | undefined;
    },
  };
}
