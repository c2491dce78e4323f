// @redis
import { createMemoryCache } from '../../../platform/cache.ts';
import { ReportRunner } from '../../../reports/kernel/report.runner.ts';
import type { Report } from '../../../reports/kernel/report.ts';
import { closeAfterAll, createTestApp } from '../../support/harness.ts';

const MIB = 1024 * 1024;

const t = closeAfterAll(await createTestApp());
const cache = t.services.config.redisUrl ? t.services.cache : createMemoryCache(1024 * MIB);

const all = { sql: 'true', bindings: [] };

it('an answer too large to be kept is computed once for all processes that ask for it at once', async () => {
  let computed = 0;
  const report = {
    name: 'large',
    topics: () => [],
    compute: async () => {
      computed += 1;
      return JSON.stringify({ text: 'x'.repeat(33 * MIB) });
    },
  } as unknown as Report;
  const question = { report, params: {}, said: {}, cards: all, visible: all, filtered: false };
  const ctx = await t.ctx();
  const processes = [1, 2, 3].map(() => new ReportRunner(cache, true));
  const answers = await Promise.all(
    processes.map((runner) => runner.run(ctx, runner.keyFor(ctx, new Map(), question), question)),
  );
  expect(computed).toBe(1);
  expect(new Set(answers.map(({ body }) => body.toString('latin1', 33 * MIB))).size).toBe(1);
  expect(answers.every(({ body }) => body.length > 33 * MIB)).toBe(true);
});

it('more questions at once than there are connections are all answered', async () => {
  const report = {
    name: 'many',
    topics: () => [],
    compute: async () => '{"some":"thing"}',
  } as unknown as Report;
  const ctx = await t.ctx();
  const runner = new ReportRunner(cache, true);
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) => {
      const question = { report, params: { n }, said: {}, cards: all, visible: all, filtered: false };
      return runner.run(ctx, runner.keyFor(ctx, new Map(), question), question);
    }),
  );
  expect(answers).toHaveLength(60);
});
