import { isDeepStrictEqual } from 'node:util';
import type { Mapping, Value } from '../../../../../domain/exchange/itsm/mappings.types.ts';
import type {
  LocalCard,
  Path,
  Side,
  StateChange,
  SyncState,
} from '../../../../../integrations/exchange/itsm/engine/model.types.ts';
import type {
  EnginePort,
  LocalState,
  LocalStep,
  Outcome,
  Plan,
  PlanRow,
  Progress,
  RemoteWrite,
  RemoteWriteResult,
  RowResult,
} from '../../../../../integrations/exchange/itsm/engine/plan.types.ts';
import {
  findOtherPair,
  groupPairsByCard,
  indexPairs,
  isChange,
} from '../../../../../integrations/exchange/itsm/engine/state.ts';
import type {
  RecordLookup,
  RemoteRecord,
  RemoteTombstone,
} from '../../../../../integrations/exchange/itsm/remote.ts';
import type { ObjectState } from './landscape.ts';
import type { Disruption, Setting, UserAction } from './steps.ts';

/** Defects of the engine that the checks must detect. */
export type Mutant = 'no base' | 'no journal' | 'no check';

/** The process was killed. */
export class Killed extends Error {}

/** By row number, its outcome or that it has begun. */
export type Journal = Map<number, Outcome | 'started'>;

const progressIn = (journal: Journal, { no }: PlanRow): Progress => {
  const entry = journal.get(no) ?? 'pending';
  return typeof entry === 'string' ? entry : entry.progress;
};

/** The inventory and the remote. */
export interface Sides {
  cards: Map<string, LocalCard>;
  redirects: Map<string, string>;
  records: Map<string, RemoteRecord>;
  tombstones: RemoteTombstone[];
  now(): string;
  /** Advances the clock. @returns the new time. */
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
  objects(side: Side): ObjectState[];
}

export interface MemoryPortOptions {
  plan: Plan;
  /** The number of rows in a chunk. */
  chunk?: number;
  approvals?: ReadonlyMap<number, 'approved' | 'rejected'>;
  sides: Sides;
  syncState: SyncState;
  commit: (changes: readonly StateChange[]) => void;
  setting: Setting;
  mutant: Mutant | undefined;
  mapping: Mapping;
  /** Shared by all ports of a run; a disruption is removed when it happens. */
  disruptions: Disruption[];
  act: (act: UserAction) => Promise<void>;
}

/** Ids of written records by correlation id. They belong to the remote, so that a kill does not lose them. */
const storedCorrelationIds = new WeakMap<Sides, Map<string, string>>();

/** `close` stores the final changes of the sync state unless rows are undecided, as `finishRun` does. */
export type MemoryPort = EnginePort & { close(): Promise<void> };

/** A port to the sides in memory, with the disruptions of a history. */
export function memoryPort(options: MemoryPortOptions, journal: Journal): MemoryPort {
  const {
    plan,
    chunk = 500,
    approvals,
    sides,
    syncState,
    commit,
    setting,
    mutant,
    disruptions,
    act,
  } = options;
  const arrived = storedCorrelationIds.get(sides) ?? new Map<string, string>();
  storedCorrelationIds.set(sides, arrived);
  let calls = 0;
  let dead = false;

  /** Executes a call with its disruptions. */
  const call = async <T>(effect: () => T): Promise<T> => {
    if (dead) throw new Killed();
    const at = calls;
    calls += 1;
    for (const disruption of disruptions.splice(0)) {
      if (disruption.call !== at || disruption.kind === 'lost') disruptions.push(disruption);
      else if (disruption.kind === 'meanwhile') await act(disruption.act);
      else {
        dead = true;
        if (disruption.after) effect();
        throw new Killed();
      }
    }
    return effect();
  };
  const lostAt = (at: number) =>
    disruptions.find(
      (one): one is Extract<Disruption, { kind: 'lost' }> => one.kind === 'lost' && one.call === at,
    );

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
  const read = (id: string): RecordLookup => {
    const record = sides.records.get(id);
    return record ? { kind: 'there', record: structuredClone(record) } : { kind: 'gone' };
  };
  const writeCard = ({ row, write, check, changes }: LocalStep, ended: ReadonlyMap<number, Progress>) => {
    const state = stateOf(row);
    const staleReason = check(state, ended);
    if (staleReason !== null && mutant !== 'no check')
      return end({ row, outcome: { progress: 'stale', message: staleReason }, changes: [] });
    let { card } = state;
    if (write?.kind === 'create') card = sides.writeCard(sides.newId('local'), write.values);
    else if (write?.kind === 'update') card = sides.writeCard(write.cardId, write.values);
    else if (write?.kind === 'archive' || write?.kind === 'restore') {
      const stored = sides.cards.get(write.cardId);
      if (!stored && write.kind === 'restore')
        return end({ row, outcome: { progress: 'refused', message: 'There is no such card.' }, changes: [] });
      if (stored) stored.archived = write.kind === 'archive';
    }
    const created = write && card && row.cardId === null ? { createdId: card.id } : {};
    const outcome: Outcome = { progress: 'applied', message: null, ...created };
    return end({ row, outcome, changes: changes(write ? card : null) });
  };
  /** The remote in memory writes conditionally. */
  const writeRemote = (write: RemoteWrite, mark: string, seen: RemoteRecord | null): RemoteWriteResult => {
    if (seen && mutant !== 'no check' && !isDeepStrictEqual(sides.records.get(seen.id), seen))
      return { kind: 'stale', message: 'The record was changed meanwhile.' };
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
    return mutant === 'no journal' && progress === 'started' ? 'pending' : progress;
  };

  return {
    async *rows() {
      for (let from = 0; from < plan.rows.length; from += chunk)
        yield plan.rows.slice(from, from + chunk).map((row) => ({
          row,
          progress: progressOf(row),
          approval: approvals ? (approvals.get(row.no) ?? null) : 'approved',
        }));
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
    resolveIds: async () => indexPairs(syncState.pairs, sides.redirects),
    begin: async (rows) =>
      await call(() =>
        rows.map(({ row, check }) => {
          const staleReason = check(stateOf(row));
          if (staleReason !== null && mutant !== 'no check') return staleReason;
          journal.set(row.no, 'started');
          return null;
        }),
      ),
    writeRemote: async (write, mark, seen) => {
      const lost = lostAt(calls);
      if (!lost) return await call(() => writeRemote(write, mark, seen));
      disruptions.splice(disruptions.indexOf(lost), 1);
      await call(() => (lost.done ? writeRemote(write, mark, seen) : null));
      return { kind: 'lost' };
    },
    findWrite: async (write, mark) =>
      await call(() => {
        if (write.kind !== 'create' && !setting.hasCorrelationIds) return { kind: 'unsupported' };
        const id = arrived.get(mark);
        if (id === undefined) return { kind: 'absent' };
        const record = sides.records.get(id);
        // a record that was deleted since is not found by its correlation id
        if (!record && write.kind !== 'delete') return { kind: 'absent' };
        return { kind: 'executed', record: record ? structuredClone(record) : null };
      }),
    finish: async (endings) =>
      await call(() => {
        for (const one of endings) end(one);
      }),
    close: async () => {
      const isPending = (row: PlanRow) => isChange(row) && progressIn(journal, row) === 'pending';
      if (approvals && plan.rows.some((row) => isPending(row) && !approvals.has(row.no))) return;
      const open = plan.rows.filter(
        (row) => isPending(row) || ['stale', 'refused'].includes(progressIn(journal, row)),
      );
      const { absences, again, watermark } = plan.closing;
      const remoteIds = new Set([...again, ...open.flatMap(({ remoteId }) => remoteId ?? [])]);
      await call(() => {
        commit(
          Object.entries(absences).map(
            ([remoteId, count]): StateChange => ({ op: 'absences', remoteId, absences: count }),
          ),
        );
        syncState.again = new Set([...remoteIds].sort());
        syncState.watermark = watermark;
      });
    },
  };
}
