import { describe, expect, test } from 'vitest';
import { usualBounds } from '../../../integrations/itsm/limiter/limiter.state.ts';
import { createLimiter } from '../../../integrations/itsm/limiter/limiter.ts';
import { RateRules } from '../../emulators/servicenow/rate.ts';
import { createVirtualClock } from '../../emulators/virtual-clock.ts';
import { memoryLimiterStore } from '../../support/memory-limiter.ts';

interface Sent {
  at: number;
  passed: boolean;
}

/** Some workers send requests of 50 ms through one limiter until so many have passed. */
async function push(
  wanted: number,
  rules: { headers: boolean; retryAfter: boolean; limit: number },
  during: (done: number, set: (limit: number) => void) => void = () => undefined,
) {
  const clock = createVirtualClock();
  const rate = new RateRules(clock, () => 0);
  rate.rule = { windowMs: 1_000, ...rules };
  const store = memoryLimiterStore();
  const sent: Sent[] = [];
  let left = wanted;
  const start = clock.now();
  const worker = async () => {
    const limiter = createLimiter('one account', { store, clock });
    while (left > 0) {
      left -= 1;
      for (;;) {
        await limiter.turn(600_000);
        const { allowed, headers } = rate.take('estate');
        sent.push({ at: clock.now(), passed: allowed });
        await clock.sleep(50);
        const told = headers['x-ratelimit-limit']
          ? {
              limit: Number(headers['x-ratelimit-limit']),
              remaining: Number(headers['x-ratelimit-remaining']),
              resetAt: Number(headers['x-ratelimit-reset']) * 1000,
            }
          : undefined;
        const more = told ? { told } : {};
        if (allowed) {
          await limiter.learn({ kind: 'passed', ...more });
          break;
        }
        const wait = headers['retry-after'];
        await limiter.learn({
          kind: 'limited',
          ...more,
          ...(wait ? { retryAfterMs: Number(wait) * 1000 } : {}),
        });
      }
      during(wanted - left, (limit) => {
        rate.rule = { ...rate.rule, limit };
      });
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return {
    sent,
    seconds: (clock.now() - start) / 1000,
    refused: sent.filter(({ passed }) => !passed).length,
  };
}

describe.each([
  { headers: true, retryAfter: true },
  { headers: false, retryAfter: true },
  { headers: false, retryAfter: false },
])('with %o', (rules) => {
  test('5,000 requests pass a limit of 40 a second in good time and with few refusals', async () => {
    const { seconds, refused, sent } = await push(5_000, { ...rules, limit: 40 });
    expect(seconds).toBeLessThan(140);
    expect(refused / sent.length).toBeLessThan(0.01);
  });

  test('a limit that is halved in mid-run is followed within seconds', async () => {
    let halvedAt = 0;
    const { sent } = await push(1_500, { ...rules, limit: 40 }, (done, set) => {
      if (done < 800 || halvedAt > 0) return;
      halvedAt = done;
      set(20);
    });
    const last = sent.at(-1)!.at;
    const inLastTen = sent.filter(({ at }) => at > last - 10_000);
    expect(inLastTen.filter(({ passed }) => !passed).length).toBeLessThanOrEqual(3);
    expect(inLastTen.length / 10).toBeGreaterThan(16);
  });
});

describe('a limiter', () => {
  const make = () => {
    const clock = createVirtualClock();
    const store = memoryLimiterStore();
    return {
      clock,
      limiter: createLimiter('a', { store, clock }),
      other: createLimiter('a', { store, clock }),
    };
  };

  test('keeps to a pause that the remote asked any of its users for', async () => {
    const { clock, limiter, other } = make();
    await limiter.learn({ kind: 'limited', retryAfterMs: 30_000 });
    const before = clock.now();
    expect(await other.turn(60_000)).toEqual({ kind: 'go' });
    expect(clock.now() - before).toBeGreaterThanOrEqual(30_000);
    await limiter.learn({ kind: 'limited', retryAfterMs: 900_000 });
    expect(await other.turn(60_000)).toMatchObject({ kind: 'wait_too_long', because: 'limited' });
  });

  test('tries nothing for a while after several outages, and longer each time', async () => {
    const { clock, limiter } = make();
    for (let at = 0; at < usualBounds.outages; at += 1) await limiter.learn({ kind: 'outage' });
    expect(await limiter.turn(1_000)).toMatchObject({ kind: 'wait_too_long', because: 'outage' });
    const first = clock.now();
    expect(await limiter.turn(60_000)).toEqual({ kind: 'go' });
    expect(clock.now() - first).toBe(usualBounds.openMs);
    await limiter.learn({ kind: 'outage' });
    expect(await limiter.turn(usualBounds.openMs)).toMatchObject({ kind: 'wait_too_long' });
    await limiter.turn(usualBounds.openMs * 2);
    await limiter.learn({ kind: 'passed' });
    expect((await limiter.state()).outages).toBe(0);
  });

  test('takes one outage long after the others for the first', async () => {
    const { clock, limiter } = make();
    for (let at = 0; at < usualBounds.outages; at += 1) await limiter.learn({ kind: 'outage' });
    clock.advance(usualBounds.openMs + usualBounds.longestOpenMs + 1_000);
    await limiter.learn({ kind: 'outage' });
    expect(await limiter.turn(1_000)).toEqual({ kind: 'go' });
    expect(await limiter.state()).toMatchObject({ outages: 1, openings: 0 });
  });

  test('asks for smaller pages where the remote is slow, and for bigger ones again after a while', async () => {
    const { limiter } = make();
    for (let at = 0; at < 9; at += 1) await limiter.learn({ kind: 'too_slow' });
    expect(await limiter.pageSize(1_000)).toBe(31);
    expect(await limiter.pageSize(1)).toBe(1);
    for (let at = 0; at < 60; at += 1) await limiter.learn({ kind: 'passed' });
    expect(await limiter.pageSize(1_000)).toBe(1_000);
  });

  test('ends its waiting when it is told to', async () => {
    const { limiter } = make();
    await limiter.learn({ kind: 'limited', retryAfterMs: 30_000 });
    const stop = new AbortController();
    const waiting = limiter.turn(60_000, stop.signal);
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
  });
});
