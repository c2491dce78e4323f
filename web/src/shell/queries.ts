import { QueryClient, queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { ApiError, call, listCardTypes, listRelationTypes, readBootstrap, readMe } from '#client';

const MINUTE = 60_000;

/** Data that only changes by events of the live stream. */
const untilChanged = { staleTime: Number.POSITIVE_INFINITY };

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: MINUTE,
      gcTime: 10 * MINUTE,
      refetchOnWindowFocus: false,
      retry: (count, error) =>
        count < 2 && (!(error instanceof ApiError) || error.code === 'network' || error.status === 503),
    },
  },
});

export const bootstrapQuery = queryOptions({
  queryKey: ['bootstrap'],
  queryFn: ({ signal }) => call(readBootstrap({ signal })),
  ...untilChanged,
});

/** The account of the session; null without one. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }) => {
    try {
      return await call(readMe({ signal }));
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
  ...untilChanged,
});

export const typesQuery = queryOptions({
  queryKey: ['metamodel', 'types'],
  queryFn: ({ signal }) => all((page) => call(listCardTypes({ signal, query: { page, page_size: PAGE } }))),
  ...untilChanged,
});

export const relationTypesQuery = queryOptions({
  queryKey: ['metamodel', 'relation-types'],
  queryFn: ({ signal }) =>
    all((page) => call(listRelationTypes({ signal, query: { page, page_size: PAGE } }))),
  ...untilChanged,
});

/** The largest page of a list. */
const PAGE = 200;

/** All items of a list that is short. */
async function all<T>(read: (page: number) => Promise<{ items: T[]; total?: number }>): Promise<T[]> {
  const items: T[] = [];
  for (let page = 1; ; page += 1) {
    const { items: found, total = 0 } = await read(page);
    items.push(...found);
    if (found.length < PAGE || items.length >= total) return items;
  }
}

/** Reads what every page behind the login needs. */
export const readNeeded = () =>
  Promise.all([
    queryClient.ensureQueryData(bootstrapQuery),
    queryClient.ensureQueryData(typesQuery),
    queryClient.ensureQueryData(relationTypesQuery),
  ]);

/** Public settings, such as the currency and the modules. */
export const useBootstrap = () => useSuspenseQuery(bootstrapQuery).data;

/** The account of the session. Only for pages behind the login. */
export const useMe = () => useSuspenseQuery(meQuery).data!;

/** Whether an account with these permissions may do something; `*` means everything. */
export const isAllowed = (permissions: unknown, permission: string): boolean => {
  const own = permissions as Record<string, boolean>;
  return own['*'] === true || own[permission] === true;
};
