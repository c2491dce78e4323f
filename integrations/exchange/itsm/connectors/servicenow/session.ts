import type { RefreshTokens } from '../../../../../domain/exchange/itsm/itsm.load.ts';
import { isRemoteError, withFallback } from '../../remote.ts';
import { createTokenCache, type IssuedToken, requestToken } from '../tokens.ts';
import {
  basicAuth,
  defaultTransport,
  type Session,
  type Transport,
  type TransportConfig,
} from '../transport.ts';

/** How an account authenticates. */
export type ServiceNowAuth =
  | { kind: 'basic'; username: string; password: string }
  | {
      kind: 'oauth';
      grant: 'password';
      clientId: string;
      clientSecret: string;
      username: string;
      password: string;
    }
  | { kind: 'oauth'; grant: 'refresh_token'; clientId: string; clientSecret: string; refreshToken: string }
  | { kind: 'oauth'; grant: 'client_credentials'; clientId: string; clientSecret: string };

/** Which API creates records; updates, deletions and relations use the Table API. */
export type CreateApi =
  | { kind: 'table' }
  /** The staging table of each table, whose transform map coalesces on the correlation column; other tables use the Table API. */
  | { kind: 'import_set'; staging: Readonly<Record<string, string>> }
  /** Identification and reconciliation, under a data source of the instance. */
  | { kind: 'reconcile'; source: string };

export interface ServiceNowConfig extends TransportConfig {
  /** `https://<instance>.service-now.com`. */
  url: string;
  auth: ServiceNowAuth;
  /** Stores the refresh token that replaces a used one; it is not stored unless given. */
  refreshTokens?: RefreshTokens;
  /** The column that stores the correlation id. */
  correlationField: string;
  createApi: CreateApi;
  /** Roles that are known to grant a right on configuration items. */
  roles: Record<'create' | 'update' | 'delete' | 'load' | 'reconcile', string[]>;
}

export const defaultConfig: Omit<ServiceNowConfig, 'url' | 'auth'> = {
  ...defaultTransport,
  correlationField: 'correlation_id',
  createApi: { kind: 'table' },
  roles: {
    create: ['admin', 'itil', 'sn_cmdb_editor', 'sn_cmdb_admin'],
    update: ['admin', 'itil', 'sn_cmdb_editor', 'sn_cmdb_admin'],
    delete: ['admin', 'itil_admin', 'sn_cmdb_admin'],
    load: ['admin', 'import_admin', 'import_set_loader'],
    reconcile: ['admin', 'itil', 'asset'],
  },
};

/** How often, and at what interval, it is checked whether another process has replaced a refresh token. */
const REPLACEMENT_CHECKS = 5;
const REPLACEMENT_CHECK_MS = 300;
const TOKEN_PATH = '/oauth_token.do';

/** One token for all calls of a connector; concurrent calls share a renewal. */
export function createSession(
  auth: ServiceNowAuth,
  around: Pick<Transport, 'outbound' | 'clock' | 'signal'> & {
    base: string;
    timeoutMs: number;
    store: RefreshTokens | undefined;
  },
): Session {
  const { outbound, clock, signal, base, timeoutMs, store } = around;
  if (auth.kind === 'basic') {
    const header = basicAuth(auth.username, auth.password);
    return { authorization: async () => header, secrets: () => [auth.password] };
  }
  let refreshToken = auth.grant === 'refresh_token' ? auth.refreshToken : undefined;

  const request = async (form: Record<string, string>): Promise<IssuedToken> => {
    const client = { client_id: auth.clientId, client_secret: auth.clientSecret };
    const issued = await requestToken(
      { outbound, clock, signal },
      { url: `${base}${TOKEN_PATH}`, form: { ...client, ...form }, timeoutMs },
    );
    if (issued.refreshToken !== undefined) refreshToken = issued.refreshToken;
    return issued;
  };

  const refresh = (stored: string) => request({ grant_type: 'refresh_token', refresh_token: stored });

  /** Renews by a refresh token, which the remote may replace with each use and other processes may use too. */
  const renewByStored = async (): Promise<IssuedToken> => {
    for (;;) {
      const used = (await store?.read()) ?? refreshToken ?? '';
      refreshToken = used;
      try {
        const renewed = await refresh(used);
        if (refreshToken !== used) await store?.replace(used, refreshToken);
        return renewed;
      } catch (error) {
        if (!isRemoteError(error, 'credentials_refused') || !(await isReplaced(used))) throw error;
      }
    }
  };

  /** Whether another process has used the token and stores its replacement soon. */
  const isReplaced = async (used: string): Promise<boolean> => {
    for (let checks = 0; store && checks < REPLACEMENT_CHECKS; checks += 1) {
      if (checks > 0) await clock.sleep(REPLACEMENT_CHECK_MS, signal);
      const stored = await store.read();
      if (stored !== used) return stored !== undefined;
    }
    return false;
  };

  const renew = async (): Promise<IssuedToken> => {
    if (auth.grant === 'refresh_token') return await renewByStored();
    if (refreshToken !== undefined) {
      const renewed = await withFallback(refresh(refreshToken), ['credentials_refused'], undefined);
      if (renewed) return renewed;
      // the refresh token has expired; the password is still valid
      refreshToken = undefined;
    }
    if (auth.grant === 'client_credentials') return await request({ grant_type: 'client_credentials' });
    return await request({ grant_type: 'password', username: auth.username, password: auth.password });
  };

  const tokens = createTokenCache(clock, renew);
  return {
    secrets: () => [
      auth.clientSecret,
      auth.grant === 'password' ? auth.password : undefined,
      refreshToken,
      tokens.current()?.header.replace(/^Bearer /, ''),
    ],
    authorization: (stale) => tokens.header(stale),
  };
}
