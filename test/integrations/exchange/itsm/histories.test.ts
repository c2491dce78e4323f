import fc from 'fast-check';
import { Divergence, everyHistoryConverges, expectConvergence } from './histories/convergence.ts';
import type { Mutant } from './histories/memory.port.ts';
import { createMemory } from './histories/memory.ts';
import { type RunStep, type Setting, type Step, usualSetting } from './histories/steps.ts';

// `npm run soak -- --histories 5000 --seed S` executes more of them
const seed = Math.floor(Math.random() * 2 ** 31);

it(`both sides converge after any history (seed ${seed})`, () =>
  fc.assert(everyHistoryConverges(), { seed, numRuns: 300 }));

it.each<Mutant>(['no base', 'no journal', 'no check'])(
  `the checks detect an engine with %s (seed ${seed})`,
  async (mutant) => {
    const found = await fc.check(everyHistoryConverges(mutant), { seed, numRuns: 500, endOnFailure: true });
    expect(found.errorInstance).toBeInstanceOf(Divergence);
  },
);

it('a decision restores an archived card beside a card of the same key, which stays under review', async () => {
  const setting: Setting = {
    ...usualSetting,
    rules: ['remote_leads', 'remote_leads', 'remote_leads', 'remote_leads'],
    hasTombstones: false,
    hasLookups: false,
    hasCorrelationIds: false,
    batch: 1,
  };
  const run: RunStep = { do: 'run', complete: false, between: null, disruptions: [] };
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
  await expectConvergence({ setting, steps }, landscape);
  const [first, second, ...others] = await landscape.objects('local');
  expect(others).toEqual([]);
  expect(first!.fields['attributes.key']).toBe(second!.fields['attributes.key']);
  expect(await landscape.pairs()).toMatchObject([{ cardId: second!.id, state: { kind: 'linked' } }]);
  expect(await landscape.isStaged(first!.id)).toBe(true);
});

it('the undo of an undone creation does not restore a card whose record is gone', async () => {
  const run: RunStep = { do: 'run', complete: true, between: null, disruptions: [] };
  const undo: Step = { do: 'undo', at: 0, disruptions: [] };
  const create: Step = { do: 'create', side: 'remote', twin: false };
  const setting: Setting = { ...usualSetting, hasLookups: true };
  const cardsAfter = async (...steps: Step[]) => {
    const landscape = createMemory(setting);
    await expectConvergence({ setting, steps: [create, run, undo, ...steps, undo] }, landscape);
    return (await landscape.objects('local')).length;
  };
  expect(await cardsAfter()).toBe(1);
  expect(await cardsAfter({ do: 'delete', side: 'remote', at: 0 })).toBe(0);
});

it('a record that an undo creates again keeps the difference of a field that it had no value of', async () => {
  const setting: Setting = {
    ...usualSetting,
    rules: ['remote_leads', 'remote_leads', 'remote_leads', 'remote_leads'],
    deletion: 'strict',
    quarantine: 0,
    hasTombstones: false,
    hasLookups: false,
    hasCorrelationIds: false,
    batch: 1,
  };
  const run: RunStep = { do: 'run', complete: true, between: null, disruptions: [] };
  const steps: Step[] = [
    { do: 'create', side: 'remote', twin: false },
    run,
    { do: 'edit', side: 'remote', at: 0, field: 1, clear: true },
    { do: 'delete', side: 'local', at: 0 },
    run,
    { do: 'decide', at: 0, winner: 'local' },
    run,
    { do: 'undo', at: 0, disruptions: [] },
    run,
    { do: 'decide', at: 0, winner: 'remote' },
    run,
  ];
  const landscape = createMemory(setting);
  await expectConvergence({ setting, steps }, landscape);
  const [card, ...others] = await landscape.objects('local');
  expect(others).toEqual([]);
  expect(card!.fields['attributes.end'] ?? null).toBeNull();
});

it('the undo of a run keeps a value that was cleared and agreed on after it', async () => {
  const run: RunStep = { do: 'run', complete: false, between: null, disruptions: [] };
  const setting: Setting = {
    ...usualSetting,
    rules: ['remote_leads', 'remote_leads', 'remote_leads', 'remote_leads'],
  };
  const edit = (side: 'local' | 'remote', clear: boolean): Step => ({
    do: 'edit',
    side,
    at: 0,
    field: 2,
    clear,
  });
  const steps: Step[] = [
    { do: 'create', side: 'local', twin: false },
    ...[run, edit('local', true), run],
    // both sides change the empty field, and the remote leads
    ...[edit('local', false), edit('remote', false), run],
    ...[edit('local', true), run],
    { do: 'undo', at: 1, disruptions: [] },
  ];
  const landscape = createMemory(setting);
  await expectConvergence({ setting, steps }, landscape);
  const [card] = await landscape.objects('local');
  expect(card!.fields['attributes.note'] ?? null).toBeNull();
});

it.each([0, 1])(
  'interrupted after call %d, an undo of an undo does not make its own value the former one',
  async (call) => {
    const run: RunStep = { do: 'run', complete: false, between: null, disruptions: [] };
    const setting: Setting = {
      ...usualSetting,
      rules: ['remote_leads', 'remote_leads', 'remote_leads', 'remote_leads'],
      hasCorrelationIds: false,
      hasLookups: false,
    };
    const undo = { do: 'undo', at: 0 } as const;
    const interrupted: Step = { ...undo, disruptions: [{ kind: 'kill', call, after: true }] };
    const steps: Step[] = [
      { do: 'create', side: 'local', twin: false },
      ...[run, { do: 'edit', side: 'local', at: 0, field: 1 } as const, run],
      ...[{ ...undo, disruptions: [] }, interrupted],
      ...[{ do: 'edit', side: 'remote', at: 0, field: 1 } as const, run],
    ];
    await expectConvergence({ setting, steps }, createMemory(setting));
  },
);
