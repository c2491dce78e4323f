import { queryOptions } from '@tanstack/react-query';
import {
  call,
  listSessions,
  listTokens,
  readHealth,
  readNotificationPreferences,
  readOwnTwoFactor,
  readPermissionCatalogue,
} from '#client';

/** The largest page of a list. */
const page_size = 200;

export const twoFactorQuery = queryOptions({
  queryKey: ['account', 'two-factor'],
  queryFn: ({ signal }) => call(readOwnTwoFactor({ signal })),
});

export const sessionsQuery = queryOptions({
  queryKey: ['account', 'sessions'],
  queryFn: ({ signal }) => call(listSessions({ signal, query: { page_size } })),
});

export const tokensQuery = queryOptions({
  queryKey: ['account', 'tokens'],
  queryFn: ({ signal }) => call(listTokens({ signal, query: { page_size } })),
});

export const preferencesQuery = queryOptions({
  queryKey: ['account', 'notifications'],
  queryFn: ({ signal }) => call(readNotificationPreferences({ signal })),
});

export const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: ({ signal }) => call(readHealth({ signal })),
});

interface PermissionGroup {
  label: string;
  permissions: Record<string, string>;
}

export const permissionsQuery = queryOptions({
  queryKey: ['permissions'],
  queryFn: async ({ signal }) =>
    (await call(readPermissionCatalogue({ signal }))) as Record<string, PermissionGroup>,
  staleTime: Number.POSITIVE_INFINITY,
});
