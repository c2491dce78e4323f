import { queryOptions } from '@tanstack/react-query';
import { call, type Dashboard, readDashboard, readHome } from '#client';
import type { Home } from './Waiting.tsx';

/** Items of each list on the page. */
export const LENGTH = 8;

/** The key figures of the workspace. */
export const dashboardQuery = queryOptions({
  queryKey: ['home', 'dashboard'],
  // without `Prefer: respond-async` no job is started
  queryFn: async ({ signal }) => (await call(readDashboard({ signal }))) as Dashboard,
});

/** What concerns the person. */
export const homeQuery = queryOptions({
  queryKey: ['home'],
  queryFn: async ({ signal }) => (await call(readHome({ signal, query: { page_size: LENGTH } }))) as Home,
});
