import { OutboundOverflow, OutboundRefusal } from '../../../platform/outbound.ts';
import { DeadlinePassed } from '../clock.ts';
import { failed, type Result } from '../remote.failures.ts';

/** Connections that were never made: the request has not left. */
const neverMade = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const certificate = /CERT|SSL|TLS|SELF_SIGNED/;

export interface Lost {
  failure: Result<never>;
  /** Whether another try can be better, and cannot do a thing twice. */
  again: boolean;
  /** Too much was asked for at once. */
  tooSlow: boolean;
}

/** What a call without an answer means. */
export function lostBy(
  { doing, isRead, where }: { doing: string; isRead: boolean; where: string },
  error: Error,
): Lost {
  if (error instanceof OutboundRefusal) {
    return { failure: failed('address_refused', where, error.message), again: false, tooSlow: false };
  }
  if (error instanceof OutboundOverflow) {
    const what = `${doing} got an answer that is too long`;
    return {
      failure: failed(isRead ? 'incomplete_answer' : 'answer_lost', where, what),
      again: isRead,
      tooSlow: true,
    };
  }
  const { cause, code: own } = error as Error & {
    cause?: { code?: unknown; message?: unknown };
    code?: unknown;
  };
  // ports that no client calls (Fetch standard, port blocking)
  if (cause?.message === 'bad port') {
    const what = `${doing} would go to a port that is not called`;
    return { failure: failed('address_refused', where, what), again: false, tooSlow: false };
  }
  const code = String(cause?.code ?? own ?? '');
  const neverSent = neverMade.has(code) || certificate.test(code);
  const timedOut = error instanceof DeadlinePassed || error.name === 'TimeoutError';
  // closed and silent ports read alike; what is wrong with a certificate has to be known to be mended
  const named = certificate.test(code) ? ` (${code})` : '';
  const what = timedOut ? `${doing} had no answer in time` : `${doing} lost its connection${named}`;
  if (!isRead && !neverSent) {
    const failure = failed('answer_lost', where, what, timedOut ? { underWay: true } : {});
    return { failure, again: false, tooSlow: timedOut };
  }
  const failure = failed(timedOut ? 'timed_out' : 'unreachable', where, what);
  return { failure, again: !certificate.test(code), tooSlow: timedOut };
}
