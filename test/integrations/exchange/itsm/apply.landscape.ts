import type { ApplyOptions } from '../../../../integrations/exchange/itsm/engine/apply.rows.ts';
import { applyPlan } from '../../../../integrations/exchange/itsm/engine/apply.ts';
import type { Resolution, SyncState } from '../../../../integrations/exchange/itsm/engine/model.types.ts';
import type { Outcome, Plan } from '../../../../integrations/exchange/itsm/engine/plan.types.ts';
import { applyChanges, emptySyncState } from '../../../../integrations/exchange/itsm/engine/state.ts';
import { evaluate, mappingOf } from './histories/landscape.ts';
import { type Journal, memoryPort, type Sides } from './histories/memory.port.ts';
import { createSides } from './histories/memory.sides.ts';
import { type Disruption, type Setting, usualSetting } from './histories/steps.ts';
import { planInMemory, undoPlan } from './memory.plans.ts';

const usual: Setting = { ...usualSetting, rules: ['remote_leads', 'remote_leads', 'remote_leads'] };
export const mapping = mappingOf(usual);

type Applied = ApplyOptions & { approvals?: Map<number, 'approved' | 'rejected'>; chunk?: number };

/** Two sides with a sync state and a journal in memory. */
export function landscape(over: Partial<Setting> = {}) {
  const setting = { ...usual, ...over };
  const sides: Sides = createSides(mapping, setting);
  const syncState: SyncState = emptySyncState();
  const journal: Journal = new Map();
  const outcomes = new Map<number, Outcome>();
  let plans = 0;
  const plan = async (over: Partial<typeof mapping> = {}, resolutions: Resolution[] = []): Promise<Plan> => {
    plans += 1;
    journal.clear();
    outcomes.clear();
    const remote = {
      kind: 'complete' as const,
      records: structuredClone([...sides.records.values()]),
      tombstones: sides.tombstones,
      lookups: new Map(),
      watermark: sides.now(),
    };
    const local = { cards: structuredClone(sides.cards), redirects: sides.redirects };
    const seen = { remote, local, resolutions, decisions: [], now: sides.tick(), remoteClockAheadMs: 0 };
    return await planInMemory(`p${plans}`, { ...mapping, ...over }, syncState, seen, {
      score: () => [],
      evaluate,
    });
  };
  const apply = async (
    made: Plan | Promise<Plan>,
    disruptions: Disruption[] = [],
    { approvals, chunk = 1, ...options }: Applied = {},
  ) => {
    const of = await made;
    const commit = (changes: Parameters<typeof applyChanges>[1]) => applyChanges(syncState, changes);
    const act = async () => {};
    const port = memoryPort(
      {
        plan: of,
        chunk,
        approvals,
        sides,
        syncState,
        commit,
        setting,
        mutant: undefined,
        mapping,
        disruptions,
        act,
      },
      journal,
    );
    const { finish, writeLocal } = port;
    port.finish = async (endings) => {
      for (const { row, outcome } of endings) outcomes.set(row.no, outcome);
      await finish(endings);
    };
    port.writeLocal = async (steps) => {
      const ended = await writeLocal(steps);
      for (const [n, { row }] of steps.entries()) outcomes.set(row.no, ended[n]!);
      return ended;
    };
    const applied = await applyPlan(mapping, of, port, { remoteBatch: chunk, ...options });
    if (applied.status === 'done') await port.close();
    return applied;
  };
  /** Undoes an applied plan. @param ends its outcomes; default: those of the plan that was applied last. */
  const undo = async (of: Plan, { id = 'undo', ends = new Map(outcomes) } = {}) => {
    const back = undoPlan(id, of, ends, syncState);
    journal.clear();
    return { plan: back, counts: (await apply(back)).counts };
  };
  return { sides, syncState, journal, outcomes, plan, apply, undo };
}

export const fields = (name: string, key: string) => ({
  name,
  'attributes.end': null,
  'attributes.key': key,
});

/** A landscape after a run that has created a record for a card. */
export async function started() {
  const world = landscape();
  const { sides } = world;
  const card = sides.create('local', fields('a', 'k1'));
  await world.apply(world.plan());
  const [remote] = [...sides.records.keys()];
  return { ...world, card, remote: remote! };
}
