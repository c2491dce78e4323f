import { createLimiter, limiterBounds } from '../../../../integrations/exchange/itsm/limiter/limiter.ts';
import { RateRules } from '../../../emulators/servicenow/rate.ts';
import { createVirtualClock } from '../../../emulators/virtual-clock.ts';
import { memoryLimiterStore } from '../../../support/memory-limiter.ts';

type Sent = { at: number; passed: boolean };

/** A process whose event loop is blocked periodically, so that timers fire late. */
const STALL = { everyMs: 2_700, fromMs: 1_900, ms: 250 };

/**
 * Some workers send requests of 50 ms through one limiter until a number of them has passed.
 * @param stalls whether the event loop of their process is blocked periodically.
 */
async function push(
  wanted: number,
  rules: { headers: boolean; retryAfter: boolean; limit: number },
  during: (done: number, set: (limit: number) => void) => void = () => undefined,
  stalls = false,
) {
  const virtual = createVirtualClock();
  const begin = virtual.now();
  const clock = {
    ...virtual,
    now: () => virtual.now(),
    async sleep(ms: number) {
      await virtual.sleep(ms);
      const into = (virtual.now() - begin) % STALL.everyMs;
      const left = STALL.fromMs + STALL.ms - into;
      if (stalls && into >= STALL.fromMs && left > 0) await virtual.sleep(left);
    },
  };
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
        await limiter.acquire(600_000);
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
        const more = told ? { rate: told } : {};
        if (allowed) {
          await limiter.recordOutcome({ kind: 'passed', ...more });
          break;
        }
        const wait = headers['retry-after'];
        await limiter.recordOutcome({
          kind: 'rate_limited',
          ...more,
          ...(wait ? { retryAfterMs: Number(wait) * 1000 } : {}),
        });
      }
      during(wanted - left, (limit) => {
        rate.rule = { ...rate.rule, limit };
      });
    }
  };
  await Promise.all(Array.from({ length: stalls ? 16 : 8 }, worker));
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
  test('5,000 requests with a limit of 40 per second are fast and rarely rejected', async () => {
    const { seconds, refused, sent } = await push(5_000, { ...rules, limit: 40 });
    expect(seconds).toBeLessThan(140);
    expect(refused / sent.length).toBeLessThan(0.01);
  });

  test('a limit that is halved during a run is followed within seconds', async () => {
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

test('a busy process is as fast if the rule is configured', async () => {
  const rules = { headers: true, retryAfter: true, limit: 40 };
  const { seconds, refused } = await push(5_000, rules, undefined, true);
  expect(seconds).toBeLessThan(135);
  expect(refused).toBeLessThanOrEqual(5);
});

describe('a limiter', () => {
  const make = () => {
    const clock = createVirtualClock();
    const store = memoryLimiterStore();
    return {
      clock,
      store,
      limiter: createLimiter('a', { store, clock }),
      other: createLimiter('a', { store, clock }),
    };
  };

  test('respects the Retry-After of any user of the account', async () => {
    const { clock, limiter, other } = make();
    await limiter.recordOutcome({ kind: 'rate_limited', retryAfterMs: 30_000 });
    const before = clock.now();
    expect(await other.acquire(60_000)).toEqual({ kind: 'acquired' });
    expect(clock.now() - before).toBeGreaterThanOrEqual(30_000);
    await limiter.recordOutcome({ kind: 'rate_limited', retryAfterMs: 900_000 });
    expect(await other.acquire(60_000)).toMatchObject({ kind: 'wait_too_long', reason: 'rate_limited' });
  });

  test('pauses after several outages, and longer each time', async () => {
    const { clock, limiter } = make();
    for (let at = 0; at < limiterBounds.outages; at += 1)
      await limiter.recordOutcome({ kind: 'unavailable' });
    expect(await limiter.acquire(1_000)).toMatchObject({ kind: 'wait_too_long', reason: 'unavailable' });
    const first = clock.now();
    expect(await limiter.acquire(60_000)).toEqual({ kind: 'acquired' });
    expect(clock.now() - first).toBe(limiterBounds.openMs);
    await limiter.recordOutcome({ kind: 'unavailable' });
    expect(await limiter.acquire(limiterBounds.openMs)).toMatchObject({ kind: 'wait_too_long' });
    await limiter.acquire(limiterBounds.openMs * 2);
    await limiter.recordOutcome({ kind: 'passed' });
    expect((await limiter.state()).outages).toBe(0);
  });

  test('counts an outage long after the others as the first', async () => {
    const { clock, limiter } = make();
    for (let at = 0; at < limiterBounds.outages; at += 1)
      await limiter.recordOutcome({ kind: 'unavailable' });
    clock.advance(limiterBounds.openMs + limiterBounds.maxOpenMs + 1_000);
    await limiter.recordOutcome({ kind: 'unavailable' });
    expect(await limiter.acquire(1_000)).toEqual({ kind: 'acquired' });
    expect(await limiter.state()).toMatchObject({ outages: 1, openings: 0 });
  });

  test('reduces the page size if the remote is slow, and increases it again later', async () => {
    const { limiter } = make();
    for (let at = 0; at < 9; at += 1) await limiter.recordOutcome({ kind: 'too_slow' });
    expect(await limiter.pageSize(1_000)).toBe(31);
    expect(await limiter.pageSize(1)).toBe(1);
    for (let at = 0; at < 60; at += 1) await limiter.recordOutcome({ kind: 'passed' });
    expect(await limiter.pageSize(1_000)).toBe(1_000);
  });

  describe('with a configured rule', () => {
    const told = (clock: { now(): number }, limit = 40) => ({
      limit,
      remaining: limit - 1,
      resetAt: Math.floor(clock.now() / 1_000 + 1) * 1_000,
    });
    const learnt = async () => {
      const { clock, store, limiter } = make();
      for (let at = 0; at < 2; at += 1) {
        await limiter.recordOutcome({ kind: 'passed', rate: told(clock) });
        clock.advance(1_000);
      }
      expect((await limiter.state()).rule).toMatchObject({ limit: 40, windowMs: 1_000 });
      return { clock, store, limiter };
    };

    test('reserves again, once, after sleeping into the next window', async () => {
      const { clock, store } = await learnt();
      let late = 0;
      const sleeper = { ...clock, now: () => clock.now(), sleep: (ms: number) => clock.sleep(ms + late) };
      const limiter = createLimiter('a', { store, clock: sleeper });
      for (const [lateness, turns] of [
        [10, 1],
        [1_010, 2],
      ] as const) {
        late = lateness;
        const { nextAt, rate } = await limiter.state();
        const from = Math.max(nextAt, clock.now());
        await limiter.acquire(60_000);
        const taken = ((await limiter.state()).nextAt - from) / (1_000 / rate);
        // the second is reserved in the next window
        expect(taken > 1.5).toBe(turns > 1);
      }
    });

    test('ignores one rejection, and assumes a lower limit after several', async () => {
      const { clock, limiter } = await learnt();
      const { rate } = await limiter.state();
      const refuse = async () => {
        await limiter.recordOutcome({ kind: 'rate_limited', retryAfterMs: 500, rate: told(clock) });
        return (await limiter.state()).rate;
      };
      clock.advance(60_000);
      expect(await refuse()).toBe(rate);
      clock.advance(2_000);
      expect(await refuse()).toBeLessThan(rate);
      // and a new rule applies immediately
      await limiter.recordOutcome({ kind: 'passed', rate: told(clock, 20) });
      expect((await limiter.state()).rate).toBeCloseTo(20 * 0.97);
    });
  });

  test('stops waiting when it is aborted', async () => {
    const { limiter } = make();
    await limiter.recordOutcome({ kind: 'rate_limited', retryAfterMs: 30_000 });
    const stop = new AbortController();
    const waiting = limiter.acquire(60_000, stop.signal);
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
  });
});
