import http from 'node:http';
import { percentile } from './stats.ts';

/** What the parent sends: first where to subscribe, at the end when the event of each position was asked for. */
export type SseOrder =
  | { subscribe: { url: string; tokens: string[]; subscribers: number } }
  | { sentAt: [position: number, ms: number][] };

export interface SseResult {
  /** Frames that a subscriber should have got and did not, or got more than once. */
  missing: number;
  repeated: number;
  outOfOrder: number;
  p50Ms: number;
  p99Ms: number;
}

/** Milliseconds since 1970, finer than Date.now(). */
const now = () => performance.timeOrigin + performance.now();

interface Received {
  position: number;
  at: number;
}

const QUIET_MS = 1_000;
const LIMIT_MS = 30_000;
const received: Received[][] = [];
let lastFrame = 0;

/** Opens one stream; resolves when the service has said that it is ready. */
function subscribe(url: string, headers: Record<string, string>, frames: Received[]): Promise<void> {
  return new Promise((resolve, reject) => {
    http
      .get(url, { headers, agent: false }, (answer) => {
        if (answer.statusCode !== 200) {
          reject(new Error(`the stream answered ${answer.statusCode}`));
          return;
        }
        let rest = '';
        answer.setEncoding('utf8').on('data', (text: string) => {
          const at = now();
          const blocks = (rest + text).split('\n\n');
          rest = blocks.pop()!;
          for (const block of blocks) {
            const found = /^id: (\d+)\nevent: (\S+)/.exec(block);
            if (!found) continue;
            if (found[2] === 'stream.ready') {
              resolve();
              continue;
            }
            frames.push({ position: Number(found[1]), at });
            lastFrame = at;
          }
        });
      })
      .on('error', reject);
  });
}

/** Judges every stream against what was sent. */
function judge(sentAt: [position: number, ms: number][]): SseResult {
  const sent = new Map(sentAt);
  const result = { missing: 0, repeated: 0, outOfOrder: 0 };
  const latencies: number[] = [];
  for (const frames of received) {
    const seen = new Set<number>();
    let last = 0;
    for (const { position, at } of frames) {
      const asked = sent.get(position);
      if (asked === undefined) continue;
      if (seen.has(position)) result.repeated += 1;
      if (position < last) result.outOfOrder += 1;
      seen.add(position);
      last = position;
      latencies.push(at - asked);
    }
    result.missing += sent.size - seen.size;
  }
  return { ...result, p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) };
}

async function untilQuiet(expected: number): Promise<void> {
  const deadline = now() + LIMIT_MS;
  while (now() < deadline) {
    const complete = received.every((frames) => frames.length >= expected);
    if (complete || now() - lastFrame > QUIET_MS) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

process.on('message', async (order: SseOrder) => {
  if ('subscribe' in order) {
    const { url, tokens, subscribers } = order.subscribe;
    for (let n = 0; n < subscribers; n += 1) {
      const frames: Received[] = [];
      received.push(frames);
      await subscribe(url, { authorization: `Bearer ${tokens[n % tokens.length]}` }, frames);
    }
    process.send!({ ready: true });
  } else {
    await untilQuiet(order.sentAt.length);
    process.send!({ result: judge(order.sentAt) });
    process.disconnect();
    process.exit(0);
  }
});
