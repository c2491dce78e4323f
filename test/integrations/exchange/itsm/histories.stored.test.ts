import fc from 'fast-check';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { everyStoredHistoryConverges } from './histories/convergence.stored.ts';
import { prepareInventory } from './histories/stored.ts';

// `npm run soak -- --histories 200 --through postgres --seed S` executes more of them
const seed = Math.floor(Math.random() * 2 ** 31);

const t = closeAfterAll(await createTestServices());
await prepareInventory(await t.ctx());

it(`both sides converge in PostgreSQL and over HTTP as in memory (seed ${seed})`, async () => {
  const all = everyStoredHistoryConverges(t.services, () => t.ctx());
  const found = await fc.check(all, { seed, numRuns: 3, endOnFailure: true });
  expect(found.failed, String(found.errorInstance)).toBe(false);
});
