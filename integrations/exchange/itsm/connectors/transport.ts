import { appVersion } from '../../../../domain/kernel/version.ts';
import { sha256 } from '../../../../platform/crypto.ts';
import {
  createOutbound,
  type Outbound,
  type OutboundOptions,
  type OutboundResponse,
  type OutboundTls,
} from '../../../../platform/outbound.ts';
import { createLimiter, type Limiter, type LimiterStore, type RateHeaders } from '../limiter/limiter.ts';
import { type Clock, isRemoteError, RemoteError, systemClock } from '../remote.ts';
import {
  connectionError,
  type Mask,
  maskOf,
  type ReadResponse,
  type ResponseReader,
  secretsIn,
} from './responses.ts';

/** Timeouts and retries of calls. */
export interface TransportConfig {
  /** For one response. */
  timeoutMs: number;
  /** How often one call is sent at most. */
  attempts: number;
  /** Maximum pause before the second attempt, doubled for each further one; at least half of it is waited. */
  firstPauseMs: number;
  /** How long one call waits at most for the rate limiter. */
  maxWaitMs: number;
  /** How long the remote may still be executing a write that timed out. */
  settleMs: number;
  tls?: OutboundTls;
}

export const defaultTransport: TransportConfig = {
  timeoutMs: 60_000,
  attempts: 6,
  firstPauseMs: 500,
  maxWaitMs: 300_000,
  settleMs: 30_000,
};

/** What every connector is created with. */
export interface ConnectorParts<Config> {
  config: Config;
  /** Entries of OUTBOUND_ALLOW. */
  outboundAllow: readonly string[];
  /** Stores the limits of the account, for all processes that use it. */
  limits: LimiterStore;
  log?: OutboundOptions['log'];
  clock?: Clock;
  random?: () => number;
  /** Aborts waiting and running calls. */
  signal?: AbortSignal;
}

/** Supplies the credentials of requests. */
export interface Session {
  /** @param stale a header that was refused: it is replaced by another one if possible. @throws RemoteError */
  authorization(stale?: string): Promise<string>;
  /** Where credentials are sent; default: in the Authorization header. */
  place?: { in: 'header' | 'query'; name: string };
  /** How often credentials are refused before a call fails; default: 3, since the first refusal may be an error of the remote. */
  maxRefusals?: number;
  /** Further secrets that were sent to the remote, which it may repeat in its messages. */
  secrets?(): (string | undefined)[];
}

export const basicAuth = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

/** Credentials that are sent with every request. */
export type PlainAuth =
  | { kind: 'none' }
  | { kind: 'basic'; username: string; password: string }
  | { kind: 'token'; token: string };

/** The name of an account for its rate limit; a token is identified by its digest. */
export function accountNameOf(auth: PlainAuth): string {
  if (auth.kind === 'none') return '';
  return auth.kind === 'basic' ? auth.username : `token ${sha256(auth.token).slice(0, 16)}`;
}

export interface Call {
  method: 'GET' | 'OPTIONS' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the address of the remote; may have a query. */
  path: string;
  /** Built for each attempt, since the page size may shrink. */
  query?: (pageSize: number) => Record<string, string> | URLSearchParams;
  headers?: Record<string, string>;
  /** Usual number of rows of a page. */
  pageSize?: number;
  /** Sent as JSON; a function builds it for each attempt like the query. */
  body?: object | ((pageSize: number) => object);
  /** A form instead of a body, built for each attempt like the query. */
  form?: (pageSize: number) => Record<string, string>;
  /** Stores nothing, although its method would. */
  isRead?: boolean;
  /** The attempted operation for messages, such as `Reading cmdb_ci_server`. */
  doing: string;
  /** How the response is read, if not as all others of the remote. */
  read?: ResponseReader;
}

export interface Response {
  status: number;
  headers: Record<string, string>;
  /** What the response reader returned; undefined without a body. */
  result: unknown;
  /** X-Total-Count, if it was sent. */
  total: number | undefined;
  /** How many rows were requested in the last attempt. */
  pageSize: number;
}

export interface Transport {
  /** @throws RemoteError */
  send(call: Call): Promise<Response>;
  /** Removes our secrets from a message of the remote. */
  mask: Mask;
  clock: Clock;
  outbound: Outbound;
  limiter: Limiter;
  signal: AbortSignal | undefined;
  clockAheadMs(): number | null;
  calls(): number;
  close(): Promise<void>;
}

/** The members of a connector that are those of its transport. */
export const connectionOf = ({ limiter, clockAheadMs, calls, close }: Omit<Transport, 'mask'>) => ({
  limiter,
  clockAheadMs,
  calls,
  close,
});

interface TransportOptions {
  base: string;
  /** The account whose rate limit applies. */
  account: string;
  read: ResponseReader;
  session: Session | ((parts: Pick<Transport, 'outbound' | 'clock' | 'signal'>) => Session);
  /** Longer responses are an error. */
  maxBytes?: number;
}

const authorizationHeader = { in: 'header', name: 'authorization' } as const;
const MAX_REFUSALS = 3;
const MAX_BYTES = 64 * 1024 * 1024;
const LONGEST_PAUSE_MS = 30_000;

/** RateLimit headers by our own clock. @param aheadMs how far the remote's clock is ahead. */
function rateOf({ headers }: OutboundResponse, aheadMs: number): { rate?: RateHeaders } {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    Number(headers[`x-ratelimit-${name}`] ?? headers[`x-rate-limit-${name}`] ?? Number.NaN),
  );
  if ([limit, remaining, reset].some(Number.isNaN)) return {};
  return { rate: { limit: limit!, remaining: remaining!, resetAt: reset! * 1000 - aheadMs } };
}

interface Sending {
  outbound: Outbound;
  clock: Clock;
  signal: AbortSignal | undefined;
  base: string;
  maxBytes: number;
  timeoutMs: number;
  place: NonNullable<Session['place']>;
}

/** Sends one request, with a deadline. */
async function requestOnce(
  { outbound, clock, signal, base, maxBytes, timeoutMs, place }: Sending,
  call: Call,
  credentials: string,
  pageSize: number,
): Promise<OutboundResponse> {
  const parameters = new URLSearchParams(call.query?.(pageSize));
  if (place.in === 'query') parameters.set(place.name, credentials);
  const query = parameters.size === 0 ? '' : `?${parameters}`;
  const form = call.form && new URLSearchParams(call.form(pageSize)).toString();
  const document = typeof call.body === 'function' ? call.body(pageSize) : call.body;
  const body = document ? JSON.stringify(document) : form;
  const deadline = clock.deadline(timeoutMs);
  try {
    return await outbound.request(`${base}${call.path}${query}`, {
      method: call.method,
      headers: {
        ...(credentials === '' || place.in === 'query' ? {} : { [place.name]: credentials }),
        accept: 'application/json',
        'user-agent': `Estate/${appVersion}`,
        ...(call.body ? { 'content-type': 'application/json' } : {}),
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...call.headers,
      },
      ...(body === undefined ? {} : { body }),
      signal: signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal,
      // later than the deadline, for clocks of tests
      timeoutMs: timeoutMs * 2,
      maxBytes,
    });
  } catch (error) {
    throw deadline.signal.aborted ? deadline.signal.reason : error;
  } finally {
    deadline.clear();
  }
}

/** Sends calls at the rate of the limiter, and retries them as long as that cannot execute a write twice. */
export function openTransport(
  parts: ConnectorParts<TransportConfig>,
  { base, account, read: readResponse, session: sessionOf, maxBytes = MAX_BYTES }: TransportOptions,
): Transport {
  const { config, outboundAllow, limits, log, clock = systemClock, random = Math.random, signal } = parts;
  const outbound = createOutbound(outboundAllow, { tls: config.tls ?? {}, ...(log ? { log } : {}) });
  const limiter = createLimiter(account, { store: limits, clock });
  const session = typeof sessionOf === 'function' ? sessionOf({ outbound, clock, signal }) : sessionOf;
  let calls = 0;
  let ahead: number | null = null;
  let sent = '';

  const mask: Mask = (text) => maskOf([...secretsIn(sent), ...(session.secrets?.() ?? [])])(text);

  // without the query, which may contain values of records
  const whereOf = ({ path }: Call): string => `${base}${path.split('?')[0]}`;

  const once = (call: Call, authorization: string, pageSize: number): Promise<OutboundResponse> => {
    calls += 1;
    const { place = authorizationHeader } = session;
    const sending = { outbound, clock, signal, base, maxBytes, timeoutMs: config.timeoutMs, place };
    return requestOnce(sending, call, authorization, pageSize);
  };

  /** Waits for the limiter. @throws RemoteError when that takes too long; `last` after a failed attempt. */
  const awaitSlot = async (call: Call, last: RemoteError | undefined): Promise<void> => {
    const acquired = await limiter.acquire(config.maxWaitMs, signal);
    if (acquired.kind !== 'wait_too_long') return;
    // the error of the last attempt is more specific
    if (last) throw last;
    const what =
      acquired.reason === 'rate_limited'
        ? `${call.doing} was not sent: the rate limit of the remote requires a longer wait`
        : `${call.doing} was not sent: the remote has failed repeatedly`;
    throw new RemoteError(acquired.reason, whereOf(call), what, { retryAfterMs: acquired.ms });
  };

  const sendWithRetries = async (call: Call): Promise<Response> => {
    const where = whereOf(call);
    const isRead = call.isRead === true || call.method === 'GET' || call.method === 'OPTIONS';
    let refusedHeader: string | undefined;
    let refusals = 0;
    let last: RemoteError | undefined;
    for (let attempt = 1; attempt <= config.attempts; attempt += 1) {
      if (last) await pause(attempt - 1);
      await awaitSlot(call, last);
      let header: string;
      try {
        header = await session.authorization(refusedHeader);
      } catch (error) {
        const isTemporary = isRemoteError(error, 'unreachable', 'timed_out', 'unavailable');
        if (!isTemporary) throw error;
        last = error;
        await limiter.recordOutcome({ kind: 'unavailable' });
        continue;
      }
      sent = header;
      const pageSize = call.pageSize === undefined ? 0 : await limiter.pageSize(call.pageSize);
      let response: OutboundResponse;
      try {
        response = await once(call, header, pageSize);
      } catch (error) {
        // a write that was sent may have been executed
        if (signal?.aborted && !isRead)
          throw new RemoteError('response_lost', where, `${call.doing} was stopped`);
        signal?.throwIfAborted();
        const hasPages = call.pageSize !== undefined;
        const lost = connectionError({ doing: call.doing, isRead, where, hasPages }, error as Error);
        await limiter.recordOutcome({ kind: lost.outcome });
        last = lost.error;
        if (!lost.canRetry) throw last;
        continue;
      }
      const date = Date.parse(response.headers.date ?? '');
      if (!Number.isNaN(date)) ahead = Math.round((date - clock.now()) / 1000) * 1000;
      // times in responses are by the clock of the remote
      const now = clock.now() + (ahead ?? 0);
      const read = (call.read ?? readResponse)(response, { where, doing: call.doing, isRead, now, mask });
      await limiter.recordOutcome(outcomeOf(read, rateOf(response, ahead ?? 0)));
      if (read.kind === 'done') {
        const { status, headers } = response;
        return { status, headers, result: read.result, total: totalOf(response), pageSize };
      }
      last = read.error;
      if (read.kind === 'unauthenticated') {
        refusals += 1;
        refusedHeader = header;
        if (refusals >= (session.maxRefusals ?? MAX_REFUSALS)) throw last;
      } else if (read.kind === 'final') throw last;
      // the caller looks up a write that may have been executed
      else if (!isRead && read.kind !== 'rate_limited') throw last;
    }
    throw last ?? new RemoteError('aborted', where, `${call.doing} was not sent`);
  };

  const pause = async (attempt: number): Promise<void> => {
    const longest = Math.min(LONGEST_PAUSE_MS, config.firstPauseMs * 2 ** (attempt - 1));
    await clock.sleep(Math.round(longest * (0.5 + random() / 2)), signal);
  };

  return {
    async send(call) {
      try {
        return await sendWithRetries(call);
      } catch (error) {
        if (!(error instanceof RemoteError) && signal?.aborted)
          throw new RemoteError('aborted', whereOf(call), `${call.doing} was stopped`);
        throw error;
      }
    },
    mask,
    clock,
    outbound,
    limiter,
    signal,
    clockAheadMs: () => ahead,
    calls: () => calls,
    close: () => outbound.close(),
  };
}

/** The outcome of a response for the limiter. */
function outcomeOf(
  read: ReadResponse,
  rate: { rate?: RateHeaders },
): Parameters<Limiter['recordOutcome']>[0] {
  switch (read.kind) {
    case 'rate_limited':
      return { kind: 'rate_limited', retryAfterMs: read.error.retryAfterMs, ...rate };
    case 'unauthenticated':
      return { kind: 'passed' };
    case 'incomplete':
      return { kind: 'too_slow' };
    case 'unavailable':
      return { kind: 'unavailable' };
    default:
      return { kind: 'passed', ...rate };
  }
}

const totalOf = ({ headers }: OutboundResponse): number | undefined => {
  const total = headers['x-total-count'];
  return total === undefined || total === '' ? undefined : Number(total);
};
