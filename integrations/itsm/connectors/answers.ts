import type { OutboundAnswer } from '../../../platform/outbound.ts';
import { type FailureCode, failed, type Result } from '../remote.failures.ts';
import type { Mask } from './masking.ts';

/** What an answer means, and what follows from it. */
export type ReadAnswer =
  | { kind: 'done'; result: unknown }
  | {
      /** `final` stays so however often it is asked. */
      kind: 'limited' | 'unauthenticated' | 'incomplete' | 'outage' | 'final';
      failure: Result<never>;
      retryAfterMs?: number;
    };

/** What an answer belongs to. */
export interface AnswerContext {
  where: string;
  doing: string;
  isRead: boolean;
  /** By the clock of the remote, milliseconds. */
  now: number;
  /** Takes our own secrets out of what the remote says. */
  mask: Mask;
}

/** How a kind of remote tells what went wrong. */
export interface Dialect {
  /** What its error says; undefined where the document is none. */
  errorOf(document: unknown, status: number): string | undefined;
  /** Where a status from 400 to 499 means something else than usual. */
  meaningOf?(status: number, message: string | undefined): FailureCode | undefined;
}

/** The JSON document of an answer, or why there is none. */
export function readJson(answer: OutboundAnswer, context: AnswerContext, dialect: Dialect): ReadAnswer {
  const { status, headers, body } = answer;
  const document = status === 204 ? undefined : parse(body);
  const refused = readRefusal(answer, context, dialect, document);
  if (refused) return refused;
  if (status === 204) return { kind: 'done', result: undefined };
  const unclear = unclearOf(context, status);
  if (document === undefined) {
    const html = /text\/html/i.test(headers['content-type'] ?? '');
    if (html) return unclear('outage', 'unreadable_answer', 'was answered with a web page instead of data');
    return unclear('incomplete', 'incomplete_answer', 'got an answer that breaks off');
  }
  // the remote has answered 200 before it found that it cannot go on
  const message = dialect.errorOf(document, status);
  if (message !== undefined)
    return unclear(
      'incomplete',
      'incomplete_answer',
      `got a part of the answer only${inWords(context, message)}`,
    );
  return { kind: 'done', result: document };
}

/** What the status alone tells of an answer that is no success; undefined where it is one. */
export function readRefusal(
  { status, headers }: OutboundAnswer,
  context: AnswerContext,
  dialect: Dialect,
  document: unknown,
): ReadAnswer | undefined {
  if (status < 300) return undefined;
  const { now } = context;
  const of = (
    kind: Exclude<ReadAnswer['kind'], 'done'>,
    code: FailureCode,
    what: string,
    retryAfterMs?: number,
  ): ReadAnswer => {
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    const { where, doing } = context;
    return { kind, failure: failed(code, where, `${doing} ${what}`, { status, ...wait }), ...wait };
  };
  if (status === 429)
    return of(
      'limited',
      'limited',
      'was refused: too many requests',
      retryAfterMs(headers['retry-after'], now),
    );
  const message = dialect.errorOf(document, status);
  const said = inWords(context, message);
  if (status >= 500)
    return unclearOf(context, status)('outage', 'outage', `was answered with the status ${status}${said}`);
  if (status < 400) return of('final', 'unreadable_answer', `was sent elsewhere with the status ${status}`);
  const code = dialect.meaningOf?.(status, message) ?? usualMeanings[status] ?? 'refused';
  switch (code) {
    case 'credentials_refused':
      return of('unauthenticated', code, 'was refused: the credentials do not count');
    case 'forbidden':
      return of('final', code, `was refused${said}`);
    case 'not_found':
      return of('final', code, `found nothing${said}`);
    default:
      return of('final', code, `was refused with the status ${status}${said}`);
  }
}

const usualMeanings: Record<number, FailureCode> = {
  401: 'credentials_refused',
  403: 'forbidden',
  404: 'not_found',
};

/** A write with such an answer may have been done. */
const unclearOf =
  ({ where, doing, isRead }: AnswerContext, status: number) =>
  (kind: 'incomplete' | 'outage', code: FailureCode, what: string): ReadAnswer => ({
    kind,
    failure: failed(isRead ? code : 'answer_lost', where, `${doing} ${what}`, { status }),
  });

/** What a remote says, in brackets. A secret is taken out before the text is cut, so that no part of it stays. */
export const inWords = ({ mask }: Pick<AnswerContext, 'mask'>, message: string | undefined): string =>
  message ? ` (${mask(message).slice(0, 200)})` : '';

function parse(body: Buffer): unknown {
  try {
    const document: unknown = JSON.parse(body.toString('utf8'));
    return typeof document === 'object' && document !== null ? document : undefined;
  } catch {
    return undefined;
  }
}

/** RFC 9110, 10.2.3: seconds, or a date. */
function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined || header === '') return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
