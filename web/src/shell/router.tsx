import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { call, readCardByNumber } from '#client';
import { readAccountSearch } from '../features/account/account.search.ts';
import { readCardSearch } from '../features/card/card.search.ts';
import { readExplorerSearch } from '../features/explore/explorer.search.ts';
import { dashboardQuery, homeQuery } from '../features/home/home.queries.ts';
import { readHomeSearch } from '../features/home/home.search.ts';
import { readImportSearch } from '../features/import/import.search.ts';
import { readInventorySearch } from '../features/inventory/inventory.search.ts';
import { readMapSearch } from '../features/map/map.search.ts';
import { readQuerySearch } from '../features/query/query.search.ts';
import { AppLayout } from './AppLayout.tsx';
import { bootstrapQuery, meQuery, queryClient, readNeeded } from './queries.ts';
import { RouteError, RouteMissing, RoutePending } from './RouteStates.tsx';

const root = createRootRoute({ component: Outlet });

/** A text of the address; numbers and booleans of hand-made addresses become texts. */
const textOf = (value: unknown): string | undefined =>
  value === undefined || value === null || typeof value === 'object' ? undefined : String(value);

/** A place within the application to return to; never another site. */
const placeOf = (value: unknown): string | undefined => {
  const text = textOf(value);
  return text && /^\/(?!\/)/.test(text) ? text : undefined;
};

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: (search: Record<string, unknown>) => ({ next: placeOf(search.next) }),
  beforeLoad: async ({ search }) => {
    if (await queryClient.ensureQueryData(meQuery)) throw redirect({ href: search.next ?? '/' });
  },
  component: lazyRouteComponent(() => import('../features/account/LoginPage.tsx'), 'LoginPage'),
});

const withToken = (search: Record<string, unknown>) => ({ token: textOf(search.token) ?? '' });

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: lazyRouteComponent(() => import('../features/account/PasswordPages.tsx'), 'ForgotPasswordPage'),
});

const resetPassword = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  validateSearch: withToken,
  component: lazyRouteComponent(() => import('../features/account/PasswordPages.tsx'), 'ResetPasswordPage'),
});

const setPassword = createRoute({
  getParentRoute: () => root,
  path: '/set-password',
  validateSearch: withToken,
  component: lazyRouteComponent(() => import('../features/account/PasswordPages.tsx'), 'SetPasswordPage'),
});

const register = createRoute({
  getParentRoute: () => root,
  path: '/register',
  validateSearch: (search: Record<string, unknown>) => ({ setup: textOf(search.setup) }),
  component: lazyRouteComponent(() => import('../features/account/RegisterPage.tsx'), 'RegisterPage'),
});

const confirmRegistration = createRoute({
  getParentRoute: () => root,
  path: '/confirm-registration',
  validateSearch: withToken,
  component: lazyRouteComponent(
    () => import('../features/account/ConfirmRegistrationPage.tsx'),
    'ConfirmRegistrationPage',
  ),
});

const twoFactor = createRoute({
  getParentRoute: () => root,
  path: '/two-factor',
  validateSearch: (search: Record<string, unknown>) => ({ next: placeOf(search.next) }),
  component: lazyRouteComponent(() => import('../features/account/TwoFactorPage.tsx'), 'TwoFactorPage'),
});

const ssoCallback = createRoute({
  getParentRoute: () => root,
  path: '/sso/callback',
  validateSearch: (search: Record<string, unknown>) => ({
    code: textOf(search.code) ?? '',
    state: textOf(search.state) ?? '',
    iss: textOf(search.iss),
    error: textOf(search.error),
    error_description: textOf(search.error_description),
  }),
  component: lazyRouteComponent(() => import('../features/account/SsoCallbackPage.tsx'), 'SsoCallbackPage'),
});

/** Everything behind the login. */
const app = createRoute({
  getParentRoute: () => root,
  id: 'app',
  beforeLoad: async ({ location }) => {
    void queryClient.prefetchQuery(bootstrapQuery);
    const me = await queryClient.ensureQueryData(meQuery);
    if (!me) throw redirect({ to: '/login', search: { next: location.href } });
  },
  loader: readNeeded,
  component: AppLayout,
});

const home = createRoute({
  getParentRoute: () => app,
  path: '/',
  validateSearch: readHomeSearch,
  // not waited for: the page is there before its figures
  loader: () => {
    void queryClient.prefetchQuery(dashboardQuery);
    void queryClient.prefetchQuery(homeQuery);
  },
  component: lazyRouteComponent(() => import('../features/home/HomePage.tsx'), 'HomePage'),
});

const inventory = createRoute({
  getParentRoute: () => app,
  path: '/inventory',
  validateSearch: readInventorySearch,
  component: lazyRouteComponent(() => import('../features/inventory/InventoryPage.tsx'), 'InventoryPage'),
});

const card = createRoute({
  getParentRoute: () => app,
  path: '/cards/$id',
  validateSearch: readCardSearch,
  // people say and link the number
  beforeLoad: async ({ params, search }) => {
    if (!/^[a-z]+-\d+$/i.test(params.id)) return;
    const { id } = await call(readCardByNumber({ path: { number: params.id.toUpperCase() } }));
    throw redirect({ to: '/cards/$id', params: { id }, search, replace: true });
  },
  component: lazyRouteComponent(() => import('../features/card/CardPage.tsx'), 'CardPage'),
});

const map = createRoute({
  getParentRoute: () => app,
  path: '/map',
  validateSearch: readMapSearch,
  component: lazyRouteComponent(() => import('../features/map/MapPage.tsx'), 'MapPage'),
});

const explorer = createRoute({
  getParentRoute: () => app,
  path: '/explorer',
  validateSearch: readExplorerSearch,
  component: lazyRouteComponent(() => import('../features/explore/ExplorerPage.tsx'), 'ExplorerPage'),
});

const dashboard = createRoute({
  getParentRoute: () => app,
  path: '/dashboards/$id',
  component: lazyRouteComponent(() => import('../features/dashboards/DashboardPage.tsx'), 'DashboardPage'),
});

const query = createRoute({
  getParentRoute: () => app,
  path: '/query',
  validateSearch: readQuerySearch,
  component: lazyRouteComponent(() => import('../features/query/QueryPage.tsx'), 'QueryPage'),
});

// the gallery at `/reports`, one report at `/reports/bpm/process-map`
const report = createRoute({
  getParentRoute: () => app,
  path: '/reports/$',
  validateSearch: (search: Record<string, unknown>) => search,
  component: lazyRouteComponent(() => import('../features/reports/ReportPage.tsx'), 'ReportPage'),
});

const importing = createRoute({
  getParentRoute: () => app,
  path: '/import',
  validateSearch: readImportSearch,
  component: lazyRouteComponent(() => import('../features/import/ImportPage.tsx'), 'ImportPage'),
});

const account = createRoute({
  getParentRoute: () => app,
  path: '/me',
  validateSearch: readAccountSearch,
  component: lazyRouteComponent(() => import('../features/account/AccountPage.tsx'), 'AccountPage'),
});

const notifications = createRoute({
  getParentRoute: () => app,
  path: '/notifications',
  validateSearch: (search: Record<string, unknown>): { unread?: boolean } =>
    search.unread === true ? { unread: true } : {},
  component: lazyRouteComponent(
    () => import('../features/notifications/NotificationsPage.tsx'),
    'NotificationsPage',
  ),
});

/** Addresses that mails and notifications name, whose content another page shows. */
const moved = [
  createRoute({
    getParentRoute: () => app,
    path: '/settings/notifications',
    beforeLoad: () => {
      throw redirect({ to: '/me', search: { tab: 'notifications' }, replace: true });
    },
  }),
  ...['/todos', '/surveys'].map((path) =>
    createRoute({
      getParentRoute: () => app,
      path,
      beforeLoad: () => {
        throw redirect({ to: '/', replace: true });
      },
    }),
  ),
];

export const router = createRouter({
  routeTree: root.addChildren([
    login,
    forgotPassword,
    resetPassword,
    setPassword,
    register,
    confirmRegistration,
    twoFactor,
    ssoCallback,
    app.addChildren([
      home,
      inventory,
      card,
      map,
      explorer,
      dashboard,
      query,
      report,
      importing,
      account,
      notifications,
      ...moved,
    ]),
  ]),
  defaultPreload: 'intent',
  defaultPreloadDelay: 80,
  defaultErrorComponent: RouteError,
  defaultNotFoundComponent: RouteMissing,
  defaultPendingComponent: RoutePending,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
