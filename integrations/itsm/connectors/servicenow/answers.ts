import type { OutboundAnswer } from '../../../../platform/outbound.ts';
import { type FailureCode, failed, type Result } from '../../remote.failures.ts';

/** What an answer means, and what follows from it. */
export type ReadAnswer =
  | { kind: 'done'; result: unknown }
  | {
      /** `final` stays so however often it is asked. */
      kind: 'limited' | 'unauthenticated' | 'incomplete' | 'outage' | 'final';
      failure: Result<never>;
      retryAfterMs?: number;
    };

export function readAnswer(
  { status, headers, body }: OutboundAnswer,
  { where, doing, isRead, now }: { where: string; doing: string; isRead: boolean; now: number },
): ReadAnswer {
  const of = (
    kind: Exclude<ReadAnswer['kind'], 'done'>,
    code: FailureCode,
    what: string,
    retryAfterMs?: number,
  ): ReadAnswer => {
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    return { kind, failure: failed(code, where, `${doing} ${what}`, { status, ...wait }), ...wait };
  };
  /** A write with such an answer may have been done. */
  const unclear = (kind: 'incomplete' | 'outage', code: FailureCode, what: string): ReadAnswer =>
    of(kind, isRead ? code : 'answer_lost', what);

  if (status === 429)
    return of(
      'limited',
      'limited',
      'was refused: too many requests',
      retryAfterMs(headers['retry-after'], now),
    );
  if (status === 401)
    return of('unauthenticated', 'credentials_refused', 'was refused: the credentials do not count');
  if (status === 204) return { kind: 'done', result: undefined };
  const document = parse(body);
  const message = errorOf(document);
  if (status >= 500)
    return unclear('outage', 'outage', `was answered with the status ${status}${inWords(message)}`);
  if (status === 403) return of('final', 'forbidden', `was refused${inWords(message)}`);
  if (status === 404) return of('final', 'not_found', `found nothing${inWords(message)}`);
  if (status >= 400)
    return of(
      'final',
      /^Invalid table/.test(message ?? '') ? 'not_found' : 'refused',
      `was refused with the status ${status}${inWords(message)}`,
    );
  if (document === undefined) {
    const html = /text\/html/i.test(headers['content-type'] ?? '');
    if (html) return unclear('outage', 'unreadable_answer', 'was answered with a web page instead of data');
    return unclear('incomplete', 'incomplete_answer', 'got an answer that breaks off');
  }
  // the remote has answered 200 before it found that it cannot go on
  if (message !== undefined)
    return unclear('incomplete', 'incomplete_answer', `got a part of the answer only${inWords(message)}`);
  if (status >= 300) return of('final', 'unreadable_answer', `was sent elsewhere with the status ${status}`);
  return { kind: 'done', result: (document as { result?: unknown }).result };
}

const inWords = (message: string | undefined): string => (message ? ` (${message.slice(0, 200)})` : '');

function parse(body: Buffer): unknown {
  try {
    const document: unknown = JSON.parse(body.toString('utf8'));
    return typeof document === 'object' && document !== null ? document : undefined;
  } catch {
    return undefined;
  }
}

function errorOf(document: unknown): string | undefined {
  const error = (document as { error?: unknown } | undefined)?.error;
  if (error === undefined || error === null) return undefined;
  if (typeof error === 'string') return error;
  const { message, detail } = error as { message?: unknown; detail?: unknown };
  return (
    [message, detail].filter((part) => typeof part === 'string' && part !== '').join(': ') ||
    'no reason given'
  );
}

/** RFC 9110, 10.2.3: seconds, or a date. */
function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined || header === '') return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
