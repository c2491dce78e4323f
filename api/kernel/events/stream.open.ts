import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkPosition, feedEnds } from '../../../domain/kernel/events/changes.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import type { Credential } from '../../../domain/kernel/sessions.ts';
import { transientFrame } from './stream.frames.ts';
import {
  createFollower,
  createStreamHub,
  createSubscriber,
  type StreamFilter,
  type StreamHub,
  type Subscriber,
} from './stream.hub.ts';
import { createStreamSlots } from './stream.limits.ts';

/** Opens the event streams of the process, which share one hub. */
export interface Streams {
  open(
    request: FastifyRequest,
    reply: FastifyReply,
    credential: Credential,
    filter: StreamFilter,
  ): Promise<void>;
  /** Sends a frame that is not stored to every stream that `pick` chooses. */
  broadcast(eventType: string, data: unknown, pick: (subscriber: Subscriber) => boolean): void;
  anyOpen(): boolean;
  close(): void;
}

export function createStreams(services: Services): Streams {
  let starting: Promise<StreamHub> | undefined;
  let hub: StreamHub | undefined;
  const open = new Set<Subscriber>();
  const slots = createStreamSlots();
  const follow = createFollower(services);

  const startHub = async () => {
    const { newest } = await feedEnds(services.db);
    hub = createStreamHub(services, newest);
    return hub;
  };

  return {
    async open(request, reply, credential, filter) {
      const release = slots.take(request.ctx.caller.userId!);
      let position: number;
      let reader: StreamHub;
      try {
        starting ??= startHub().catch((error: unknown) => {
          starting = undefined;
          throw error;
        });
        reader = await starting;
        const ends = await feedEnds(services.db);
        const resumeFrom = request.headers['last-event-id'];
        position =
          typeof resumeFrom === 'string' && resumeFrom !== ''
            ? checkPosition(resumeFrom, ends, 'Last-Event-ID')
            : ends.newest;
      } catch (error) {
        release();
        throw error;
      }

      reply.hijack();
      const response = reply.raw;
      response.on('close', release);
      // the client has disconnected while the position was read
      if (response.closed) release();
      response.writeHead(200, {
        // headers that earlier hooks have set, such as CORS headers
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
        'x-request-id': request.id,
        'x-content-type-options': 'nosniff',
      });
      response.write('retry: 2000\n\n');
      // the first id, so that a client that disconnects before any event resumes without a gap
      response.write(
        `id: ${position}\nevent: stream.ready\ndata: ${JSON.stringify({ position: String(position) })}\n\n`,
      );
      const subscriber = createSubscriber(services, response, credential, request.ctx.caller, filter);
      open.add(subscriber);
      response.on('close', () => {
        open.delete(subscriber);
        reader.leave(subscriber);
      });
      // not awaited: the stream outlives the handler
      follow({ subscriber, response, from: position }, reader).catch((error: unknown) => {
        request.log.warn({ err: error }, 'an event stream failed');
        response.destroy();
      });
    },
    broadcast(eventType, data, pick) {
      let frame: Buffer | undefined;
      for (const subscriber of open) {
        if (!pick(subscriber) || !subscriber.asksFor(eventType)) continue;
        frame ??= transientFrame(eventType, data);
        subscriber.sendTransient(frame);
      }
    },
    anyOpen: () => open.size > 0,
    close() {
      hub?.close();
      for (const subscriber of open) subscriber.end();
    },
  };
}
