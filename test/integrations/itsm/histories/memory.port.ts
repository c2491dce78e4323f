import { isDeepStrictEqual } from 'node:util';
import type { Mapping, Value } from '../../../../domain/exchange/itsm/mappings.types.ts';
import type {
  LocalCard,
  Path,
  Side,
  StateChange,
  SyncState,
} from '../../../../integrations/itsm/engine/model.types.ts';
import type {
  EnginePort,
  LocalState,
  LocalStep,
  Outcome,
  Plan,
  PlanRow,
  Progress,
  RemoteState,
  RemoteWrite,
  RemoteWriteResult,
  RowResult,
} from '../../../../integrations/itsm/engine/plan.types.ts';
import { findOtherPair, groupPairsByCard, indexPairs } from '../../../../integrations/itsm/engine/state.ts';
import type { RemoteRecord, RemoteTombstone } from '../../../../integrations/itsm/remote.ts';
import type { Shown } from './landscape.ts';
import type { PersonAct, Setting, Trouble } from './steps.ts';

/** Ways to break the engine, by which the checks are checked. */
export type Mutant = 'no base' | 'no journal' | 'no check';

/** The process has come to its end. */
export class Killed extends Error {}

/** How each row has ended, or that it is begun. */
export type Journal = Map<number, Outcome | 'begun'>;

const progressIn = (journal: Journal, { no }: PlanRow): Progress => {
  const entry = journal.get(no) ?? 'pending';
  return typeof entry === 'string' ? entry : entry.progress;
};

/** The inventory and the database outside. */
export interface Sides {
  cards: Map<string, LocalCard>;
  redirects: Map<string, string>;
  records: Map<string, RemoteRecord>;
  tombstones: RemoteTombstone[];
  now(): string;
  /** Lets some time pass. @returns the new moment. */
  tick(): string;
  newId(side: Side): string;
  writeRecord(id: string, values: Record<string, Value>): RemoteRecord;
  writeCard(id: string, values: Record<Path, Value>): LocalCard;
  dropRecord(id: string): void;
  create(side: Side, fields: Record<Path, Value>): string;
  edit(side: Side, id: string, path: Path, value: Value): void;
  remove(side: Side, id: string, forGood: boolean): void;
  restore(cardId: string): void;
  merge(side: Side, from: string, into: string): void;
  shown(side: Side): Shown[];
}

export interface MemoryPortOptions {
  plan: Plan;
  /** Rows that come at once. */
  chunk?: number;
  approvals?: ReadonlyMap<number, 'approved' | 'rejected'>;
  sides: Sides;
  syncState: SyncState;
  commit: (changes: readonly StateChange[]) => void;
  setting: Setting;
  mutant: Mutant | undefined;
  mapping: Mapping;
  /** Shared by all ports of a run; what has befallen is taken out. */
  troubles: Trouble[];
  act: (act: PersonAct) => Promise<void>;
}

/** Marks of writes that have arrived, by side: kept with the remote, so that no kill loses them. */
const marks = new WeakMap<Sides, Map<string, string>>();

/** A port onto the sides in memory, with troubles at the calls that a history names. */
export function memoryPort(options: MemoryPortOptions, journal: Journal): EnginePort {
  const { plan, chunk = 500, approvals, sides, syncState, commit, setting, mutant, troubles, act } = options;
  const arrived = marks.get(sides) ?? new Map<string, string>();
  marks.set(sides, arrived);
  let calls = 0;
  let dead = false;

  /** One call: what befalls it, before and after its effect. */
  const call = async <T>(effect: () => T): Promise<T> => {
    if (dead) throw new Killed();
    const at = calls;
    calls += 1;
    for (const trouble of troubles.splice(0)) {
      if (trouble.call !== at || trouble.kind === 'lost') troubles.push(trouble);
      else if (trouble.kind === 'meanwhile') await act(trouble.act);
      else {
        dead = true;
        if (trouble.after) effect();
        throw new Killed();
      }
    }
    return effect();
  };
  const lostAt = (at: number) =>
    troubles.find((one): one is Extract<Trouble, { kind: 'lost' }> => one.kind === 'lost' && one.call === at);

  const stateOf = (row: PlanRow): LocalState => {
    const card = row.cardId === null ? undefined : sides.cards.get(row.cardId);
    const { redirects } = sides;
    const { cardId } = row;
    const other =
      cardId === null
        ? undefined
        : findOtherPair(groupPairsByCard(syncState, redirects), redirects, { ...row, cardId });
    return {
      card: card ? structuredClone(card) : null,
      pair: row.remoteId === null ? undefined : structuredClone(syncState.pairs.get(row.remoteId)),
      other,
    };
  };
  const end = ({ row, outcome, changes }: RowResult) => {
    commit(changes);
    journal.set(row.no, outcome);
    return outcome;
  };
  const read = (id: string): RemoteState => {
    const record = sides.records.get(id);
    return record ? { kind: 'there', record: structuredClone(record) } : { kind: 'gone' };
  };
  const writeCard = ({ row, write, check, changes }: LocalStep, ended: ReadonlyMap<number, Progress>) => {
    const state = stateOf(row);
    const objection = check(state, ended);
    if (objection !== null && mutant !== 'no check') {
      return end({ row, outcome: { progress: 'stale', message: objection }, changes: [] });
    }
    let { card } = state;
    if (write?.kind === 'create') card = sides.writeCard(sides.newId('local'), write.values);
    else if (write?.kind === 'update') card = sides.writeCard(write.cardId, write.values);
    else if (write?.kind === 'archive' || write?.kind === 'restore') {
      const held = sides.cards.get(write.cardId);
      if (!held && write.kind === 'restore') {
        return end({ row, outcome: { progress: 'refused', message: 'There is no such card.' }, changes: [] });
      }
      if (held) held.archived = write.kind === 'archive';
    }
    const made = write && card && row.cardId === null ? { createdId: card.id } : {};
    const outcome: Outcome = { progress: 'applied', message: null, ...made };
    return end({ row, outcome, changes: changes(write ? card : null) });
  };
  /** The remote in memory writes conditionally. */
  const doRemote = (write: RemoteWrite, mark: string, seen: RemoteRecord | null): RemoteWriteResult => {
    if (seen && mutant !== 'no check' && !isDeepStrictEqual(sides.records.get(seen.id), seen)) {
      return { kind: 'stale', message: 'The record was changed meanwhile.' };
    }
    if (write.kind === 'create') {
      const record = sides.writeRecord(sides.newId('remote'), write.values);
      arrived.set(mark, record.id);
      return { kind: 'done', record };
    }
    if (write.kind === 'relate' || write.kind === 'unrelate') return { kind: 'done', record: null };
    if (!sides.records.has(write.id)) return { kind: 'refused', message: 'There is no such record.' };
    arrived.set(mark, write.id);
    if (write.kind === 'update') return { kind: 'done', record: sides.writeRecord(write.id, write.values) };
    sides.dropRecord(write.id);
    return { kind: 'done', record: null };
  };

  const progressOf = (row: PlanRow): Progress => {
    const progress = progressIn(journal, row);
    return mutant === 'no journal' && progress === 'begun' ? 'pending' : progress;
  };

  return {
    async *rows() {
      for (let from = 0; from < plan.rows.length; from += chunk) {
        yield plan.rows.slice(from, from + chunk).map((row) => ({
          row,
          progress: progressOf(row),
          approval: approvals?.get(row.no) ?? null,
        }));
      }
    },
    writeLocal: async (steps) =>
      await call(() => {
        const ended = new Map<number, Progress>();
        return steps.map((step) => {
          const outcome = 'outcome' in step ? end(step) : writeCard(step, ended);
          ended.set(step.row.no, outcome.progress);
          return outcome;
        });
      }),
    readRemote: async (_table, ids) => await call(() => new Map(ids.map((id) => [id, read(id)] as const))),
    resolveIds: async () => indexPairs(syncState, sides.redirects),
    begin: async (rows) =>
      await call(() =>
        rows.map(({ row, check }) => {
          const objection = check(stateOf(row));
          if (objection !== null && mutant !== 'no check') return objection;
          journal.set(row.no, 'begun');
          return null;
        }),
      ),
    writeRemote: async (write, mark, seen) => {
      const lost = lostAt(calls);
      if (!lost) return await call(() => doRemote(write, mark, seen));
      troubles.splice(troubles.indexOf(lost), 1);
      await call(() => (lost.done ? doRemote(write, mark, seen) : null));
      return { kind: 'lost' };
    },
    findWrite: async (write, mark) =>
      await call(() => {
        if (write.kind !== 'create' && !setting.marks) return { kind: 'unmarked' };
        const id = arrived.get(mark);
        if (id === undefined) return { kind: 'absent' };
        const record = sides.records.get(id);
        // a record that somebody has deleted since is found no more, not even by its mark
        if (!record && write.kind !== 'delete') return { kind: 'absent' };
        return { kind: 'arrived', record: record ? structuredClone(record) : null };
      }),
    finish: async (endings) =>
      await call(() => {
        for (const one of endings) end(one);
      }),
    close: async (changes) => await call(() => commit(changes)),
  };
}
