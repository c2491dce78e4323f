import { once } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Credential } from '../../domain/access/access.sessions.ts';
import { checkPosition, feedEnds } from '../../domain/events/changes.ts';
import { readFeed } from '../../domain/events/feed.read.ts';
import type { Services } from '../../domain/services.ts';
import { eventFrame, transientFrame } from './stream.frames.ts';
import { createStreamHub, type StreamHub } from './stream.hub.ts';
import { createSubscriber, type StreamFilter, type Subscriber } from './stream.subscriber.ts';

const CATCH_UP_BATCH = 500;

/** Opens streams of the process; all of them share one reader of the feed. */
export interface Streams {
  open(
    request: FastifyRequest,
    reply: FastifyReply,
    credential: Credential,
    filter: StreamFilter,
  ): Promise<void>;
  /** Sends a frame that is not stored to every stream that `pick` chooses. */
  tell(eventType: string, data: unknown, pick: (subscriber: Subscriber) => boolean): void;
  anyOpen(): boolean;
  close(): void;
}

export function createStreams(services: Services): Streams {
  let starting: Promise<StreamHub> | undefined;
  let hub: StreamHub | undefined;
  const open = new Set<Subscriber>();

  const startHub = async () => {
    const { newest } = await feedEnds(services.db);
    hub = createStreamHub(services, newest);
    return hub;
  };

  return {
    async open(request, reply, credential, filter) {
      starting ??= startHub().catch((error: unknown) => {
        starting = undefined;
        throw error;
      });
      const reader = await starting;
      const ends = await feedEnds(services.db);
      const resumeFrom = request.headers['last-event-id'];
      let position =
        typeof resumeFrom === 'string' && resumeFrom !== ''
          ? checkPosition(resumeFrom, ends, 'Last-Event-ID')
          : ends.newest;

      reply.hijack();
      const response = reply.raw;
      response.writeHead(200, {
        // of hooks that came before, such as those for pages of other origins
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
        'x-request-id': request.id,
        'x-content-type-options': 'nosniff',
      });
      response.write('retry: 2000\n\n');
      // the first id, so that a client which is cut off before any event resumes without a gap
      response.write(
        `id: ${position}\nevent: stream.ready\ndata: ${JSON.stringify({ position: String(position) })}\n\n`,
      );
      const subscriber = createSubscriber(services, response, credential, request.ctx.caller, filter);
      open.add(subscriber);
      response.on('close', () => {
        open.delete(subscriber);
        reader.leave(subscriber);
      });
      try {
        position = await catchUp(subscriber, response, position, reader);
        if (!response.destroyed && !response.writableEnded) reader.join(subscriber);
      } catch (error) {
        request.log.warn({ err: error }, 'a stream could not catch up');
        response.destroy();
      }
    },
    tell(eventType, data, pick) {
      let frame: Buffer | undefined;
      for (const subscriber of open) {
        if (!pick(subscriber) || !subscriber.asksFor(eventType)) continue;
        frame ??= transientFrame(eventType, data);
        subscriber.send(frame);
      }
    },
    anyOpen: () => open.size > 0,
    close() {
      hub?.close();
      for (const subscriber of open) subscriber.end();
    },
  };

  /** Sends what was stored after `position`, page by page as fast as the client reads, up to where the hub stands. */
  async function catchUp(
    subscriber: Subscriber,
    response: FastifyReply['raw'],
    from: number,
    reader: StreamHub,
  ): Promise<number> {
    let position = from;
    while (position < reader.position() && !response.destroyed) {
      const rows = await readFeed(services.db, position, CATCH_UP_BATCH);
      const { topics } = await services.sessions.read(null);
      const metamodel = await services.metamodels.at(topics.get('metamodel') ?? 0, services.db);
      const held = new Set(
        subscriber.seesAllCosts() || !subscriber.seesCostsByRole()
          ? []
          : await services.db('stakeholders').where({ user_id: subscriber.userId }).pluck('card_id'),
      );
      for (const row of rows) {
        // what lies beyond the hub's place comes from the hub
        if (row.position > reader.position()) break;
        position = row.position;
        if (!subscriber.wants(row, metamodel)) continue;
        const frames = eventFrame(row);
        const full =
          row.cost_keys === null ||
          subscriber.seesAllCosts() ||
          held.has(row.card_id) ||
          held.has(row.peer_card_id);
        if (!response.write(full ? frames.full() : frames.cut())) {
          await Promise.race([once(response, 'drain'), once(response, 'close')]);
          if (response.destroyed) return position;
        }
      }
      if (rows.length === 0) break;
    }
    return position;
  }
}
