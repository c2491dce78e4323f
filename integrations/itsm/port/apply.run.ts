import type { Knex } from 'knex';
import { lockSyncState } from '../../../domain/exchange/itsm/mappings.load.ts';
import type { Mapping } from '../../../domain/exchange/itsm/mappings.types.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { inTransaction } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Connector, Page } from '../connectors/connector.ts';
import { settleBegunRows } from '../engine/apply.remote.ts';
import type { ApplyOptions } from '../engine/apply.rows.ts';
import { type Applied, applyPlan } from '../engine/apply.ts';
import type { EnginePort, Plan, RowResult } from '../engine/plan.types.ts';
import { emptySyncState, indexPairs } from '../engine/state.ts';
import { RemoteError, unless } from '../remote.ts';
import { loadPairs, storeChanges } from '../store/pairs.ts';
import {
  hasCopyingRows,
  markBegun,
  markEnded,
  readBegunRows,
  readPlan,
  readRows,
} from '../store/plan-rows.ts';
import { openRefusedItems } from '../store/review-items.ts';
import { type CardReader, openCards } from './local.cards.ts';
import { applySteps, readState } from './port.local.ts';
import { createDeletedContentStore, remotePort } from './port.remote.ts';

/** The number of rows of a chunk. */
const CHUNK = 1_000;
/** The maximum number of pages of changed records that are read before applying; if there are more, all records are read by key. */
const CHANGED_PAGES = 10;
const CHANGED_PAGE = 1_000;

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
 * @throws RemoteError for errors that do not concern single rows; `answer_lost` if the outcome of a write is unknown.
 */
export async function applyRun(
  tools: ApplyTools,
  runId: string,
  options: Pick<ApplyOptions, 'concurrency' | 'remoteBatch'> & { chunk?: number } = {},
): Promise<Applied> {
  const ctx: Ctx = { ...tools.ctx, batch: { id: runId, toolName: 'itsm sync' } };
  const head = await readPlan(ctx.db, runId);
  if (!head?.plan_made_at) throw notFound('plan of the run', runId);
  const mapping = head.mapping as Mapping;
  const { watermark } = head.closing as Plan['closing'];
  const cards = await openCards(ctx, mapping, mapping.card_filter);
  const port = databasePort(
    { ...tools, ctx },
    { runId, mapping, cards, isUndo: head.undo_of !== null },
    options.chunk ?? CHUNK,
  );
  // an undo does not copy values from records
  const changed =
    head.stopped === null && head.undo_of === null && (await hasCopyingRows(ctx.db, runId))
      ? await changedSinceRead(tools.connector, mapping.remote_table, mapping.filter_query, watermark)
      : new Set<string>();
  const applied = await applyPlan(mapping, { id: runId, stopped: head.stopped }, port, {
    ...options,
    mayHaveChanged: (id) => changed === null || changed.has(id),
  });
  if (applied.status === 'lost')
    throw new RemoteError('answer_lost', `table ${mapping.remote_table}`, applied.message!);
  return applied;
}

/**
 * Finds out whether the writes of an earlier run without a response were executed; otherwise a later plan would see them as changes
 * by users. @returns the number of writes. @throws RemoteError when the remote does not respond.
 */
export async function settleRun(tools: ApplyTools, runId: string): Promise<number> {
  const ctx: Ctx = { ...tools.ctx, batch: { id: runId, toolName: 'itsm sync' } };
  const head = await readPlan(ctx.db, runId);
  const rows = await readBegunRows(ctx.db, runId);
  if (!head || rows.length === 0) return 0;
  const mapping = head.mapping as Mapping;
  const cards = await openCards(ctx, mapping, null);
  const port = databasePort(
    { ...tools, ctx },
    { runId, mapping, cards, isUndo: head.undo_of !== null },
    CHUNK,
  );
  await settleBegunRows({ mapping, planId: runId, port, options: {}, progress: new Map() }, rows);
  return rows.length;
}

/** Records that have changed since they were read for the plan; null if unknown. */
async function changedSinceRead(
  connector: Connector,
  table: string,
  filter: string | null,
  watermark: string | null,
): Promise<Set<string> | null> {
  if (watermark === null) return null;
  // changes at the time of the watermark have been read
  const since = new Date(Date.parse(watermark) + 1_000).toISOString();
  const changed = new Set<string>();
  let cursor: string | null = null;
  for (let pages = 0; pages < CHANGED_PAGES; pages += 1) {
    const read = connector.readSince({
      table,
      fields: [],
      ...(filter === null ? {} : { filter }),
      limit: CHANGED_PAGE,
      cursor,
      since,
      overlapMs: 0,
      display: false,
    });
    // the account may read records, but not which have changed
    const page: Page | null = await unless(read, ['forbidden'], null);
    if (page === null) return null;
    for (const { id } of page.records) changed.add(id);
    cursor = page.next;
    if (cursor === null) return changed;
  }
  return null;
}

/** Applies with PostgreSQL and the connector. */
function databasePort(
  tools: ApplyTools,
  { runId, mapping, cards, isUndo }: { runId: string; mapping: Mapping; cards: CardReader; isUndo: boolean },
  chunk: number,
): EnginePort {
  const { ctx, signal, lockRun, requireWritable, onProgress } = tools;
  const mappingId = mapping.id;
  const deletedContent = createDeletedContentStore(
    { connector: tools.connector, table: mapping.remote_table },
    { sql: ctx.db, runId },
  );
  const remote = remotePort(tools.connector, mapping, deletedContent);
  let done = 0;

  /** Locks the run and its sync state until the transaction ends. */
  const lock = async (sql: Knex.Transaction) => {
    signal.throwIfAborted();
    await lockRun({ sql });
    await lockSyncState(sql, mappingId);
  };
  const store = async (sql: Knex.Transaction, endings: readonly RowResult[]) => {
    const ends = endings.map(({ row: { no }, outcome: { progress, message, createdId = null } }) => ({
      no,
      progress,
      message,
      createdId,
    }));
    await storeChanges(
      sql,
      mappingId,
      endings.flatMap(({ changes }) => changes),
    );
    await markEnded(sql, runId, ends);
    if (!isUndo) await openRefusedItems(sql, mappingId, runId, endings);
  };
  const reportProgress = async (ended: number) => {
    done += ended;
    await onProgress?.(done);
  };

  async function* rowsInOrder() {
    for (let pending = readRows(ctx.db, runId, -1, chunk); ; ) {
      const rows = await pending;
      signal.throwIfAborted();
      done += rows.filter(({ progress }) => progress !== 'pending' && progress !== 'begun').length;
      const more = rows.length === chunk;
      if (more) {
        // read in advance: applying these rows does not change the others
        pending = readRows(ctx.db, runId, rows.at(-1)!.row.no, chunk);
        pending.catch(() => {});
      }
      if (rows.length > 0) yield rows;
      if (!more) return;
    }
  }

  return {
    ...remote,
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
        const state = await readState(
          sql,
          mappingId,
          cards,
          rows.map(({ row }) => row),
        );
        const staleReasons = rows.map(({ row, check }) => check(state.stateOf(row)));
        await markBegun(
          sql,
          runId,
          rows.filter((_, n) => staleReasons[n] === null).map(({ row: { no } }) => no),
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
      return indexPairs({ ...emptySyncState(), pairs }, redirects);
    },
  };
}
