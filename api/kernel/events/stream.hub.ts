import type { ServerResponse } from 'node:http';
import type { Caller } from '../../../domain/kernel/context.ts';
import { isHiddenType } from '../../../domain/kernel/events/events.visible.ts';
import { type FeedRow, readFeed } from '../../../domain/kernel/events/feed.read.ts';
import type { Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import type { AppPermission, TokenScope } from '../../../domain/kernel/permissions/permissions.data.ts';
import { inScope, may, OBSERVER } from '../../../domain/kernel/permissions/policy.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import type { Credential } from '../../../domain/kernel/sessions.ts';
import { createSemaphore } from '../../../platform/semaphore.ts';
import { eventFrame } from './stream.frames.ts';
import { streamLimits } from './stream.limits.ts';
import { drained, isOpen } from './stream.write.ts';

/** The events that a client requested. */
export interface StreamFilter {
  /** Event types (`card.created`) or their prefixes (`card`); absent: all. */
  events?: string[];
  /** Card types; absent: all. */
  types?: string[];
}

/** One open stream. */
export interface Subscriber {
  userId: string;
  hasPermission(permission: AppPermission): boolean;
  /** Whether the scopes of a job (null: unlimited) are within the scopes of the stream's token. */
  coversScopes(scopes: TokenScope[] | null): boolean;
  seesAllCosts(): boolean;
  /** Whether a role on a card shows its costs. */
  seesCostsByRole(): boolean;
  /** Whether the event is visible to the user and requested. */
  wants(row: FeedRow, metamodel: Metamodel): boolean;
  /** Whether events of this type were requested. */
  asksFor(eventType: string): boolean;
  /** @returns false if the client is too slow: nothing further may be sent to it for now. */
  send(frame: Buffer): boolean;
  /** Sends a frame that is not stored, unless the client is too slow. */
  sendTransient(frame: Buffer): void;
  /**
   * Authenticates the token again; ends the stream if it is no longer valid.
   * @returns the versions of all topics, or undefined if the stream was ended.
   */
  refresh(): Promise<ReadonlyMap<string, number> | undefined>;
  end(): void;
  /** Ends the stream with a last frame that names the position to resume from. */
  endSlow(position: number): void;
}

const isWithin = (scopes: TokenScope[] | null, bounds: ReadonlySet<TokenScope>): boolean =>
  scopes?.every((scope) => bounds.has(scope)) ?? false;

/** The client sends its id as `Last-Event-ID` when it reconnects. */
const lastFrame = (position: number): string =>
  `id: ${position}\nevent: stream.end\ndata: ${JSON.stringify({ position: String(position), reason: 'slow' })}\n\n`;

export function createSubscriber(
  services: Services,
  response: ServerResponse,
  credential: Credential,
  first: Caller,
  filter: StreamFilter,
): Subscriber {
  let caller = first;
  const asksFor = (eventType: string) =>
    !filter.events || filter.events.some((kind) => eventType === kind || eventType.startsWith(`${kind}.`));
  const end = () => {
    clearTimeout(expiry || undefined);
    if (!isOpen(response)) return;
    response.end();
    // a client that does not read would keep the connection open
    const timer = setTimeout(() => response.destroy(), streamLimits.endMs);
    response.on('close', () => clearTimeout(timer));
  };
  const userId = first.userId!;
  const ends = first.tokenExpiresAt?.getTime();
  const expiry = ends && setTimeout(end, Math.min(ends - Date.now(), 2 ** 31 - 1));
  response.on('close', () => clearTimeout(expiry || undefined));

  return {
    userId,
    hasPermission: (permission) => may(caller, permission),
    coversScopes: (scopes) => caller.scopes === undefined || isWithin(scopes, caller.scopes),
    seesAllCosts: () => may(caller, 'costs.view'),
    seesCostsByRole: () => inScope(caller, 'costs.view'),
    asksFor,
    wants(row, metamodel) {
      if (!asksFor(row.event_type)) return false;
      if (row.scope === 'user') return row.recipient_id === userId && inScope(caller, 'account');
      if (row.scope !== 'inventory' || !may(caller, 'inventory.view')) return false;
      if (row.relation_id !== null && !may(caller, 'relations.view')) return false;
      if (isHiddenType(caller, row.event_type)) return false;
      const types = [row.card_type, row.peer_card_type].filter((type) => type !== null);
      if (types.some((type) => metamodel.cardTypes.get(type)?.is_hidden)) return false;
      return !filter.types || types.some((type) => filter.types!.includes(type));
    },
    send(frame) {
      if (!isOpen(response)) return false;
      response.write(frame);
      return response.writableLength < streamLimits.unsentBytes;
    },
    sendTransient(frame) {
      if (isOpen(response) && response.writableLength < streamLimits.unsentBytes) response.write(frame);
    },
    async refresh() {
      const { caller: now, topics } = await services.sessions.read(credential);
      if (!now) {
        end();
        return undefined;
      }
      caller = now;
      return topics;
    },
    end,
    endSlow(position) {
      if (!isOpen(response)) return;
      response.write(lastFrame(position));
      end();
    },
  };
}

const HEARTBEAT_MS = 15_000;
const HEARTBEAT = Buffer.from(': heartbeat\n\n');
const POLL_MS = 2_000;
/** Events per batch: small enough that a client that is not slow has read one batch before the next is fetched. */
const BATCH = 100;

/** Events that change access rights: the streams of the users concerned are authenticated hasNews first. */
const accessEvents =
  /^(auth\.(logout|password_changed|impersonation_stopped|two_factor_(enabled|disabled|reset)|recovery_codes_made)|(user|role|api_token)\.(updated|deleted|archived|restored|erased))$/;

/** Reads the change feed once for all streams of the process. */
export interface StreamHub {
  /** The position up to which all followed streams have been served. */
  position(): number;
  /** Delivers all events up to the newest one. */
  advance(): Promise<void>;
  /**
   * Sends the subscriber every event after `position()`.
   * @returns when the client is too slow, the position up to which it was served.
   */
  follow(subscriber: Subscriber): Promise<number>;
  leave(subscriber: Subscriber): void;
  close(): void;
}

/** @param start the position from which the first subscriber is served. */
export function createStreamHub(services: Services, start: number): StreamHub {
  /** Subscribers that are served live, each with the callback for a client that is too slow. */
  const subscribers = new Map<Subscriber, (position: number) => void>();
  let position = start;
  let running: Promise<void> | undefined;
  let hasNews = false;
  let closed = false;

  const deliver = async (rows: FeedRow[]) => {
    const { topics } = await services.sessions.read(null);
    const metamodel = await services.metamodels.at(topics.get('metamodel') ?? 0, services.db);
    const holders = await stakeholdersOf(services, rows, [...subscribers.keys()]);
    for (const row of rows) {
      if (accessEvents.test(row.event_type)) await refreshAffected(row);
      const frames = eventFrame(row);
      for (const [subscriber, lag] of subscribers) {
        if (!subscriber.wants(row, metamodel)) continue;
        if (subscriber.send(seesCosts(subscriber, row, holders) ? frames.full() : frames.cut())) continue;
        subscribers.delete(subscriber);
        lag(row.position);
      }
      position = row.position;
    }
  };

  const refreshAffected = async (row: FeedRow) => {
    const [what] = row.event_type.split('.');
    const userId =
      what === 'role' ? undefined : what === 'user' ? row.data.id : (row.data.user_id ?? row.user_id);
    await Promise.all(
      [...subscribers.keys()]
        .filter((subscriber) => userId === undefined || subscriber.userId === userId)
        .map((subscriber) => subscriber.refresh()),
    );
  };

  const drain = async () => {
    do {
      hasNews = false;
      for (;;) {
        if (closed) return;
        const rows = await readFeed(services.db, position, BATCH);
        if (subscribers.size === 0 && rows.length > 0) position = rows.at(-1)!.position;
        else if (rows.length > 0) await deliver(rows);
        if (rows.length < BATCH) break;
      }
    } while (hasNews);
  };

  const advance = () => {
    hasNews = true;
    running ??= drain().finally(() => {
      running = undefined;
    });
    return running;
  };
  const wake = () => {
    if (!closed)
      advance().catch((error: unknown) =>
        services.log.warn({ err: error }, 'reading the change feed failed; retrying'),
      );
  };
  const off = services.signals.on('estate_feed', wake);
  const poll = setInterval(wake, POLL_MS);
  const heartbeat = setInterval(() => {
    for (const subscriber of subscribers.keys()) subscriber.sendTransient(HEARTBEAT);
  }, HEARTBEAT_MS);

  return {
    position: () => position,
    advance,
    follow: (subscriber) => new Promise((resolve) => subscribers.set(subscriber, resolve)),
    leave: (subscriber) => void subscribers.delete(subscriber),
    close() {
      closed = true;
      off();
      clearInterval(poll);
      clearInterval(heartbeat);
      for (const subscriber of subscribers.keys()) subscriber.end();
    },
  };
}

/** `<user>/<position>` for the users who see the costs of an event because of a role on one of its cards. */
async function stakeholdersOf(
  services: Services,
  rows: FeedRow[],
  subscribers: readonly Subscriber[],
): Promise<Set<string>> {
  const costly = rows.filter((row) => row.cost_keys !== null);
  const users = subscribers
    .filter((subscriber) => !subscriber.seesAllCosts() && subscriber.seesCostsByRole())
    .map(({ userId }) => userId);
  if (costly.length === 0 || users.length === 0) return new Set();
  const roles = await services
    .db('stakeholders')
    .whereIn('user_id', users)
    .whereNot({ role: OBSERVER })
    .whereIn(
      'card_id',
      costly.flatMap((row) => [row.card_id, row.peer_card_id]).filter((id) => id !== null),
    )
    .select('user_id', 'card_id');
  const pairs = new Set(
    roles.map((row: { user_id: string; card_id: string }) => `${row.user_id}/${row.card_id}`),
  );
  const visible = new Set<string>();
  for (const row of costly) {
    for (const user of users) {
      if (pairs.has(`${user}/${row.card_id}`) || pairs.has(`${user}/${row.peer_card_id}`)) {
        visible.add(`${user}/${row.position}`);
      }
    }
  }
  return visible;
}

/** Whether an event is shown with its costs, given the result of `stakeholdersOf`. */
const seesCosts = (subscriber: Subscriber, row: FeedRow, holders: ReadonlySet<string>): boolean =>
  row.cost_keys === null ||
  subscriber.seesAllCosts() ||
  (subscriber.seesCostsByRole() && holders.has(`${subscriber.userId}/${row.position}`));

/** Stored events per page: about what the socket's send buffer takes. */
const PAGE = 50;

/** One stream and its position in the feed. */
interface FollowedStream {
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
    const holders = await stakeholdersOf(services, rows, [subscriber]);
    let position = after;
    for (const row of rows) {
      // the hub sends later events; events that do not fit into the buffer are read again later
      if (row.position > last || response.writableNeedDrain || !isOpen(response)) break;
      position = row.position;
      if (!subscriber.wants(row, metamodel)) continue;
      const frames = eventFrame(row);
      response.write(seesCosts(subscriber, row, holders) ? frames.full() : frames.cut());
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
