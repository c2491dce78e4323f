import { setTimeout as delay } from 'node:timers/promises';
import { between, type Random } from '../bench/landscape/random.ts';
import { openEventStream } from '../support/event-stream.ts';
import type { Send } from '../support/processes.ts';
import type { ChangeEvent } from '../support/replay.ts';

/** Follows the feed from its beginning to wherever it is stopped. */
export interface Reader<T> {
  seen: T[];
  /** How often it had to begin anew after a lost connection or response. */
  restarts: number;
  stop(): Promise<void>;
}

const PAUSE_MS = 100;

/** Repeats a step, which continues behind what was seen, until it is stopped. */
function follow<T>(step: (reader: Reader<T>) => Promise<void>, interrupt = () => {}): Reader<T> {
  let isStopped = false;
  const reader: Reader<T> = {
    seen: [],
    restarts: 0,
    async stop() {
      isStopped = true;
      interrupt();
      await running;
    },
  };
  const run = async () => {
    while (!isStopped) await step(reader);
  };
  const running = run();
  return reader;
}

/** Reads `/changes` page by page, pages of any size, and continues with `next` whatever happens to a request. */
export function followChanges(send: Send, random: Random): Reader<ChangeEvent> {
  let after = '0';
  return follow<ChangeEvent>(async (reader) => {
    const path = `/changes?after=${after}&limit=${between(random, 1, 2_000)}`;
    const response = await send('GET', path).catch(() => undefined);
    if (response?.status === 200) {
      reader.seen.push(...response.body.items);
      after = response.body.next;
    } else reader.restarts += 1;
    if (!response?.body?.has_more) await delay(PAUSE_MS);
  });
}

/**
 * Follows the event stream and resumes by `Last-Event-ID` whenever it ends, by itself or because the reader
 * disconnects, which it does now and then.
 */
export function followStream(url: string, headers: Record<string, string>, random: Random): Reader<number> {
  let last = '0';
  let interrupt = () => {};
  return follow<number>(
    async (reader) => {
      const most = reader.seen.length + between(random, 1, 400);
      const resuming = { ...headers, 'last-event-id': last };
      const request = openEventStream(`${url}/api/v1/events/stream`, resuming, (id, type) => {
        last = id;
        if (!type.startsWith('stream.')) reader.seen.push(Number(id));
        if (reader.seen.length > most) request.destroy();
      });
      interrupt = () => void request.destroy();
      request.on('error', () => undefined);
      await new Promise((resolve) => request.once('close', resolve));
      reader.restarts += 1;
      await delay(PAUSE_MS);
    },
    () => interrupt(),
  );
}
