import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { between, type Random } from '../bench/landscape/random.ts';
import type { ChangeEvent } from '../support/replay.ts';
import type { Send } from './caller.ts';

/** Follows the feed from its beginning to wherever it is stopped. */
export interface Reader<T> {
  seen: T[];
  /** How often it had to begin anew after a lost connection or answer. */
  restarts(): number;
  stop(): Promise<void>;
}

const PAUSE_MS = 100;

/** Reads `/changes` page by page, pages of any size, and goes on with `next` whatever happens to a request. */
export function followChanges(send: Send, random: Random): Reader<ChangeEvent> {
  const seen: ChangeEvent[] = [];
  let stopped = false;
  let lost = 0;
  let after = '0';
  const run = async () => {
    while (!stopped) {
      const answer = await send('GET', `/changes?after=${after}&limit=${between(random, 1, 2_000)}`).catch(
        () => undefined,
      );
      if (answer?.status !== 200) {
        lost += 1;
        await delay(PAUSE_MS);
        continue;
      }
      seen.push(...answer.body.items);
      after = answer.body.next;
      if (!answer.body.has_more) await delay(PAUSE_MS);
    }
  };
  const running = run();
  return {
    seen,
    restarts: () => lost,
    async stop() {
      stopped = true;
      await running;
    },
  };
}

/**
 * Follows the event stream and resumes by `Last-Event-ID` whenever it ends, by itself or because the reader has
 * hung up, which it does now and then.
 */
export function followStream(url: string, token: string, random: Random): Reader<number> {
  const seen: number[] = [];
  let stopped = false;
  let starts = 0;
  let last = '0';
  let request: http.ClientRequest | undefined;

  const take = (block: string) => {
    const found = /^id: (\d+)\nevent: (\S+)/.exec(block);
    if (!found) return;
    last = found[1]!;
    if (!found[2]!.startsWith('stream.')) seen.push(Number(last));
  };
  const once = () =>
    new Promise<void>((resolve) => {
      const headers = { authorization: `Bearer ${token}`, 'last-event-id': last };
      const hangUpAfter = between(random, 1, 400);
      const begun = seen.length;
      request = http.get(`${url}/api/v1/events/stream`, { headers, agent: false }, (answer) => {
        let rest = '';
        answer.setEncoding('utf8').on('data', (text: string) => {
          const blocks = (rest + text).split('\n\n');
          rest = blocks.pop()!;
          for (const block of blocks) take(block);
          if (seen.length - begun > hangUpAfter) request?.destroy();
        });
        answer.once('close', resolve);
        answer.once('error', () => resolve());
      });
      request.once('error', () => resolve());
      request.once('close', () => resolve());
    });
  const run = async () => {
    while (!stopped) {
      starts += 1;
      await once();
      if (!stopped) await delay(PAUSE_MS);
    }
  };
  const running = run();
  return {
    seen,
    restarts: () => starts - 1,
    async stop() {
      stopped = true;
      request?.destroy();
      await running;
    },
  };
}
