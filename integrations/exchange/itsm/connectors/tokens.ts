import { fitsHeader } from '../../../../domain/exchange/itsm/connections.auth.ts';
import { sha256 } from '../../../../platform/crypto.ts';
import { OutboundRefusal } from '../../../../platform/outbound.ts';
import { isRemoteError, RemoteError } from '../remote.ts';
import type { Transport } from './transport.ts';

/** How long before it expires a token is renewed. */
const EARLY_MS = 30_000;
/** The lifetime of a token whose response does not name one (RFC 6749, 5.1), in seconds. */
const LIFETIME_SECONDS = 60;
/** Longer responses of a token endpoint are an error. */
const MAX_BYTES = 256 * 1024;

/** A token as it was issued. */
export interface IssuedToken {
  /** The Authorization header. */
  header: string;
  /** By our clock, milliseconds. */
  expiresAt: number;
  refreshToken?: string;
}

export interface TokenRequest {
  url: string;
  form: Record<string, string>;
  headers?: Record<string, string>;
  timeoutMs: number;
}

/** Requests a token (RFC 6749, 4.4, 4.3 and 6). @throws RemoteError */
export async function requestToken(
  { outbound, clock, signal }: Pick<Transport, 'outbound' | 'clock' | 'signal'>,
  { url, form, headers, timeoutMs }: TokenRequest,
): Promise<IssuedToken> {
  const deadline = clock.deadline(timeoutMs);
  try {
    const { status, body } = await outbound.request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        ...headers,
      },
      body: new URLSearchParams(form).toString(),
      signal: signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal,
      timeoutMs: timeoutMs * 2,
      maxBytes: MAX_BYTES,
    });
    if (status === 401 || status === 400) {
      // RFC 6749, 5.2: codes of letters and underscores; a description may repeat what was sent
      const code = errorCodeOf(body.toString('utf8'));
      const what = `The remote issued no token for the OAuth client${code}`;
      throw new RemoteError('credentials_refused', url, what, { status });
    }
    if (status >= 500 || status === 429) {
      const what = `The token request was answered with the status ${status}`;
      throw new RemoteError('unavailable', url, what, { status });
    }
    const document = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
    const { access_token: access, expires_in: seconds, refresh_token: refresh } = document;
    if (status !== 200 || typeof access !== 'string' || access === '') {
      const what = `The response to the token request had the status ${status} and no token`;
      throw new RemoteError('unreadable_response', url, what);
    }
    if (!fitsHeader(access)) {
      const what = 'The response to the token request has a token that cannot be sent in a header';
      throw new RemoteError('unreadable_response', url, what);
    }
    const expiresAt = clock.now() + (Number(seconds) || LIFETIME_SECONDS) * 1000;
    return {
      header: `Bearer ${access}`,
      expiresAt,
      ...(typeof refresh === 'string' ? { refreshToken: refresh } : {}),
    };
  } catch (error) {
    if (isRemoteError(error)) throw error;
    signal?.throwIfAborted();
    if (error instanceof OutboundRefusal) throw new RemoteError('address_refused', url, error.message);
    const code = deadline.signal.aborted
      ? 'timed_out'
      : error instanceof SyntaxError
        ? 'unreadable_response'
        : 'unreachable';
    throw new RemoteError(code, url, 'The token request got no usable response');
  } finally {
    deadline.clear();
  }
}

function errorCodeOf(body: string): string {
  const [, code] = /"error"\s*:\s*"([a-z_]{1,40})"/.exec(body) ?? [];
  return code === undefined ? '' : ` (${code})`;
}

/** One token for all calls, until it expires or is refused; concurrent calls share a renewal. */
export interface TokenCache {
  current(): IssuedToken | undefined;
  /** @param stale a header that was refused. @throws RemoteError */
  header(stale?: string): Promise<string>;
}

/** @param slot where the token is kept; connections that share one share the token. */
export function createTokenCache(
  clock: Transport['clock'],
  renew: () => Promise<IssuedToken>,
  slot: { token?: IssuedToken } = {},
): TokenCache {
  let renewal: Promise<IssuedToken> | undefined;
  return {
    current: () => slot.token,
    async header(stale) {
      const { token } = slot;
      if (token && token.header !== stale && token.expiresAt - EARLY_MS > clock.now()) return token.header;
      renewal ??= renew().finally(() => {
        renewal = undefined;
      });
      slot.token = await renewal;
      return slot.token.header;
    },
  };
}

/** Clients whose tokens this process keeps, the longest known first. */
const MAX_CLIENTS = 200;
const slots = new Map<string, { token?: IssuedToken }>();

/** Where this process keeps the token of a client. @param client all that its token depends on. */
export function slotOf(client: object): { token?: IssuedToken } {
  const key = sha256(JSON.stringify(client));
  const slot = slots.get(key) ?? {};
  slots.delete(key);
  if (slots.size >= MAX_CLIENTS) slots.delete(slots.keys().next().value!);
  slots.set(key, slot);
  return slot;
}
