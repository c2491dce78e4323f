import { afterAll, beforeAll, expect, it } from 'vitest';
import { faults } from '../../emulators/servicenow/faults.ts';
import { endure } from '../../soak/itsm/endure.ts';
import { createTestServices, type TestServices } from '../../support/harness.ts';

// `npm run soak -- --itsm --seed S` goes through many more of them, with more at stake and seeds at random
const seed = 2_085_466_531;

let t: TestServices;
beforeAll(async () => {
  t = await createTestServices({ OUTBOUND_ALLOW: '127.0.0.1' });
});
afterAll(() => t.close());

it(`both sides agree after every fault of the remote, and some two at once (seed ${seed})`, async () => {
  const size = { applications: 30, components: 20, relations: 30 };
  const { fired } = await endure(
    { services: t.services, ctx: await t.ctx() },
    { seed, ordeals: 30, size, page: 10, reach: 10, lifetime: 30, stretch: 5 },
  );
  expect([...fired.keys()].sort()).toEqual([...faults].sort());
}, 240_000);
