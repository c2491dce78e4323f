import { lockCards, lockHierarchy } from '../../../domain/inventory/cards/cards.load.ts';
import { lockNewEnds } from '../../../domain/inventory/relations/relations.load.ts';
import type { Ctx, Work } from '../../../domain/kernel/context.ts';
import type { Sql } from '../../../platform/database.ts';
import { appliedOutcome, refusedRow, touchedKeys, unappliedRow } from '../engine/apply.rows.ts';
import type { LocalCard, Pair, StateChange, SyncState } from '../engine/model.types.ts';
import type {
  LocalState,
  LocalStep,
  LocalWrite,
  PlanRow,
  Progress,
  RowResult,
} from '../engine/plan.types.ts';
import {
  applyChanges,
  emptySyncState,
  findOtherPair,
  groupPairsByCard,
  indexPairs,
  type PairIndex,
} from '../engine/state.ts';
import { findCardsOfRecords, loadPairs } from '../store/pairs.ts';
import { affectedCards, hierarchyLockOf, writeInventory } from './inventory.ts';
import type { CardReader } from './local.cards.ts';

/** The context of writing to the inventory. */
interface LocalTools {
  ctx: Ctx;
  mappingId: string;
  cards: CardReader;
}

const isResult = (step: LocalStep | RowResult): step is RowResult => 'outcome' in step;

/**
 * Executes steps within a transaction that has locked the sync state. Independent steps are written in one batch; a step that
 * depends on another is in a later batch.
 * @returns the results of all steps in their order.
 */
export async function applySteps(
  { ctx, mappingId, cards }: LocalTools,
  work: Work,
  steps: readonly (LocalStep | RowResult)[],
): Promise<RowResult[]> {
  const writes = steps.flatMap((step) => (isResult(step) || step.write === null ? [] : [step.write]));
  const use = hierarchyLockOf(writes);
  if (use !== null) await lockHierarchy(work.sql, use);
  if (writes.length > 0) await lockCards(work, new Set(affectedCards(writes)));
  const state = await readState(
    work.sql,
    mappingId,
    cards,
    steps.flatMap((step) => (isResult(step) ? [] : [step.row])),
  );
  const endings = new Map<number, RowResult>();
  const ended = new Map<number, Progress>();
  const end = (ending: RowResult) => {
    endings.set(ending.row.no, ending);
    ended.set(ending.row.no, ending.outcome.progress);
    state.apply(ending.changes);
  };

  let batch: LocalStep[] = [];
  let touched = new Set<string | number>();
  const flush = async () => {
    if (batch.length === 0) return;
    const results = await writeInventory(
      work,
      ctx,
      batch.map(({ write }) => write!),
    );
    await state.reread(results.flatMap((result) => (result.kind === 'done' ? (result.cardId ?? []) : [])));
    for (const [n, { row, changes }] of batch.entries()) {
      const result = results[n]!;
      if (result.kind === 'refused') {
        end(refusedRow(row, result.message));
        continue;
      }
      const card = result.cardId === null ? null : (state.card(result.cardId) ?? null);
      const { unwritten = {} } = result;
      const createdId = row.cardId === null ? (result.cardId ?? undefined) : undefined;
      const outcome = appliedOutcome(unwritten, createdId);
      end({ row, outcome, changes: changes(card, new Set(Object.keys(unwritten))) });
    }
    batch = [];
    touched = new Set();
  };

  let resolved: Map<string, string> | undefined;
  for (const given of steps) {
    if (isResult(given)) {
      end(given);
      continue;
    }
    let step = given;
    if (hasUnresolvedEnd(step)) {
      if (!resolved) {
        // earlier rows create the cards of these relations
        await flush();
        resolved = await lockCardsOfEnds(work, mappingId, steps, state);
      }
      step = resolveEnds(step, resolved);
    }
    const { row, write, check, changes } = step;
    const keys = touchedKeys(row);
    const needsBatch = row.needs !== null && touched.has(row.needs);
    if (needsBatch || keys.some((key) => touched.has(key))) await flush();
    const staleReason = check(state.stateOf(row), ended);
    if (staleReason !== null) {
      end(unappliedRow(row, 'stale', staleReason));
    } else if (hasUnresolvedEnd(step)) {
      end(unappliedRow(row, 'stale', 'A record at an end of the relation has no card.'));
    } else if (write === null) {
      end({ row, outcome: appliedOutcome({}, undefined), changes: changes(null) });
    } else {
      batch.push(step);
      // relations with one end in common are independent
      for (const key of row.link ? [JSON.stringify(write)] : keys) touched.add(key);
      touched.add(row.no);
    }
  }
  await flush();
  return steps.map(({ row }) => endings.get(row.no)!);
}

type RelationWrite = Extract<LocalWrite, { kind: 'relate' | 'unrelate' }>;

const isRelationWrite = (write: LocalWrite | null): write is RelationWrite =>
  write?.kind === 'relate' || write?.kind === 'unrelate';

/** Whether the step writes a relation with an end that did not exist when it was planned. */
const hasUnresolvedEnd = ({ write }: LocalStep): boolean =>
  isRelationWrite(write) && (write.source === null || write.target === null);

function resolveEnds(step: LocalStep, cards: ReadonlyMap<string, string>): LocalStep {
  const { row, write } = step;
  if (!isRelationWrite(write) || !row.link) return step;
  const source = write.source ?? cards.get(row.link.source) ?? null;
  const target = write.target ?? cards.get(row.link.target) ?? null;
  return { ...step, write: { ...write, source, target } };
}

/** Finds and locks the cards of the records at such ends, which may belong to another mapping. */
async function lockCardsOfEnds(
  work: Work,
  mappingId: string,
  steps: readonly (LocalStep | RowResult)[],
  state: TransactionState,
): Promise<Map<string, string>> {
  const records = new Set(
    steps.flatMap((step) =>
      !isResult(step) && hasUnresolvedEnd(step) && step.row.link
        ? [step.row.link.source, step.row.link.target]
        : [],
    ),
  );
  const cards = await findCardsOfRecords(work.sql, mappingId, [...records]);
  for (const id of records) {
    const created = state.cardOf(id);
    if (created !== undefined) cards.set(id, created);
  }
  const ids = new Set(cards.values());
  const types = steps.map((step) => (isResult(step) ? null : unresolvedRelationType(step)));
  // a shared lock is not enough if cards are changed too
  if (types.includes(undefined)) await lockCards(work, ids);
  else await lockNewEnds(work, ids, new Set(types.filter((type) => typeof type === 'string')));
  return cards;
}

/** The type of a new relation between cards that did not exist when it was planned. */
const unresolvedRelationType = (step: LocalStep): string | undefined =>
  step.write?.kind === 'relate' && hasUnresolvedEnd(step) ? step.write.relationType : undefined;

/** The sync state and the cards of some rows, within a transaction that has locked the sync state. */
interface TransactionState {
  stateOf(row: PlanRow): LocalState;
  /** Applies the changes of a row. */
  apply(changes: readonly StateChange[]): void;
  /** Reads cards again after they were written. */
  reread(ids: readonly string[]): Promise<void>;
  card(id: string): LocalCard | undefined;
  /** The card of a record, after the rows applied so far. */
  cardOf(remoteId: string): string | undefined;
}

/** Reads the pairs and cards of rows, with a fixed number of statements. */
export async function readState(
  sql: Sql,
  mappingId: string,
  cards: CardReader,
  rows: readonly PlanRow[],
): Promise<TransactionState> {
  const remoteIds = rows.flatMap(({ remoteId, drops }) => (remoteId === null ? drops : [remoteId, ...drops]));
  const cardIds = rows.flatMap(({ cardId }) => cardId ?? []);
  const { pairs, redirects } = await loadPairs(sql, mappingId, { remoteIds, cardIds });
  const syncState: SyncState = { ...emptySyncState(), pairs };
  const known = await cards.byIds(sql, cardIds);
  let pairIndex: PairIndex | undefined;
  let pairsByCard: ReadonlyMap<string, Pair[]> | undefined;
  return {
    stateOf(row) {
      const { cardId, remoteId } = row;
      const pair = remoteId === null ? undefined : syncState.pairs.get(remoteId);
      if (cardId === null) return { card: null, pair, other: undefined };
      pairsByCard ??= groupPairsByCard(syncState, redirects);
      const other = findOtherPair(pairsByCard, redirects, { ...row, cardId });
      return { card: known.get(cardId) ?? null, pair, other };
    },
    apply(changes) {
      if (changes.length === 0) return;
      applyChanges(syncState, changes);
      pairIndex = undefined;
      pairsByCard = undefined;
    },
    async reread(ids) {
      for (const id of ids) known.delete(id);
      for (const [id, card] of await cards.byIds(sql, ids)) known.set(id, card);
    },
    card: (id) => known.get(id),
    cardOf: (remoteId) => {
      pairIndex ??= indexPairs(syncState, redirects);
      return pairIndex.cardOf(remoteId);
    },
  };
}
