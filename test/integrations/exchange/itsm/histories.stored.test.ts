import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import { createTestServices, type TestServices } from '../../../support/harness.ts';
import { everyStoredHistoryConverges } from './histories/convergence.stored.ts';
import { prepareInventory } from './histories/stored.ts';

// `npm run soak -- --histories 200 --through postgres --seed S` executes more of them
const seed = Math.floor(Math.random() * 2 ** 31);

let t: TestServices;
let ctx: Ctx;
beforeAll(async () => {
  t = await createTestServices();
  ctx = await t.ctx();
  await prepareInventory(ctx);
});
afterAll(() => t.close());

it(`both sides converge in PostgreSQL and over HTTP as in memory (seed ${seed})`, async () => {
  const all = everyStoredHistoryConverges(t.services, () => t.ctx());
  const found = await fc.check(all, { seed, numRuns: 3, endOnFailure: true });
  expect(found.failed, String(found.errorInstance)).toBe(false);
});
