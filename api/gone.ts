import type { FastifyReply } from 'fastify';
import { EstateError } from '../platform/errors.ts';

/** Aborted when the client hangs up before it has its answer: work for it alone can be given up. */
export function clientGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const hasGone = () => {
    if (reply.raw.writableFinished) return;
    gone.abort(new EstateError('unavailable', 'The client did not wait for the answer.'));
  };
  if (reply.raw.closed) hasGone();
  else reply.raw.once('close', hasGone);
  return gone.signal;
}
