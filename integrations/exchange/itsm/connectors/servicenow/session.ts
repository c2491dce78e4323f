import type { RefreshTokens } from '../../../../../domain/exchange/itsm/itsm.load.ts';
import { isRemoteError, RemoteError, withFallback } from '../../remote.ts';
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

/** How long before it expires a token is renewed. */
const EARLY_MS = 30_000;
/** How often, and at what interval, it is checked whether another process has replaced a refresh token. */
const REPLACEMENT_CHECKS = 5;
const REPLACEMENT_CHECK_MS = 300;
const TOKEN_PATH = '/oauth_token.do';

interface Token {
  header: string;
  expiresAt: number;
}

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
  let token: Token | undefined;
  let refreshToken = auth.grant === 'refresh_token' ? auth.refreshToken : undefined;
  let renewal: Promise<Token> | undefined;

  const request = async (form: Record<string, string>): Promise<Token> => {
    const where = `${base}${TOKEN_PATH}`;
    const deadline = clock.deadline(timeoutMs);
    try {
      const { status, body } = await outbound.request(where, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
        body: new URLSearchParams({
          client_id: auth.clientId,
          client_secret: auth.clientSecret,
          ...form,
        }).toString(),
        signal: signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal,
        timeoutMs: timeoutMs * 2,
      });
      if (status === 401 || status === 400) {
        const what = 'The remote issued no token for the OAuth client';
        throw new RemoteError('credentials_refused', where, what, { status });
      }
      const document = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
      const { access_token: access, expires_in: seconds, refresh_token: refresh } = document;
      if (status !== 200 || typeof access !== 'string') {
        const what = `The response to the token request had the status ${status} and no token`;
        throw new RemoteError('unreadable_response', where, what);
      }
      if (typeof refresh === 'string') refreshToken = refresh;
      return { header: `Bearer ${access}`, expiresAt: clock.now() + (Number(seconds) || 60) * 1000 };
    } catch (error) {
      if (isRemoteError(error)) throw error;
      signal?.throwIfAborted();
      const code = deadline.signal.aborted
        ? 'timed_out'
        : error instanceof SyntaxError
          ? 'unreadable_response'
          : 'unreachable';
      throw new RemoteError(code, where, 'The token request got no usable response');
    } finally {
      deadline.clear();
    }
  };

  const refresh = (stored: string) => request({ grant_type: 'refresh_token', refresh_token: stored });

  /** Renews by a refresh token, which the remote may replace with each use and other processes may use too. */
  const renewByStored = async (): Promise<Token> => {
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

  const renew = async (): Promise<Token> => {
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

  return {
    secrets: () => [
      auth.clientSecret,
      auth.grant === 'password' ? auth.password : undefined,
      refreshToken,
      token?.header.replace(/^Bearer /, ''),
    ],
    async authorization(stale) {
      if (token && token.header !== stale && token.expiresAt - EARLY_MS > clock.now()) return token.header;
      renewal ??= renew().finally(() => {
        renewal = undefined;
      });
      token = await renewal;
      return token.header;
    },
  };
}
