import { type FeedRow, readFeed } from '../../../domain/kernel/events/feed.read.ts';
import { OBSERVER } from '../../../domain/kernel/permissions/policy.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { eventFrame } from './stream.frames.ts';
import type { Subscriber } from './stream.subscriber.ts';

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
        const full =
          row.cost_keys === null ||
          subscriber.seesAllCosts() ||
          (subscriber.seesCostsByRole() && holders.has(`${subscriber.userId}/${row.position}`));
        if (subscriber.send(full ? frames.full() : frames.cut())) continue;
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
  const users = subscribers.filter((subscriber) => !subscriber.seesAllCosts()).map(({ userId }) => userId);
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
