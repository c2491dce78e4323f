import { type FeedRow, readFeed } from '../../domain/events/feed.read.ts';
import type { Services } from '../../domain/services.ts';
import { eventFrame } from './stream.frames.ts';
import type { Subscriber } from './stream.subscriber.ts';

const HEARTBEAT_MS = 15_000;
const POLL_MS = 2_000;
const BATCH = 500;

/** Events that change who may see what: streams of those concerned are looked at again before going on. */
const accessEvents =
  /^(auth\.(logout|password_changed|impersonation_stopped|two_factor_reset)|(user|role|api_token)\.(updated|deleted|archived|restored|erased))$/;

/** One reader of the change feed for all streams of the process. */
export interface StreamHub {
  /** The position up to which all joined streams have been served. */
  position(): number;
  /** Brings the hub up to the newest event; resolves when that is done. */
  advance(): Promise<void>;
  /** From now on the subscriber gets every event after `position()`. */
  join(subscriber: Subscriber): void;
  leave(subscriber: Subscriber): void;
  close(): void;
}

/** @param start the position from which the first subscriber is served. */
export function createStreamHub(services: Services, start: number): StreamHub {
  const subscribers = new Set<Subscriber>();
  let position = start;
  let running: Promise<void> | undefined;
  let again = false;
  let closed = false;

  const deliver = async (rows: FeedRow[]) => {
    const { topics } = await services.sessions.read(null);
    const metamodel = await services.metamodels.at(topics.get('metamodel') ?? 0, services.db);
    const holders = await stakeholdersOf(services, rows, subscribers);
    for (const row of rows) {
      if (accessEvents.test(row.event_type)) await recheck(row);
      const frames = eventFrame(row);
      for (const subscriber of subscribers) {
        if (!subscriber.wants(row, metamodel)) continue;
        const full =
          row.cost_keys === null ||
          subscriber.seesAllCosts() ||
          (subscriber.seesCostsByRole() && holders.has(`${subscriber.userId}/${row.position}`));
        subscriber.send(full ? frames.full() : frames.cut());
      }
      position = row.position;
    }
  };

  const recheck = async (row: FeedRow) => {
    const [what] = row.event_type.split('.');
    const userId =
      what === 'role' ? undefined : what === 'user' ? row.data.id : (row.data.user_id ?? row.user_id);
    await Promise.all(
      [...subscribers]
        .filter((subscriber) => userId === undefined || subscriber.userId === userId)
        .map((subscriber) => subscriber.refresh()),
    );
  };

  const drain = async () => {
    do {
      again = false;
      for (;;) {
        if (closed) return;
        const rows = await readFeed(services.db, position, BATCH);
        if (subscribers.size === 0 && rows.length > 0) position = rows.at(-1)!.position;
        else if (rows.length > 0) await deliver(rows);
        if (rows.length < BATCH) break;
      }
    } while (again);
  };

  const advance = () => {
    again = true;
    running ??= drain().finally(() => {
      running = undefined;
    });
    return running;
  };
  const wake = () => {
    if (!closed)
      advance().catch((error: unknown) =>
        services.log.warn({ err: error }, 'reading the feed failed; trying again'),
      );
  };
  const off = services.signals.on('estate_feed', wake);
  const poll = setInterval(wake, POLL_MS);
  const heartbeat = setInterval(() => {
    for (const subscriber of subscribers) subscriber.beat();
  }, HEARTBEAT_MS);

  return {
    position: () => position,
    advance,
    join: (subscriber) => void subscribers.add(subscriber),
    leave: (subscriber) => void subscribers.delete(subscriber),
    close() {
      closed = true;
      off();
      clearInterval(poll);
      clearInterval(heartbeat);
      for (const subscriber of subscribers) subscriber.end();
    },
  };
}

/** `<user>/<position>` of those who see the costs of an event since they hold a role on one of its cards. */
async function stakeholdersOf(
  services: Services,
  rows: FeedRow[],
  subscribers: ReadonlySet<Subscriber>,
): Promise<Set<string>> {
  const costly = rows.filter((row) => row.cost_keys !== null);
  const users = [...subscribers]
    .filter((subscriber) => !subscriber.seesAllCosts())
    .map(({ userId }) => userId);
  if (costly.length === 0 || users.length === 0) return new Set();
  const held = await services
    .db('stakeholders')
    .whereIn('user_id', users)
    .whereIn(
      'card_id',
      costly.flatMap((row) => [row.card_id, row.peer_card_id]).filter((id) => id !== null),
    )
    .select('user_id', 'card_id');
  const pairs = new Set(
    held.map((row: { user_id: string; card_id: string }) => `${row.user_id}/${row.card_id}`),
  );
  const answer = new Set<string>();
  for (const row of costly) {
    for (const user of users) {
      if (pairs.has(`${user}/${row.card_id}`) || pairs.has(`${user}/${row.peer_card_id}`)) {
        answer.add(`${user}/${row.position}`);
      }
    }
  }
  return answer;
}
