import { appVersion } from '../../../domain/kernel/version.ts';
import type { Outbound, OutboundAnswer } from '../../../platform/outbound.ts';
import type { Clock } from '../clock.ts';
import type { RateHeaders } from '../limiter/limiter.state.ts';
import type { Limiter } from '../limiter/limiter.ts';
import { done, failed, type Result } from '../remote.failures.ts';
import type { AnswerContext, ReadAnswer } from './answers.ts';
import { lostBy } from './lost.ts';
import { type Mask, maskOf, secretsIn } from './masking.ts';

/** How patient calls are, and when they are sent again. */
export interface TransportConfig {
  /** For one answer. */
  timeoutMs: number;
  /** How often one call is sent altogether. */
  attempts: number;
  /** Before the second try; doubled each time, and a random part of it is waited. */
  pauseMs: number;
  /** The longest wait for the remote's limits that one call puts up with. */
  longestWaitMs: number;
}

/** Knows what to put into the header of a request. */
export interface Session {
  /** @param stale a header that was refused: another one is got where there is one. */
  authorization(stale?: string): Promise<Result<string>>;
  /** What the remote has been told besides the header and may repeat. */
  secrets?(): (string | undefined)[];
}

export interface Call {
  method: 'GET' | 'OPTIONS' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the address of the remote; with its own query where there is one. */
  path: string;
  /** Made anew for each try, since a page may shrink. */
  query?: (pageSize: number) => Record<string, string> | URLSearchParams;
  headers?: Record<string, string>;
  /** Rows that are asked for where pages are as usual. */
  pageSize?: number;
  body?: object;
  /** A form instead of a body, made anew for each try like the query. */
  form?: (pageSize: number) => Record<string, string>;
  /** Stores nothing, though its method would. */
  isRead?: true;
  /** What is tried, in words, such as `Reading cmdb_ci_server`. */
  doing: string;
}

export interface Answered {
  status: number;
  headers: Record<string, string>;
  /** What the answer holds, as its reader tells it; undefined without a body. */
  result: unknown;
  /** X-Total-Count, where it was sent. */
  total: number | undefined;
  /** How many rows were asked for in the end. */
  pageSize: number;
}

export interface Transport {
  send(call: Call): Promise<Result<Answered>>;
  /** Takes our own secrets out of what the remote says in an answer of success. */
  mask: Mask;
  clockAheadMs(): number | null;
  calls(): number;
}

export interface TransportParts {
  config: TransportConfig;
  base: string;
  /** Tells what an answer of this kind of remote means. */
  read: (answer: OutboundAnswer, context: AnswerContext) => ReadAnswer;
  outbound: Outbound;
  session: Session;
  limiter: Limiter;
  clock: Clock;
  /** 0..1, for the part of a pause that is waited. */
  random: () => number;
  signal?: AbortSignal;
  /** Longer answers are not read to their end. */
  maxBytes?: number;
}

const MAX_BYTES = 64 * 1024 * 1024;
const LONGEST_PAUSE_MS = 30_000;

/** Sends calls one by one at the pace of the limiter, and again while that cannot do a thing twice. */
export function createTransport({
  config,
  base,
  read: readAnswer,
  outbound,
  session,
  limiter,
  clock,
  random,
  signal,
  maxBytes = MAX_BYTES,
}: TransportParts): Transport {
  let calls = 0;
  let ahead: number | null = null;
  let sent = '';

  const mask: Mask = (text) => maskOf([...secretsIn(sent), ...(session.secrets?.() ?? [])])(text);

  // a query may hold what is nobody's business
  const whereOf = ({ path }: Call): string => `${base}${path.split('?')[0]}`;

  const once = async (
    call: Call,
    authorization: string,
    pageSize: number,
  ): Promise<OutboundAnswer | Error> => {
    const query = call.query ? `?${new URLSearchParams(call.query(pageSize))}` : '';
    const form = call.form && new URLSearchParams(call.form(pageSize)).toString();
    const body = call.body ? JSON.stringify(call.body) : form;
    const deadline = clock.deadline(config.timeoutMs);
    calls += 1;
    try {
      return await outbound.request(`${base}${call.path}${query}`, {
        method: call.method,
        headers: {
          ...(authorization === '' ? {} : { authorization }),
          accept: 'application/json',
          'user-agent': `Estate/${appVersion}`,
          ...(call.body ? { 'content-type': 'application/json' } : {}),
          ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
          ...call.headers,
        },
        ...(body === undefined ? {} : { body }),
        signal: signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal,
        // behind the deadline, for a clock that does not move
        timeoutMs: config.timeoutMs * 2,
        maxBytes,
      });
    } catch (error) {
      return deadline.signal.aborted ? (deadline.signal.reason as Error) : (error as Error);
    } finally {
      deadline.clear();
    }
  };

  /** RateLimit headers by our own clock; the remote's may be wrong, and its answer tells by how much. */
  const rateOf = ({ headers }: OutboundAnswer): RateHeaders | undefined => {
    const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
      Number(headers[`x-ratelimit-${name}`] ?? Number.NaN),
    );
    if ([limit, remaining, reset].some(Number.isNaN)) return undefined;
    return { limit: limit!, remaining: remaining!, resetAt: reset! * 1000 - (ahead ?? 0) };
  };

  const send = async (call: Call): Promise<Result<Answered>> => {
    try {
      return await tryOut(call);
    } catch (error) {
      // whoever waits for a turn or between two tries waits no longer
      if (signal?.aborted) return failed('stopped', whereOf(call), `${call.doing} was stopped`);
      throw error;
    }
  };

  const tryOut = async (call: Call): Promise<Result<Answered>> => {
    const where = whereOf(call);
    const isRead = call.isRead === true || call.method === 'GET' || call.method === 'OPTIONS';
    let refusedHeader: string | undefined;
    let refusals = 0;
    let last: Result<Answered> = failed('stopped', where, `${call.doing} was not begun`);
    for (let attempt = 1; attempt <= config.attempts; attempt += 1) {
      const turn = await limiter.turn(config.longestWaitMs, signal);
      if (turn.kind === 'wait_too_long') {
        // what this very call has met tells more than that there is to be a pause
        if (attempt > 1) return last;
        const what =
          turn.because === 'limited'
            ? `${call.doing} has to wait for the limits of the remote`
            : `${call.doing} was not tried, since the remote has been failing`;
        return failed(turn.because, where, what, { retryAfterMs: turn.ms });
      }
      const header = await session.authorization(refusedHeader);
      if (!header.ok) {
        if (header.failure.code !== 'unreachable' && header.failure.code !== 'timed_out') return header;
        last = header;
        await limiter.learn({ kind: 'outage' });
        await pause(attempt);
        continue;
      }
      sent = header.value;
      const pageSize = call.pageSize === undefined ? 0 : await limiter.pageSize(call.pageSize);
      const answer = await once(call, header.value, pageSize);
      if (answer instanceof Error) {
        // a write that had left may have been done
        if (signal?.aborted && !isRead) return failed('answer_lost', where, `${call.doing} was stopped`);
        signal?.throwIfAborted();
        const lost = lostBy({ doing: call.doing, isRead, where }, answer);
        await limiter.learn({ kind: lost.tooSlow ? 'too_slow' : 'outage' });
        last = lost.failure;
        if (!lost.again) return last;
        await pause(attempt);
        continue;
      }
      const date = Date.parse(answer.headers.date ?? '');
      if (!Number.isNaN(date)) ahead = Math.round((date - clock.now()) / 1000) * 1000;
      // moments that it names are moments of its own clock
      const now = clock.now() + (ahead ?? 0);
      const read = readAnswer(answer, { where, doing: call.doing, isRead, now, mask });
      const told = rateOf(answer);
      if (read.kind === 'done') {
        await limiter.learn({ kind: 'passed', ...(told ? { told } : {}) });
        const { status, headers } = answer;
        return done({ status, headers, result: read.result, total: totalOf(answer), pageSize });
      }
      last = read.failure;
      switch (read.kind) {
        case 'limited':
          await limiter.learn({
            kind: 'limited',
            ...(read.retryAfterMs === undefined ? {} : { retryAfterMs: read.retryAfterMs }),
            ...(told ? { told } : {}),
          });
          break;
        case 'unauthenticated':
          await limiter.learn({ kind: 'passed' });
          refusals += 1;
          refusedHeader = header.value;
          // once may be a mishap over there; a second time is a word
          if (refusals > 2) return last;
          break;
        case 'incomplete':
          await limiter.learn({ kind: 'too_slow' });
          break;
        case 'outage':
          await limiter.learn({ kind: 'outage' });
          break;
        case 'final':
          await limiter.learn({ kind: 'passed', ...(told ? { told } : {}) });
          return last;
      }
      // what may have been done is not done again before it is looked up
      if (!isRead && read.kind !== 'limited' && read.kind !== 'unauthenticated') return last;
      await pause(attempt);
    }
    return last;
  };

  const pause = async (attempt: number): Promise<void> => {
    if (attempt === config.attempts) return;
    const longest = Math.min(LONGEST_PAUSE_MS, config.pauseMs * 2 ** (attempt - 1));
    await clock.sleep(longest * (0.5 + random() / 2), signal);
  };

  return { send, mask, clockAheadMs: () => ahead, calls: () => calls };
}

const totalOf = ({ headers }: OutboundAnswer): number | undefined => {
  const total = headers['x-total-count'];
  return total === undefined || total === '' ? undefined : Number(total);
};
