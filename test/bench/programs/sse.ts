import { openEventStream } from '../../support/event-stream.ts';
import { percentile } from '../harness/measure.ts';
import { answerMessages } from '../harness/programs.ts';

/** First where to subscribe, at the end when the event of each position was asked for. */
export type SseOrder =
  | { subscribe: { url: string; tokens: string[]; subscribers: number } }
  | { sentAt: [position: number, ms: number][] };

export interface SseResult {
  /** Frames that a subscriber should have got and did not, or got more than once. */
  missing: number;
  repeated: number;
  outOfOrder: number;
  p99Ms: number;
}

/** Milliseconds since 1970, finer than Date.now(). */
const now = () => performance.timeOrigin + performance.now();

type Received = { position: number; at: number };

const QUIET_MS = 1_000;
const LIMIT_MS = 30_000;
const received: Received[][] = [];
let lastFrame = 0;

/** Opens one stream; resolves when the service has reported that it is ready. */
function subscribe(url: string, headers: Record<string, string>, frames: Received[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = openEventStream(url, headers, (id, type) => {
      if (type === 'stream.ready') return resolve();
      lastFrame = now();
      frames.push({ position: Number(id), at: lastFrame });
    });
    request.on('error', reject).on('close', () => reject(new Error('a stream has ended')));
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
  return { ...result, p99Ms: percentile(latencies, 0.99) };
}

async function untilQuiet(expected: number): Promise<void> {
  const deadline = now() + LIMIT_MS;
  while (now() < deadline) {
    if (received.every((frames) => frames.length >= expected) || now() - lastFrame > QUIET_MS) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

answerMessages(async (order: SseOrder): Promise<SseResult | object> => {
  if ('sentAt' in order) {
    await untilQuiet(order.sentAt.length);
    return judge(order.sentAt);
  }
  const { url, tokens, subscribers } = order.subscribe;
  for (let n = 0; n < subscribers; n += 1) {
    const frames: Received[] = [];
    received.push(frames);
    await subscribe(url, { authorization: `Bearer ${tokens[n % tokens.length]}` }, frames);
  }
  return {};
});
