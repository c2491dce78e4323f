import { keepPreviousData, type QueryClient, useQuery } from '@tanstack/react-query';
import { type CountCardFacetsData, call, countCardFacets } from '#client';

/** Resolves when no rows are being read. */
function whenRowsAreRead(client: QueryClient): Promise<void> {
  return new Promise((resolve) => {
    let stop: (() => void) | undefined;
    const look = () => {
      if (client.isFetching({ queryKey: ['cards', 'list'] }) > 0) {
        stop ??= client.getQueryCache().subscribe(look);
        return;
      }
      stop?.();
      resolve();
    };
    // what is rendered at the same time may still ask for rows
    setTimeout(look);
  });
}

/**
 * Counts and sums of the filtered cards. They are asked for after the rows, so that they do not hold up what is looked at
 * first.
 */
export function useCounts(query: NonNullable<CountCardFacetsData['query']>, isEnabled: boolean) {
  return useQuery({
    queryKey: ['facets', query],
    queryFn: async ({ signal, client }) => {
      await whenRowsAreRead(client);
      return await call(countCardFacets({ signal, query }));
    },
    placeholderData: keepPreviousData,
    enabled: isEnabled,
  });
}
