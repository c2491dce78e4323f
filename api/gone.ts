import type { FastifyReply } from 'fastify';
import { EstateError } from '../platform/errors.ts';

/** A signal that is aborted when the client disconnects before the response is complete. */
export function clientGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const hasGone = () => {
    if (reply.raw.writableFinished) return;
    gone.abort(new EstateError('unavailable', 'The client has disconnected.'));
  };
  if (reply.raw.closed) hasGone();
  else reply.raw.once('close', hasGone);
  return gone.signal;
}
