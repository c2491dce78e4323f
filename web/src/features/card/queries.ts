import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { answer, call, listCardHistory, patchCard, readCardOverview } from '#client';

/** What a card's page shows at first. */
export const overviewQuery = (id: string) =>
  queryOptions({
    queryKey: ['card', id],
    queryFn: async ({ signal }) => await call(readCardOverview({ signal, path: { id } })),
  });

export const historyQuery = (id: string) =>
  queryOptions({
    queryKey: ['card', id, 'history'],
    queryFn: ({ signal }) => call(listCardHistory({ signal, path: { id }, query: { page_size: 20 } })),
  });

type Change = Parameters<typeof patchCard>[0]['body'];

/** Changes a card and shows the answer at once; lists are read again. */
export function usePatchCard(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (body: Change) => {
      const { headers } = await answer(patchCard({ path: { id }, body }));
      return headers.get('x-mutation-batch');
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['card', id] });
      void client.invalidateQueries({ queryKey: ['cards'] });
      void client.invalidateQueries({ queryKey: ['facets'] });
    },
  });
}
