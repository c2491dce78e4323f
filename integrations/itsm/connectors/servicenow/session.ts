import type { RefreshTokens } from '../../../../domain/exchange/itsm/connections.refresh.ts';
import type { Outbound } from '../../../../platform/outbound.ts';
import type { Clock } from '../../clock.ts';
import { done, failed, type Result } from '../../remote.failures.ts';
import type { Session } from '../transport.ts';
import type { ServiceNowAuth } from './config.ts';

/** A token is renewed so long before it ends. */
const EARLY_MS = 30_000;
/** How often, and after what time each, it is looked whether another process has renewed a token. */
const LOOKS = 5;
const LOOK_MS = 300;
const TOKEN_PATH = '/oauth_token.do';

interface Token {
  header: string;
  endsAt: number;
}

/** One token for all calls of a connector, renewed once however many wait for it. */
export function createSession(
  auth: ServiceNowAuth,
  base: string,
  {
    outbound,
    clock,
    timeoutMs,
    kept,
    signal,
  }: { outbound: Outbound; clock: Clock; timeoutMs: number; kept?: RefreshTokens; signal?: AbortSignal },
): Session {
  if (auth.kind === 'basic') {
    const header = `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
    return { authorization: async () => done(header), secrets: () => [auth.password] };
  }
  let token: Token | undefined;
  let refreshToken = auth.grant === 'refresh_token' ? auth.refreshToken : undefined;
  let renewal: Promise<Result<Token>> | undefined;

  const ask = async (form: Record<string, string>): Promise<Result<Token>> => {
    const where = `${base}${TOKEN_PATH}`;
    const deadline = clock.deadline(timeoutMs);
    try {
      const answer = await outbound.request(where, {
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
      if (answer.status === 401 || answer.status === 400) {
        return failed('credentials_refused', where, 'The remote gave no token for the OAuth client', {
          status: answer.status,
        });
      }
      const document = JSON.parse(answer.body.toString('utf8')) as Record<string, unknown>;
      const { access_token: access, expires_in: seconds, refresh_token: refresh } = document;
      if (answer.status !== 200 || typeof access !== 'string') {
        return failed(
          'unreadable_answer',
          where,
          `The answer to the request for a token had the status ${answer.status} and no token`,
        );
      }
      if (typeof refresh === 'string') refreshToken = refresh;
      const endsAt = clock.now() + (Number(seconds) || 60) * 1000;
      return done({ header: `Bearer ${access}`, endsAt });
    } catch (error) {
      signal?.throwIfAborted();
      const code = deadline.signal.aborted
        ? 'timed_out'
        : error instanceof SyntaxError
          ? 'unreadable_answer'
          : 'unreachable';
      return failed(code, where, 'The request for a token had no usable answer');
    } finally {
      deadline.clear();
    }
  };

  /** A remote may replace the token with each use, and other processes use it as well. */
  const renewByStored = async (): Promise<Result<Token>> => {
    for (;;) {
      const used = (await kept?.read()) ?? refreshToken ?? '';
      refreshToken = used;
      const renewed = await ask({ grant_type: 'refresh_token', refresh_token: used });
      if (renewed.ok) {
        if (refreshToken !== used) await kept?.keep(used, refreshToken);
        return renewed;
      }
      if (renewed.failure.code !== 'credentials_refused' || !(await isReplaced(used))) return renewed;
    }
  };

  /** Whether another process has used the token, and keeps the one that came for it soon. */
  const isReplaced = async (used: string): Promise<boolean> => {
    for (let looks = 0; kept && looks < LOOKS; looks += 1) {
      if (looks > 0) await clock.sleep(LOOK_MS, signal);
      const stored = await kept.read();
      if (stored !== used) return stored !== undefined;
    }
    return false;
  };

  const renew = async (): Promise<Result<Token>> => {
    if (auth.grant === 'refresh_token') return await renewByStored();
    if (refreshToken !== undefined) {
      const renewed = await ask({ grant_type: 'refresh_token', refresh_token: refreshToken });
      if (renewed.ok || renewed.failure.code !== 'credentials_refused') return renewed;
      // the refresh token has ended; the password still counts
      refreshToken = undefined;
    }
    if (auth.grant === 'password') {
      return ask({ grant_type: 'password', username: auth.username, password: auth.password });
    }
    return ask({ grant_type: 'client_credentials' });
  };

  return {
    secrets: () => [
      auth.clientSecret,
      auth.grant === 'password' ? auth.password : undefined,
      refreshToken,
      token?.header.replace(/^Bearer /, ''),
    ],
    async authorization(stale) {
      if (token && token.header !== stale && token.endsAt - EARLY_MS > clock.now()) return done(token.header);
      renewal ??= renew().finally(() => {
        renewal = undefined;
      });
      const renewed = await renewal;
      if (!renewed.ok) return renewed;
      token = renewed.value;
      return done(token.header);
    },
  };
}
