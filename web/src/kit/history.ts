import { useQuery } from '@tanstack/react-query';
import { call, readChanges } from '#client';

/** The day of the oldest stored change (`YYYY-MM-DD`), before which nothing can be shown; undefined while it is not known or not wanted. */
export function useOldestDay(isWanted = true): string | undefined {
  const { data } = useQuery({
    queryKey: ['oldest-change'],
    queryFn: async ({ signal }) =>
      (await call(readChanges({ signal, query: { limit: 1 } }))).items[0]?.at ?? null,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    enabled: isWanted,
  });
  return data?.slice(0, 10);
}
