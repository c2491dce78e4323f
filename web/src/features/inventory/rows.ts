import {
  keepPreviousData,
  type QueryClient,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect } from 'react';
import {
  call,
  type ListCardsData,
  type ListCardsResponse,
  type ListRelationsData,
  listCards,
  listRelations,
} from '#client';
import type { InventorySearch } from './inventory.search.ts';
import type { CardListItem, Column, Related } from './types.ts';
import type { VisibleLines } from './visible.ts';

/** Rows of one request. */
export const PAGE = 200;
/** Pages that are kept: 5,000 rows. */
const KEPT = 25;

type Query = NonNullable<ListCardsData['query']>;

/** What selects the cards of an address, for all operations that read some of them. */
export const selectionOf = ({ type, search, filter, archived, mine }: InventorySearch) => ({
  ...(type && { type }),
  ...(search && { search }),
  ...(filter && { filter }),
  ...(archived && { status: 'ARCHIVED' }),
  ...(mine && { mine: 'stakeholder' as const }),
});

/** The parameters of the list of an address. */
export function listQueryOf(search: InventorySearch): Query {
  const sort = search.sort ?? (search.tree ? 'path' : search.search ? 'relevance' : 'name');
  const by = sort.replace(/^-/, '');
  return {
    ...selectionOf(search),
    sort_by: by,
    sort_dir: sort.startsWith('-') || by === 'relevance' ? 'desc' : 'asc',
  };
}

/** Members that rows have, whatever columns are shown. */
const always = ['id', 'type', 'subtype', 'name', 'approval_status', 'status', 'parent_id'];

/** The members that columns need, for `fields`. */
export const fieldsOf = (columns: readonly Column[], isTree = false): string => {
  const members = columns.flatMap(({ member }) => member ?? []);
  return [...new Set([...always, ...members, ...(isTree ? ['path'] : [])])].sort().join(',');
};

const pageKey = (query: Query, page: number) => ['cards', 'list', query, page];

/** Takes the pages that are farthest from the visible ones out of the memory. */
function dropFarPages(client: QueryClient, first: number, last: number): void {
  const distance = ({ queryKey }: { queryKey: readonly unknown[] }) =>
    Math.max(first - Number(queryKey[3]), Number(queryKey[3]) - last, 0);
  const kept = client.getQueryCache().findAll({ queryKey: ['cards', 'list'], type: 'inactive' });
  for (const { queryKey } of kept.toSorted((a, b) => distance(a) - distance(b)).slice(KEPT))
    client.removeQueries({ queryKey, exact: true });
}

/** Rows that stand together: those of one list, from a line of the table on. */
export interface Segment {
  query: Query;
  /** The line of its first row. */
  start: number;
  count: number;
}

function pageOptions(query: Query, fields: string, page: number) {
  const whole = { ...query, fields };
  return {
    queryKey: pageKey(whole, page),
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      call(listCards({ signal, query: { ...whole, page: page + 1, page_size: PAGE } })),
  };
}

/** The number of cards of a list; that of the list before until it is known. */
export function useTotal(query: Query, fields: string, isEnabled: boolean) {
  const { data, error, isPlaceholderData } = useQuery({
    ...pageOptions(query, fields, 0),
    placeholderData: keepPreviousData,
    enabled: isEnabled,
  });
  return { total: data?.total, hasMore: data?.more_matches === true, isStale: isPlaceholderData, error };
}

/** The pages of the rows of some lines. */
function pagesOf(segments: readonly Segment[], from: number, to: number) {
  return segments.flatMap(({ query, start, count }) => {
    const first = Math.max(0, from - start);
    const last = Math.min(count - 1, to - start);
    if (last < first) return [];
    const pages = [];
    for (let page = Math.floor(first / PAGE); page <= Math.floor(last / PAGE); page += 1) pages.push(page);
    return pages.map((page) => ({ page, query, start, end: start + count }));
  });
}

/**
 * The rows of the visible lines. Those that scrolling reaches next are read ahead; what is passed by before it arrived
 * is no longer waited for.
 */
export function useRows(segments: readonly Segment[], fields: string, { from, to, ahead }: VisibleLines) {
  const client = useQueryClient();
  const visible = pagesOf(segments, from, to);
  // the visible pages are asked for first
  const next =
    ahead < 0
      ? pagesOf(segments, from + ahead, from - 1).toReversed()
      : pagesOf(segments, to + 1, to + ahead);
  const isVisible = ({ page, start }: (typeof next)[number]) =>
    visible.some((one) => one.page === page && one.start === start);
  const wanted = [...visible, ...next.filter((one) => !isVisible(one))];
  const results = useQueries({
    queries: wanted.map(({ query, page }) => ({
      ...pageOptions(query, fields, page),
      placeholderData: (data: ListCardsResponse | undefined, before?: { queryKey: readonly unknown[] }) =>
        before?.queryKey[3] === page ? data : undefined,
    })),
  });
  const near = visible.map(({ page }) => page);
  const first = Math.min(...near);
  const last = Math.max(...near);
  useEffect(() => dropFarPages(client, first, last), [client, first, last]);
  return {
    error: results.find(({ error }) => error)?.error ?? null,
    /** The visible ones. */
    pages: visible.map((_, at) => (results[at]?.data?.items ?? []) as CardListItem[]),
    lineOf(id: string): number | undefined {
      for (const [at, { start, page }] of wanted.entries()) {
        const index = results[at]?.data?.items.findIndex((card) => card.id === id) ?? -1;
        if (index >= 0) return start + page * PAGE + index;
      }
      return undefined;
    },
    row(line: number): CardListItem | undefined {
      const at = wanted.findIndex(({ start, end, page }) => {
        const begin = start + page * PAGE;
        return line >= begin && line < Math.min(end, begin + PAGE);
      });
      const place = wanted[at];
      return place && (results[at]?.data?.items[line - place.start - place.page * PAGE] as CardListItem);
    },
  };
}

/** Cards of one request for relations; their ids stand in its address. */
const CARDS_AT_ONCE = 100;
/** Relations that are read for them at most. */
const MOST_RELATIONS = 2_000;

/** Related cards by card and column, of the cards of visible pages. */
export function useRelated(
  pages: readonly (readonly CardListItem[])[],
  columns: readonly Column[],
): (card: string) => ReadonlyMap<string, Related[]> | undefined {
  const shown = columns.filter(({ relation }) => relation);
  const types = [...new Set(shown.map(({ relation }) => relation!.type))].sort();
  const chunks = pages.flatMap((page) =>
    Array.from({ length: Math.ceil(page.length / CARDS_AT_ONCE) }, (_, at) =>
      page.slice(at * CARDS_AT_ONCE, (at + 1) * CARDS_AT_ONCE).map(({ id }) => id),
    ),
  );
  const results = useQueries({
    queries: chunks.map((ids) => ({
      queryKey: ['cards', 'relations', types, ids],
      queryFn: ({ signal }: { signal: AbortSignal }) => readRelated(ids, types, signal),
      enabled: types.length > 0,
    })),
  });
  return (card) => results.find(({ data }) => data?.has(card))?.data?.get(card);
}

async function readRelated(ids: readonly string[], types: readonly string[], signal: AbortSignal) {
  const byCard = new Map(ids.map((id) => [id, new Map<string, Related[]>()]));
  const add = (card: string, column: string, related: Related) => {
    const columns = byCard.get(card);
    columns?.set(column, [...(columns.get(column) ?? []), related]);
  };
  let cursor: string | null | undefined = '';
  for (let read = 0; typeof cursor === 'string' && read < MOST_RELATIONS; read += PAGE) {
    const query = { card_ids: [...ids], type: types.join(','), cursor, page_size: PAGE };
    const { items, next_cursor }: Awaited<ReturnType<typeof readRelations>> = await readRelations(
      query,
      signal,
    );
    for (const { id, type, source, target } of items) {
      if (!id || !source || !target) continue;
      add(source.id, `relation.${type}.target`, {
        relation: id,
        id: target.id,
        type: target.type,
        name: target.name,
      });
      add(target.id, `relation.${type}.source`, {
        relation: id,
        id: source.id,
        type: source.type,
        name: source.name,
      });
    }
    cursor = next_cursor;
  }
  return byCard;
}

const readRelations = (query: ListRelationsData['query'], signal: AbortSignal) =>
  call(listRelations({ signal, query: { ...query, fields: 'id,type,source,target' } }));
