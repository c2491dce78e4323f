import type { Knex } from 'knex';
import { lockSyncState } from '../../../../domain/exchange/itsm/itsm.load.ts';
import type { RunRow } from '../../../../domain/exchange/itsm/itsm.model.ts';
import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { loadRun } from '../../../../domain/exchange/itsm/runs.commands.ts';
import { lockCards, lockHierarchy } from '../../../../domain/inventory/cards/cards.load.ts';
import { lockNewEnds } from '../../../../domain/inventory/relations/relations.load.ts';
import { command } from '../../../../domain/kernel/command.ts';
import type { Ctx, Work } from '../../../../domain/kernel/context.ts';
import { inTransaction, type Sql } from '../../../../platform/database.ts';
import { notFound } from '../../../../platform/errors.ts';
import type { Connector } from '../connectors/connector.ts';
import { settleBegunRows } from '../engine/apply.remote.ts';
import {
  type ApplyOptions,
  appliedOutcome,
  refusedRow,
  touchedKeys,
  unappliedRow,
} from '../engine/apply.rows.ts';
import { type Applied, applyPlan } from '../engine/apply.ts';
import type { LocalCard, Pair, StateChange, SyncState } from '../engine/model.types.ts';
import type {
  EnginePort,
  LocalState,
  LocalStep,
  LocalWrite,
  Plan,
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
import { RemoteError } from '../remote.ts';
import { hasCopyingRows, markBegun, markEnded, readBegunRows, readRows } from '../store/plan-rows.ts';
import { findCardsOfRecords, loadPairs, openRefusedItems, storeChanges } from '../store/sync-state.ts';
import { affectedCards, hierarchyLockOf, writeInventory } from './inventory.ts';
import { type CardReader, openCards } from './local.cards.ts';
import { changedSinceRead, createDeletedContentStore, remotePort } from './port.remote.ts';

/** The number of rows of a chunk. */
const CHUNK = 1_000;

/** The context of applying a run. */
export interface ApplyTools {
  ctx: Ctx;
  connector: Connector;
  /** Stops applying between two steps; its reason is thrown. */
  signal: AbortSignal;
  /** Called first in each transaction that writes: locks the run. Throws when the job has lost its lease. */
  lockRun: (work: { sql: Knex.Transaction }) => Promise<void>;
  /** Called before rows are written to the remote. Throws when that is no longer allowed. */
  requireWritable?: (sql: Knex.Transaction) => Promise<void>;
  /** Called after each transaction that has ended rows, with the total number of ended rows. */
  onProgress?: (ended: number) => Promise<void>;
}

/**
 * Applies the approved rows of a run's plan. Resumes an interrupted run. The caller stores the final changes of the sync state,
 * depending on undecided rows. All writes to the inventory are one mutation batch with the run's id.
 * @throws RemoteError for errors that do not concern single rows; `response_lost` if the outcome of a write is unknown.
 */
export async function applyRun(
  tools: ApplyTools,
  runId: string,
  options: Pick<ApplyOptions, 'concurrency' | 'remoteBatch'> & { chunk?: number } = {},
): Promise<Applied> {
  const run = await openRun(tools, runId, options);
  const { head, mapping, port } = run;
  if (!head.plan_made_at) throw notFound('plan of the run', runId);
  const { watermark } = head.closing as Plan['closing'];
  const stopped = head.limit_overridden_by === null ? head.stopped : null;
  // an undo does not copy values from records
  const changed =
    stopped === null && head.undo_of === null && (await hasCopyingRows(tools.ctx.db, runId))
      ? await changedSinceRead(tools.connector, mapping.remote_table, mapping.filter_query, watermark)
      : new Set<string>();
  const applied = await applyPlan(mapping, { id: runId, stopped }, port, {
    ...options,
    mayHaveChanged: (id) => changed === null || changed.has(id),
  });
  if (applied.status === 'lost')
    throw new RemoteError('response_lost', `table ${mapping.remote_table}`, applied.message!);
  return applied;
}

/**
 * Finds out whether the writes of an earlier run without a response were executed; otherwise a later plan would see them as changes
 * by users. @returns the number of writes. @throws RemoteError when the remote does not respond.
 */
export async function settleRun(tools: ApplyTools, runId: string): Promise<number> {
  const rows = await readBegunRows(tools.ctx.db, runId);
  if (rows.length === 0) return 0;
  const { mapping, port } = await openRun(tools, runId, { isFiltered: false });
  await settleBegunRows({ mapping, planId: runId, port, options: {}, progress: new Map() }, rows);
  return rows.length;
}

/**
 * Opens the plan of a run for applying.
 * @param options `isFiltered`: refuse a card filter that is no longer valid.
 */
async function openRun(
  tools: ApplyTools,
  runId: string,
  { chunk = CHUNK, isFiltered = true }: { chunk?: number; isFiltered?: boolean },
): Promise<{ head: RunRow; mapping: Mapping; port: EnginePort }> {
  const ctx: Ctx = { ...tools.ctx, batch: { id: runId, toolName: 'itsm sync' } };
  const head = await loadRun(ctx.db, runId);
  const mapping = head.mapping as Mapping;
  const cards = await openCards(ctx, mapping, isFiltered ? mapping.card_filter : null);
  const isUndo = head.undo_of !== null;
  return { head, mapping, port: databasePort({ ...tools, ctx }, { runId, mapping, cards, isUndo }, chunk) };
}

/** Applies with PostgreSQL and the connector. */
function databasePort(
  tools: ApplyTools,
  { runId, mapping, cards, isUndo }: { runId: string; mapping: Mapping; cards: CardReader; isUndo: boolean },
  chunk: number,
): EnginePort {
  const { ctx, connector, signal, lockRun, requireWritable, onProgress } = tools;
  const mappingId = mapping.id;
  const table = { connector, table: mapping.remote_table };
  const deletedContent = createDeletedContentStore(table, { sql: ctx.db, runId });
  let done = 0;

  /** Locks the run and its sync state until the transaction ends. */
  const lock = async (sql: Knex.Transaction) => {
    signal.throwIfAborted();
    await lockRun({ sql });
    await lockSyncState(sql, mappingId);
  };
  const store = async (sql: Knex.Transaction, endings: readonly RowResult[]) => {
    const changes = endings.flatMap((ending) => ending.changes);
    await storeChanges(sql, mappingId, changes);
    await markEnded(sql, runId, endings);
    if (!isUndo) await openRefusedItems(sql, mappingId, runId, endings);
  };
  const reportProgress = async (ended: number) => {
    done += ended;
    await onProgress?.(done);
  };

  async function* rowsInOrder() {
    for (let after = -1; ; ) {
      const rows = await readRows(ctx.db, runId, after, chunk);
      signal.throwIfAborted();
      done += rows.filter(({ progress }) => progress !== 'pending' && progress !== 'begun').length;
      if (rows.length > 0) yield rows;
      if (rows.length < chunk) return;
      after = rows.at(-1)!.row.no;
    }
  }

  return {
    ...remotePort(connector, mapping, deletedContent),
    rows: rowsInOrder,
    storeDeletedContent: (rows) => deletedContent.store(rows),
    async writeLocal(steps) {
      const endings = await command(ctx, async (work) => {
        await lock(work.sql);
        const results = await applySteps({ ctx, mappingId, cards }, work, steps);
        await store(work.sql, results);
        return results;
      });
      await reportProgress(endings.length);
      return endings.map(({ outcome }) => outcome);
    },
    async begin(rows) {
      return await inTransaction(ctx.db, async (sql) => {
        await lock(sql);
        await requireWritable?.(sql);
        const written = rows.map(({ row }) => row);
        const { stateOf } = await readState(sql, mappingId, cards, written);
        const staleReasons = rows.map(({ row, check }) => check(stateOf(row)));
        await markBegun(
          sql,
          runId,
          written.filter((_, n) => staleReasons[n] === null),
        );
        return staleReasons;
      });
    },
    async finish(endings) {
      await inTransaction(ctx.db, async (sql) => {
        await lock(sql);
        await store(sql, endings);
      });
      await reportProgress(endings.length);
    },
    async resolveIds(remoteIds, cardIds) {
      const { pairs, redirects } = await loadPairs(ctx.db, mappingId, { remoteIds, cardIds });
      return indexPairs(pairs, redirects);
    },
  };
}

const isPending = (step: LocalStep | RowResult): step is LocalStep => !('outcome' in step);

/**
 * Executes steps within a transaction that has locked the sync state. Independent steps are written in one batch; a step that
 * depends on another is in a later batch.
 * @returns the results of all steps in their order.
 */
async function applySteps(
  { ctx, mappingId, cards }: { ctx: Ctx; mappingId: string; cards: CardReader },
  work: Work,
  steps: readonly (LocalStep | RowResult)[],
): Promise<RowResult[]> {
  const pending = steps.filter(isPending);
  const writes = pending.flatMap(({ write }) => write ?? []);
  const use = hierarchyLockOf(writes);
  if (use !== null) await lockHierarchy(work.sql, use);
  if (writes.length > 0) await lockCards(work, new Set(affectedCards(writes)));
  const state = await readState(
    work.sql,
    mappingId,
    cards,
    pending.map(({ row }) => row),
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
    if (!isPending(given)) {
      end(given);
      continue;
    }
    let step = given;
    if (hasUnresolvedEnd(step)) {
      if (!resolved) {
        // earlier rows create the cards of these relations
        await flush();
        resolved = await lockCardsOfEnds(work, mappingId, pending, state.index());
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
  steps: readonly LocalStep[],
  { cardOf }: PairIndex,
): Promise<Map<string, string>> {
  const records = new Set(
    steps.flatMap((step) =>
      hasUnresolvedEnd(step) && step.row.link ? [step.row.link.source, step.row.link.target] : [],
    ),
  );
  const cards = await findCardsOfRecords(work.sql, mappingId, [...records]);
  for (const id of records) {
    const created = cardOf(id);
    if (created !== undefined) cards.set(id, created);
  }
  const ids = new Set(cards.values());
  const types = steps.map(unresolvedRelationType);
  // a shared lock is not enough if cards are changed too
  if (types.includes(undefined)) await lockCards(work, ids);
  else await lockNewEnds(work, ids, new Set(types.filter((type) => type !== undefined)));
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
  /** The pairs after the rows applied so far. */
  index(): PairIndex;
}

/** Reads the pairs and cards of rows, with a fixed number of statements. */
async function readState(
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
      pairsByCard = undefined;
    },
    async reread(ids) {
      for (const id of ids) known.delete(id);
      for (const [id, card] of await cards.byIds(sql, ids)) known.set(id, card);
    },
    card: (id) => known.get(id),
    index: () => indexPairs(syncState.pairs, redirects),
  };
}
