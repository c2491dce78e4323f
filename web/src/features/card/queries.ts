import { infiniteQueryOptions, queryOptions, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { call, listCardHistory, listFavorites, readCardOverview, readObserving } from '#client';
import { derivedFields } from '../../kit/Changes.tsx';

/** What a card's page shows at first. */
export const overviewQuery = (id: string) =>
  queryOptions({
    queryKey: ['card', id],
    queryFn: async ({ signal }) => await call(readCardOverview({ signal, path: { id } })),
  });

/** Events of one request. */
const EVENTS = 100;

/** The events of a card, newest first. */
export const historyQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['card', id, 'history'],
    queryFn: ({ signal, pageParam }) =>
      call(listCardHistory({ signal, path: { id }, query: { cursor: pageParam, page_size: EVENTS } })),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  });

/** Whether the caller follows the card. */
export const observingQuery = (id: string) =>
  queryOptions({
    queryKey: ['card', id, 'observing'],
    queryFn: ({ signal }) => call(readObserving({ signal, path: { id } })),
  });

/** The cards that the caller has starred. */
export const favoritesQuery = queryOptions({
  queryKey: ['home', 'favorites', 'ids'],
  queryFn: async ({ signal }) => {
    const { items } = await call(listFavorites({ signal, query: { page_size: 200, fields: 'card_id' } }));
    return new Set(items.map(({ card_id }) => card_id!));
  },
});

/** Reads again what a change of a card affects: the card, those related to it, and lists. */
export function useRefresh() {
  const client = useQueryClient();
  return useCallback(async () => {
    await client.invalidateQueries({ queryKey: ['card'] });
    void client.invalidateQueries({ queryKey: ['cards'] });
    void client.invalidateQueries({ queryKey: ['facets'] });
  }, [client]);
}

/** An event of a card's history. */
export interface CardEvent {
  id: string;
  position: string;
  event_type: string;
  data: (Record<string, unknown> & { changes?: Record<string, { old?: unknown; new?: unknown }> }) | null;
  relation_id: string | null;
  batch_id: string | null;
  user_id?: string | null;
  user_display_name: string | null;
  origin: string | null;
  created_at: string;
}

/** Whether an event says more than that computed values changed. */
export const isTelling = ({ event_type, data }: CardEvent): boolean =>
  event_type !== 'card.updated' || Object.keys(data?.changes ?? {}).some((path) => !derivedFields.has(path));
