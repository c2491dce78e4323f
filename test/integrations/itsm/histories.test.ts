import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Mutant } from './histories/memory.port.ts';
import { createMemory } from './histories/memory.ts';
import type { RunStep, Setting, Step } from './histories/steps.ts';
import { allIsWell, liveWell, Unwell } from './histories/wellness.ts';

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

it('a decision restores an archived card beside a card of the same key, which stays under review', async () => {
  const setting: Setting = {
    rules: ['remote_leads', 'remote_leads', 'remote_leads', 'remote_leads'],
    deletion: 'strict',
    tombstones: false,
    looks: false,
    marks: false,
    normalising: false,
    batch: 1,
    quarantine: 0,
  };
  const run: RunStep = { do: 'run', complete: false, between: null, trouble: [] };
  const archiveNewest: Step = { do: 'delete', side: 'local', at: 1 };
  const steps: Step[] = [
    { do: 'create', side: 'remote', twin: false },
    { do: 'create', side: 'local', twin: true },
    archiveNewest,
    run,
    archiveNewest,
    run,
    { do: 'edit', side: 'remote', at: 0, field: 1 },
    run,
    { do: 'restore', at: 0 },
    run,
    { do: 'decide', at: 0, winner: 'remote' },
    run,
  ];
  const landscape = createMemory(setting);
  await liveWell({ setting, steps }, landscape);
  const [first, second, ...others] = await landscape.shown('local');
  expect(others).toEqual([]);
  expect(first!.fields['attributes.key']).toBe(second!.fields['attributes.key']);
  const pairs = await landscape.pairs();
  expect(pairs).toMatchObject([{ cardId: second!.id, state: { kind: 'linked' } }]);
  expect(await landscape.staged(first!.id)).toBe(true);
});
