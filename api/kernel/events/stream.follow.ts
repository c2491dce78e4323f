import type { ServerResponse } from 'node:http';
import { readFeed } from '../../../domain/kernel/events/feed.read.ts';
import { OBSERVER } from '../../../domain/kernel/permissions/policy.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { createSemaphore } from '../../../platform/semaphore.ts';
import { eventFrame } from './stream.frames.ts';
import type { StreamHub } from './stream.hub.ts';
import { streamLimits } from './stream.limits.ts';
import type { Subscriber } from './stream.subscriber.ts';
import { drained, isOpen } from './stream.write.ts';

/** Stored events per page: about what the socket's send buffer takes. */
const PAGE = 50;

/** One stream and its position in the feed. */
export interface FollowedStream {
  subscriber: Subscriber;
  response: ServerResponse;
  from: number;
}

/**
 * Serves streams: first the events stored after their position, page by page as fast as the client reads, then live
 * events from the hub. A client that is too slow for live events is served from pages again, so that a stream only needs
 * the memory of its socket buffer.
 */
export function createFollower(
  services: Services,
): (followed: FollowedStream, hub: StreamHub) => Promise<void> {
  const withSemaphore = createSemaphore(streamLimits.replays);

  /** Sends one page. @returns the position of the last event that was skipped. */
  async function sendPage(
    { subscriber, response }: FollowedStream,
    after: number,
    last: number,
  ): Promise<number> {
    const topics = await subscriber.refresh();
    if (!topics || !isOpen(response)) return after;
    const metamodel = await services.metamodels.at(topics.get('metamodel') ?? 0, services.db);
    const rows = await readFeed(services.db, after, PAGE);
    const roleCards = new Set(
      subscriber.seesAllCosts() || !subscriber.seesCostsByRole()
        ? []
        : await services
            .db('stakeholders')
            .where({ user_id: subscriber.userId })
            .whereNot({ role: OBSERVER })
            .pluck('card_id'),
    );
    let position = after;
    for (const row of rows) {
      // the hub sends later events; events that do not fit into the buffer are read again later
      if (row.position > last || response.writableNeedDrain || !isOpen(response)) break;
      position = row.position;
      if (!subscriber.wants(row, metamodel)) continue;
      const frames = eventFrame(row);
      const full =
        row.cost_keys === null ||
        subscriber.seesAllCosts() ||
        roleCards.has(row.card_id) ||
        roleCards.has(row.peer_card_id);
      response.write(full ? frames.full() : frames.cut());
    }
    return rows.length === 0 ? last : position;
  }

  return async (followed, hub) => {
    const { subscriber, response } = followed;
    let position = followed.from;
    while (isOpen(response)) {
      if (!(await drained(response, streamLimits.stallMs))) {
        subscriber.endSlow(position);
        return;
      }
      if (position >= hub.position()) position = await hub.follow(subscriber);
      else position = await withSemaphore(() => sendPage(followed, position, hub.position()));
    }
  };
}
