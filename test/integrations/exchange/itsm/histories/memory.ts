import { applyPlan } from '../../../../../integrations/exchange/itsm/engine/apply.ts';
import type {
  RemoteObservation,
  Resolution,
  StateChange,
} from '../../../../../integrations/exchange/itsm/engine/model.types.ts';
import type { Outcome, Plan } from '../../../../../integrations/exchange/itsm/engine/plan.types.ts';
import { applyChanges, emptySyncState } from '../../../../../integrations/exchange/itsm/engine/state.ts';
import type { RecordLookup } from '../../../../../integrations/exchange/itsm/remote.ts';
import { planInMemory, recordsToLookUp, undoPlan, unmap } from '../memory.plans.ts';
import type { Landscape, ObjectState, UndoResult } from './landscape.ts';
import { evaluate, KEY, mappingOf, places, reviewOf } from './landscape.ts';
import { type Journal, Killed, type Mutant, memoryPort, type Sides } from './memory.port.ts';
import { createSides } from './memory.sides.ts';
import type { Disruption, RunStep, Setting, UndoStep, UserAction } from './steps.ts';

/** Both sides, the sync state and the journal in memory. */
export function createMemory(setting: Setting, mutant?: Mutant): Landscape {
  const mapping = mappingOf(setting);
  const sides: Sides = createSides(mapping, setting);
  const syncState = emptySyncState();
  const resolutions: Resolution[] = [];
  let pending: { plan: Plan; journal: Journal; writesOlder: boolean } | null = null;
  /** Ended runs that were not undone. */
  const ended: { plan: Plan; outcomes: Map<number, Outcome>; writesOlder: boolean }[] = [];
  let newest: Plan | null = null;
  let plans = 0;

  const commit = (changes: readonly StateChange[]) => {
    applyChanges(syncState, structuredClone(changes));
    if (mutant === 'no base') for (const pair of syncState.pairs.values()) pair.base = {};
  };

  const readRemote = (complete: boolean): RemoteObservation => {
    const watermark = sides.now();
    const since = syncState.watermark ?? '';
    const kind = complete || syncState.watermark === null ? 'complete' : 'delta';
    const records = [...sides.records.values()].filter(
      ({ id, updatedAt }) => kind === 'complete' || updatedAt >= since || syncState.again.has(id),
    );
    const tombstones = setting.hasTombstones ? sides.tombstones.filter(({ at }) => at >= since) : [];
    const lookups = new Map<string, RecordLookup>();
    const reading: RemoteObservation = {
      kind,
      records: structuredClone(records),
      tombstones,
      lookups,
      watermark,
    };
    if (!setting.hasLookups) return reading;
    for (const id of [...recordsToLookUp(syncState, reading), ...syncState.again]) {
      const record = sides.records.get(id);
      if (record && records.includes(record)) continue;
      lookups.set(id, record ? { kind: 'there', record: structuredClone(record) } : { kind: 'gone' });
    }
    return reading;
  };

  const plan = async (step: RunStep, act: (act: UserAction) => Promise<void>): Promise<Plan> => {
    const remote = readRemote(step.complete);
    if (step.between) await act(step.between);
    plans += 1;
    const seen = {
      remote,
      local: { cards: structuredClone(sides.cards), redirects: new Map(sides.redirects) },
      resolutions,
      decisions: [],
      now: sides.now(),
      remoteClockAheadMs: 0,
    };
    return planInMemory(`plan${plans}`, mapping, syncState, seen, {
      score: () => [],
      evaluate,
      references: places,
    });
  };

  const apply = async (
    disruptions: Disruption[],
    act: (act: UserAction) => Promise<void>,
  ): Promise<boolean> => {
    if (!pending) return true;
    const { plan, journal, writesOlder } = pending;
    const chunk = setting.batch;
    const port = memoryPort(
      { plan, chunk, sides, syncState, commit, setting, mutant, mapping, disruptions, act },
      journal,
    );
    try {
      const applied = await applyPlan(mapping, plan, port, { remoteBatch: chunk, writesOlder });
      if (applied.status === 'lost') return false;
      if (applied.status === 'done') await port.close();
      else throw new Error(`stopped: ${applied.message}`);
    } catch (error) {
      if (error instanceof Killed) return false;
      throw error;
    }
    pending = null;
    const outcomes = new Map(
      [...journal].flatMap(([no, one]) => (one === 'started' ? [] : [[no, one] as const])),
    );
    if ([...outcomes.values()].some(({ progress }) => progress === 'applied'))
      ended.push({ plan, outcomes, writesOlder });
    return true;
  };
  const disruptionsOf = ({ disruptions }: { disruptions: Disruption[] }): Disruption[] =>
    setting.normalizesTexts ? disruptions.filter(({ kind }) => kind === 'meanwhile') : [...disruptions];
  const undo = async (
    step: UndoStep,
    act: (act: UserAction) => Promise<void>,
  ): Promise<UndoResult | null> => {
    const disruptions = disruptionsOf(step);
    sides.tick();
    if (!(await apply(disruptions, act))) return null;
    const [one] = ended.splice(ended.length - 1 - (step.at % ended.length), 1);
    if (!one) return null;
    plans += 1;
    const planned = undoPlan(`plan${plans}`, one.plan, one.outcomes, syncState);
    const remoteIds = planned.rows.flatMap(({ remoteId }) => remoteId ?? []);
    const again = [...new Set([...planned.closing.again, ...remoteIds])].sort();
    const plan = { ...planned, closing: { ...planned.closing, again } };
    pending = { plan, journal: new Map(), writesOlder: !one.writesOlder };
    const { journal } = pending;
    const isDone = await apply(disruptions, act);
    const outcomes = isDone ? new Map([...journal].map(([no, end]) => [no, end as Outcome])) : undefined;
    return { of: one.plan, undoPlan: plan, outcomes };
  };

  return {
    mapping,
    objects: async (side): Promise<ObjectState[]> => sides.objects(side),
    create: async (side, fields) => sides.create(side, fields),
    edit: async (side, id, path, value) => sides.edit(side, id, path, value),
    remove: async (side, id, forGood) => sides.remove(side, id, forGood),
    archived: async () =>
      [...sides.cards.values()].flatMap(({ id, archived, fields }) =>
        archived ? [{ id, key: fields[KEY] ?? null }] : [],
      ),
    restore: async (cardId) => sides.restore(cardId),
    merge: async (side, from, into) => sides.merge(side, from, into),
    unmap: async (cardId) => {
      const started = pending?.plan.rows.some(
        (row) => row.cardId === cardId && pending?.journal.get(row.no) === 'started',
      );
      if (started) return false;
      commit(unmap(syncState, cardId, sides.redirects));
      return true;
    },
    decide: async (row, winner) => {
      const [[key, { old, new: other }] = ['', { old: null, new: null }]] = Object.entries(row.diff);
      const path = key === '' ? null : key;
      resolutions.push({ remoteId: row.remoteId!, path, winner, values: { local: old, remote: other } });
    },
    ...reviewOf(() => newest),
    pairs: async () => structuredClone([...syncState.pairs.values()]),
    redirects: async () => new Map(sides.redirects),
    isPending: async () => pending !== null,
    run: async (step, act) => {
      const disruptions = disruptionsOf(step);
      sides.tick();
      if (!(await apply(disruptions, act))) return null;
      const made = await plan(step, act);
      newest = made;
      pending = { plan: made, journal: new Map(), writesOlder: false };
      await apply(disruptions, act);
      return made;
    },
    undo,
  };
}
