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
import type { EnginePort, PlanHead, RowResult } from '../engine/plan.types.ts';
import { emptySyncState, indexPairs } from '../engine/state.ts';
import { RemoteError, unless } from '../remote.ts';
import { loadPairs, storeChanges } from '../store/pairs.ts';
import {
  copiesFromRecords,
  markBegun,
  markEnded,
  readBegunRows,
  readPlan,
  readRows,
} from '../store/plan-rows.ts';
import { openRefusedItems } from '../store/review-items.ts';
import { type CardReader, openCards } from './local.cards.ts';
import { applySteps, readState } from './port.local.ts';
import { createRemovals, remotePort } from './port.remote.ts';

/** Rows of a plan that are read, and at most written, at once. */
const CHUNK = 1_000;
/** Pages of changed records that are read to know which may have moved; beyond these all are looked at. */
const MOVED_PAGES = 10;
const MOVED_PAGE = 1_000;

/** What applying a run works with. */
export interface ApplyTools {
  /** As whom it writes. */
  ctx: Ctx;
  connector: Connector;
  /** Ends it between two steps; what it was aborted with is thrown. */
  signal: AbortSignal;
  /** Called first in each transaction that writes: throws when the run is somebody else's by now. */
  hold: (work: { sql: Knex.Transaction }) => Promise<void>;
  /** Called before rows are written outside: throws when nothing may be any more. */
  mayWrite?: (sql: Knex.Transaction) => Promise<void>;
  /** Called after each transaction that has ended rows, with how many have ended so far, in earlier processes too. */
  onProgress?: (ended: number) => Promise<void>;
}

/**
 * Applies the approved rows of a run's plan; called again after a kill it goes on where it was. What closes the plan in
 * the sync state is left to the caller, who knows whether rows wait for a person's word. All that is written in the inventory
 * is one batch, under the run's id.
 * @throws RemoteError when the remote fails otherwise than about single rows; `answer_lost` when an answer stays away.
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
  const closing = head.closing as PlanHead['closing'];
  const plan: PlanHead = {
    id: runId,
    mappingId: mapping.id,
    createdAt: head.plan_made_at,
    stopped: head.stopped,
    closing,
  };
  const cards = await openCards(ctx, mapping, mapping.card_filter);
  const port = databasePort(
    { ...tools, ctx },
    { runId, mapping, cards, isUndo: head.undo_of !== null },
    options.chunk ?? CHUNK,
  );
  // what is taken back goes to what it was here, whatever the record holds
  const moved =
    plan.stopped === null && head.undo_of === null && (await copiesFromRecords(ctx.db, runId))
      ? await changedSinceRead(tools.connector, mapping.remote_table, mapping.filter_query, closing.watermark)
      : new Set<string>();
  const applied = await applyPlan(mapping, plan, port, {
    ...options,
    approvedOnly: true,
    mayHaveChanged: (id) => moved === null || moved.has(id),
  });
  if (applied.status === 'lost')
    throw new RemoteError('answer_lost', `table ${mapping.remote_table}`, applied.message!);
  return applied;
}

/**
 * Finds out what has become of the writes that an earlier run has sent without hearing of them again: a later plan would
 * take what has arrived for somebody's change.
 * @returns how many there were. @throws RemoteError when the remote cannot be asked.
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

/** Records that have changed since they were read for the plan; null where that cannot be told. */
async function changedSinceRead(
  connector: Connector,
  table: string,
  filter: string | null,
  watermark: string | null,
): Promise<Set<string> | null> {
  if (watermark === null) return null;
  // what has the very moment of the watermark was read with it
  const since = new Date(Date.parse(watermark) + 1_000).toISOString();
  const moved = new Set<string>();
  let cursor: string | null = null;
  for (let pages = 0; pages < MOVED_PAGES; pages += 1) {
    const read = connector.readSince({
      table,
      fields: [],
      ...(filter === null ? {} : { filter }),
      limit: MOVED_PAGE,
      cursor,
      since,
      overlapMs: 0,
      display: false,
    });
    // the account may read the records, and not what has changed
    const page: Page | null = await unless(read, ['forbidden'], null);
    if (page === null) return null;
    for (const { id } of page.records) moved.add(id);
    cursor = page.next;
    if (cursor === null) return moved;
  }
  return null;
}

/** The inventory, the sync state and the journal in PostgreSQL, and the remote through its connector. */
function databasePort(
  tools: ApplyTools,
  { runId, mapping, cards, isUndo }: { runId: string; mapping: Mapping; cards: CardReader; isUndo: boolean },
  chunk: number,
): EnginePort {
  const { ctx, signal, hold, mayWrite, onProgress } = tools;
  const mappingId = mapping.id;
  const removals = createRemovals(
    { connector: tools.connector, table: mapping.remote_table },
    { sql: ctx.db, runId },
  );
  const remote = remotePort(tools.connector, mapping, removals);
  let done = 0;

  /** Holds the run and its sync state until the transaction ends. */
  const enter = async (sql: Knex.Transaction) => {
    signal.throwIfAborted();
    await hold({ sql });
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
  const tell = async (ended: number) => {
    done += ended;
    await onProgress?.(done);
  };

  async function* standing() {
    for (let coming = readRows(ctx.db, runId, -1, chunk); ; ) {
      const rows = await coming;
      signal.throwIfAborted();
      done += rows.filter(({ progress }) => progress !== 'pending' && progress !== 'begun').length;
      const more = rows.length === chunk;
      if (more) {
        // read while these are applied; what becomes of them changes nothing of others
        coming = readRows(ctx.db, runId, rows.at(-1)!.row.no, chunk);
        coming.catch(() => {});
      }
      if (rows.length > 0) yield rows;
      if (!more) return;
    }
  }

  return {
    ...remote,
    rows: standing,
    storeDeletedContent: (rows) => removals.store(rows),
    async writeLocal(steps) {
      const endings = await command(ctx, async (work) => {
        await enter(work.sql);
        const taken = await applySteps({ ctx, mappingId, cards }, work, steps);
        await store(work.sql, taken);
        return taken;
      });
      await tell(endings.length);
      return endings.map(({ outcome }) => outcome);
    },
    async begin(rows) {
      return await inTransaction(ctx.db, async (sql) => {
        await enter(sql);
        await mayWrite?.(sql);
        const state = await readState(
          sql,
          mappingId,
          cards,
          rows.map(({ row }) => row),
        );
        const objections = rows.map(({ row, check }) => check(state.of(row)));
        await markBegun(
          sql,
          runId,
          rows.filter((_, n) => objections[n] === null).map(({ row: { no } }) => no),
        );
        return objections;
      });
    },
    async finish(endings) {
      await inTransaction(ctx.db, async (sql) => {
        await enter(sql);
        await store(sql, endings);
      });
      await tell(endings.length);
    },
    async resolveIds(remoteIds, cardIds) {
      const { pairs, redirects } = await loadPairs(ctx.db, mappingId, { remoteIds, cardIds });
      return indexPairs({ ...emptySyncState(), pairs }, redirects);
    },
    // the caller closes the plan when no row waits any more
    close: async () => {},
  };
}
