import type { Path, Side } from '../../../../../integrations/exchange/itsm/engine/model.types.ts';
import { KEY, type Landscape, type ObjectState, PATHS, tokenOf } from './landscape.ts';
import type { History, UserAction } from './steps.ts';

/** The state of executing a history, with what its checks need. */
export interface HistoryState {
  landscape: Landscape;
  setting: History['setting'];
  lineage: Lineage;
  /** Objects that users have created or removed, by id. */
  createdByUsers: Set<string>;
  removedByUsers: Set<string>;
  /** Archived cards that a decision or an undo restores, also if there is another card with the same key. */
  restoredByDecision: Set<string>;
  /** Keys of objects of which a user has removed or merged a side. */
  touchedKeys: Set<string>;
  /** Cards and records that an undone run has created, which the undo may remove. */
  undoneCreations: Set<string>;
  /** Keys of all such objects: they were on both sides, and may be created again. */
  undoneKeys: Set<string>;
  /** Records whose bases an undo has restored. */
  restoredBases: Set<string>;
  /** Un-mapped cards and records, with the values that must not change. */
  unmappedValues: Map<string, Record<Path, string | null>>;
  errors: string[];
  /** What happened, for analysing a failure. */
  log: string[];
}

/** Performs an action of a user. */
export type PerformAction = (act: UserAction, inRun: boolean) => Promise<void>;

/** Both sides before a run or an undo. */
export type Before = Record<Side, ObjectState[]>;

export const tokensOf = ({ fields }: ObjectState): Record<Path, string | null> =>
  Object.fromEntries(PATHS.map((path) => [path, tokenOf(path, fields[path] ?? null)]));

/** Checks that the engine has created, changed and removed nothing that it must not, whatever its plan. */
export async function checkChanges(state: HistoryState, before: Before): Promise<void> {
  const { landscape, errors } = state;
  for (const side of ['local', 'remote'] as const) {
    const after = await landscape.objects(side);
    const known = new Set(before[side].map(({ id }) => id));
    for (const one of after) {
      if (known.has(one.id) || state.createdByUsers.has(one.id)) continue;
      if (state.restoredByDecision.has(one.id)) continue;
      const duplicate = after.find(({ id, fields }) => id !== one.id && fields[KEY] === one.fields[KEY]);
      if (duplicate && !state.unmappedValues.has(duplicate.id))
        errors.push(`${one.id} was created beside ${duplicate.id} with the same key`);
    }
    const there = new Map(after.map((one) => [one.id, one]));
    for (const one of before[side]) {
      if (!there.has(one.id) && !state.removedByUsers.has(one.id)) checkRemoval(state, one);
    }
    for (const one of after) {
      const frozen = state.unmappedValues.get(one.id);
      if (frozen && JSON.stringify(frozen) !== JSON.stringify(tokensOf(one)))
        errors.push(`${one.id} is un-mapped, but was written`);
    }
  }
}

function checkRemoval(state: HistoryState, one: ObjectState): void {
  const mode = state.landscape.mapping.sync_mode;
  if (state.undoneCreations.has(one.id)) return;
  if (!state.touchedKeys.has(String(one.fields[KEY])))
    state.errors.push(`${one.id} was removed, although no user has removed its counterpart`);
  if (mode === 'additive') state.errors.push(`${one.id} was removed by a mapping that removes nothing`);
  if (mode === 'conservative' && state.createdByUsers.has(one.id))
    state.errors.push(`${one.id} was removed by a mapping that only removes what it has created`);
  if (state.unmappedValues.has(one.id)) state.errors.push(`${one.id} is un-mapped, but was removed`);
}

/**
 * The predecessors of values. Every value that a user writes is unique in the history, and has the value that it replaced as its
 * predecessor. This shows whether two values are concurrent, and whether a missing value was lost or replaced.
 */
interface Lineage {
  /** Adds a new value. @param previous the value that it replaces. */
  write(value: string, previous: string | null): void;
  /** The value may be missing, because of a decision or removal. */
  allowLoss(value: string): void;
  isBefore(earlier: string, later: string): boolean;
  /** Values that must still exist. */
  required(): string[];
}

export function createLineage(): Lineage {
  const parents = new Map<string, string>();
  const written = new Set<string>();
  const replaced = new Set<string>();
  const excused = new Set<string>();
  const isBefore = (earlier: string, later: string): boolean => {
    for (let value = parents.get(later); value !== undefined; value = parents.get(value)) {
      if (value === earlier) return true;
    }
    return false;
  };
  return {
    write(value, seen) {
      written.add(value);
      if (seen === null) return;
      parents.set(value, seen);
      replaced.add(seen);
    },
    allowLoss(value) {
      excused.add(value);
    },
    isBefore,
    required: () => [...written].filter((value) => !replaced.has(value) && !excused.has(value)),
  };
}
