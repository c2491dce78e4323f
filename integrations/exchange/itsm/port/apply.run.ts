import { lockSyncState } from '../../../../domain/exchange/itsm/itsm.load.ts';
import type { RunRow } from '../../../../domain/exchange/itsm/itsm.model.ts';
import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { loadRun } from '../../../../domain/exchange/itsm/runs.commands.ts';
import { SYNC_TOOL } from '../../../../domain/exchange/itsm/sources.queries.ts';
import { lockCards, lockHierarchy } from '../../../../domain/inventory/cards/cards.load.ts';
import { lockNewEnds } from '../../../../domain/inventory/relations/relations.load.ts';
import { command } from '../../../../domain/kernel/command.ts';
import type { Ctx, Work } from '../../../../domain/kernel/context.ts';
import { inTransaction, query, type Sql, type Transaction } from '../../../../platform/database.ts';
import { notFound } from '../../../../platform/errors.ts';
import type { Connector } from '../connectors/connector.ts';
import { resolveStartedRows } from '../engine/apply.remote.ts';
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
} from '../engine/state.ts';
import { RemoteError } from '../remote.ts';
import { hasCopyingRows, markEnded, markStarted, readRows, readStartedRows } from '../store/plan-rows.ts';
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
  lockRun: (work: { sql: Transaction }) => Promise<void>;
  /** Called before rows are written to the remote. Throws when that is no longer allowed. */
  requireWritable?: (sql: Transaction) => Promise<void>;
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
  const { head, mapping, port, isUndo } = await openRun(tools, runId, options);
  if (!head.plan_made_at) throw notFound('plan of the run', runId);
  const { watermark } = head.closing as Plan['closing'];
  const stopped = head.limit_overridden_by === null ? head.stopped : null;
  // an undo does not copy values from records
  const changed =
    stopped === null && !isUndo && (await hasCopyingRows(tools.ctx.db, runId))
      ? await changedSinceRead(tools.connector, mapping.remote_table, mapping.filter_query, watermark)
      : new Set<string>();
  const applied = await applyPlan(mapping, { id: runId, stopped }, port, {
    ...options,
    writesOlder: await writesOlder(tools.ctx.db, head),
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
  const rows = await readStartedRows(tools.ctx.db, runId);
  if (rows.length === 0) return 0;
  const { head, mapping, port } = await openRun(tools, runId, { isFiltered: false });
  const options = { writesOlder: await writesOlder(tools.ctx.db, head) };
  await resolveStartedRows({ mapping, planId: runId, port, options, progress: new Map() }, rows);
  return rows.length;
}

/** Whether a run undoes a run that is not itself an undo; the undo of an undo writes the newer values again. */
async function writesOlder(db: Sql, { undo_of }: RunRow): Promise<boolean> {
  if (undo_of === null) return false;
  return await query(db).value`with recursive undone as (
      select undo_of from itsm_runs where id = ${undo_of}
      union all
      select r.undo_of from undone u join itsm_runs r on r.id = u.undo_of)
    select count(*) % 2 = 1 as older from undone`;
}

/**
 * Opens the plan of a run for applying.
 * @param options `isFiltered`: refuse a card filter that is no longer valid.
 */
async function openRun(
  tools: ApplyTools,
  runId: string,
  { chunk = CHUNK, isFiltered = true }: { chunk?: number; isFiltered?: boolean },
): Promise<{ head: RunRow; mapping: Mapping; port: EnginePort; isUndo: boolean }> {
  const ctx: Ctx = { ...tools.ctx, batch: { id: runId, toolName: SYNC_TOOL } };
  const head = await loadRun(ctx.db, runId);
  const mapping = head.mapping as Mapping;
  const cards = await openCards(ctx, mapping, isFiltered ? mapping.card_filter : null);
  const isUndo = head.undo_of !== null;
  const port = databasePort({ ...tools, ctx }, { runId, mapping, cards, isUndo }, chunk);
  return { head, mapping, port, isUndo };
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
  const lock = async (sql: Transaction) => {
    signal.throwIfAborted();
    await lockRun({ sql });
    await lockSyncState(sql, mappingId);
  };
  const store = async (sql: Transaction, endings: readonly RowResult[]) => {
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
      done += rows.filter(({ progress }) => progress !== 'pending' && progress !== 'started').length;
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
        const started = written.filter((_, n) => staleReasons[n] === null);
        await markStarted(sql, runId, started);
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
      const known = indexPairs(pairs, redirects);
      const cards = await findCardsOfRecords(ctx.db, mappingId, remoteIds);
      return { ...known, cardOf: (id) => known.cardOf(id) ?? cards.get(id) };
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
  const cardIds = new Set(affectedCards(writes));
  const newRelations = writes.flatMap((write) => (write.kind === 'relate' ? [write.relationType] : []));
  // a shared lock is not enough if cards are changed too
  if (newRelations.length === writes.length) await lockNewEnds(work, cardIds, new Set(newRelations));
  else await lockCards(work, cardIds);
  const rows = pending.map(({ row }) => row);
  const state = await readState(work.sql, mappingId, cards, rows);
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
    const batched = batch.map(({ write }) => write!);
    const results = await writeInventory(work, ctx, batched);
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

  for (const step of steps) {
    if (!isPending(step)) {
      end(step);
      continue;
    }
    const { row, write, check, changes } = step;
    const keys = touchedKeys(row);
    const needsBatch = row.needs !== null && touched.has(row.needs);
    if (needsBatch || keys.some((key) => touched.has(key))) await flush();
    const staleReason = check(state.stateOf(row), ended);
    if (staleReason !== null) {
      end(unappliedRow(row, 'stale', staleReason));
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

/** The sync state and the cards of some rows, within a transaction that has locked the sync state. */
interface TransactionState {
  stateOf(row: PlanRow): LocalState;
  /** Applies the changes of a row. */
  apply(changes: readonly StateChange[]): void;
  /** Reads cards again after they were written. */
  reread(ids: readonly string[]): Promise<void>;
  card(id: string): LocalCard | undefined;
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
  };
}
