import { dashboardQuery, homeQuery } from '../features/home/home.queries.ts';
import { bootstrapQuery, meQuery, queryClient, relationTypesQuery, typesQuery } from './queries.ts';

/** Reads what every page behind the login needs. */
export const readNeeded = () =>
  Promise.all([
    queryClient.ensureQueryData(bootstrapQuery),
    queryClient.ensureQueryData(typesQuery),
    queryClient.ensureQueryData(relationTypesQuery),
  ]);

/** Asks for all that the first view of an address needs at once; who shows it waits for the answers, and meets the errors. */
export function askFirst(path: string): void {
  // without a cookie nobody is logged in: a request would only log an error
  const session = document.querySelector<HTMLMetaElement>('meta[name="session"]');
  if (session?.content === 'none') return void queryClient.setQueryData(meQuery.queryKey, null);
  void queryClient.prefetchQuery(meQuery);
  readNeeded().catch(() => undefined);
  if (path !== '/') return;
  void import('../features/home/HomePage.tsx');
  void queryClient.prefetchQuery(dashboardQuery);
  void queryClient.prefetchQuery(homeQuery);
}
