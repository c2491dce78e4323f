import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Mutant } from './histories/memory.port.ts';
import { allIsWell, Unwell } from './histories/wellness.ts';

// `npm run soak -- --histories 5000 --seed S` lives through more of them
const seed = Math.floor(Math.random() * 2 ** 31);

it(`both sides come to agree whatever happens (seed ${seed})`, async () => {
  await fc.assert(allIsWell(), { seed, numRuns: 300 });
});

it.each<Mutant>(['no base', 'no journal', 'no check'])(
  `an engine with %s is found out (seed ${seed})`,
  async (mutant) => {
    const found = await fc.check(allIsWell(mutant), { seed, numRuns: 500, endOnFailure: true });
    expect(found.errorInstance).toBeInstanceOf(Unwell);
  },
);
