import type { Knex } from 'knex';
import { lockBook } from '../../../domain/exchange/itsm/book.read.ts';
import {
  noteBegun,
  noteEnded,
  readBegunRows,
  readPlanHead,
  type StandingRow,
  takesFromRecords,
  walkStandingRows,
} from '../../../domain/exchange/itsm/plan.journal.ts';
import {
  askRefused,
  askRefusedCards,
  type RefusedCard,
  type RefusedValue,
} from '../../../domain/exchange/itsm/questions.refused.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { inTransaction } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Connector, Page } from '../connectors/connector.ts';
import { settleBegun } from '../engine/apply.remote.ts';
import type { ApplyOptions } from '../engine/apply.rows.ts';
import { type Applied, applyPlan } from '../engine/apply.ts';
import type { Mapping } from '../engine/model.types.ts';
import type { Ending, EnginePort, PlanHead, Standing } from '../engine/plan.types.ts';
import { emptyBook, identities } from '../engine/state.ts';
import { RemoteError, unless } from '../remote.errors.ts';
import { inLanes, lanesOf } from './apply.lanes.ts';
import { loadPairs, storeBook } from './book.rows.ts';
import { type CardReader, openCards } from './local.cards.ts';
import { planRowOf } from './plan.rows.ts';
import { takeSteps } from './port.local.ts';
import { remotePort } from './port.remote.ts';
import { createRemovals } from './port.removed.ts';
import { readState } from './port.state.ts';

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

/** A run's mapping, as it is kept with the run. */
interface KeptMapping {
  mapping: Mapping;
  cardFilter: string | null;
  remoteFilter: string | null;
}

/**
 * Applies the approved rows of a run's plan; called again after a kill it goes on where it was. What closes the plan in
 * the book is left to the caller, who knows whether rows wait for a person's word. All that is written in the inventory
 * is one batch, under the run's id.
 * @throws RemoteError when the remote fails otherwise than about single rows; `answer_lost` when an answer stays away.
 */
export async function applyRun(
  tools: ApplyTools,
  runId: string,
  options: Pick<ApplyOptions, 'atOnce' | 'partsAtOnce' | 'remoteBatch'> & { chunk?: number } = {},
): Promise<Applied> {
  const ctx: Ctx = { ...tools.ctx, batch: { id: runId, toolName: 'itsm sync' } };
  const head = await readPlanHead(ctx.db, runId);
  if (!head?.plan_made_at) throw notFound('plan of the run', runId);
  const { mapping, cardFilter, remoteFilter } = head.mapping as KeptMapping;
  const closing = head.closing as PlanHead['closing'];
  const plan: PlanHead = {
    id: runId,
    mappingId: mapping.id,
    madeAt: head.plan_made_at,
    stopped: head.stopped,
    closing,
  };
  const cards = await openCards(ctx, mapping, cardFilter);
  // there before two ask for it at once
  await inTransaction(ctx.db, (sql) => lockBook(sql, mapping.id));
  const port = databasePort(
    { ...tools, ctx },
    { runId, mapping, cards, isUndo: head.undo_of !== null },
    options.chunk ?? CHUNK,
  );
  // what is taken back goes to what it was here, whatever the record holds
  const moved =
    plan.stopped === null && head.undo_of === null && (await takesFromRecords(ctx.db, runId))
      ? await movedSince(tools.connector, mapping.table, remoteFilter, closing.watermark)
      : new Set<string>();
  const applied = await applyPlan(mapping, plan, port, {
    ...options,
    approvedOnly: true,
    mayHaveMoved: (id) => moved === null || moved.has(id),
  });
  if (applied.status === 'lost')
    throw new RemoteError('answer_lost', `table ${mapping.table}`, applied.message!);
  return applied;
}

/**
 * Finds out what has become of the writes that an earlier run has sent without hearing of them again: a later plan would
 * take what has arrived for somebody's change.
 * @returns how many there were. @throws RemoteError when the remote cannot be asked.
 */
export async function settleRun(tools: ApplyTools, runId: string): Promise<number> {
  const ctx: Ctx = { ...tools.ctx, batch: { id: runId, toolName: 'itsm sync' } };
  const head = await readPlanHead(ctx.db, runId);
  const rows = await readBegunRows(ctx.db, runId);
  if (!head || rows.length === 0) return 0;
  const { mapping } = head.mapping as KeptMapping;
  const cards = await openCards(ctx, mapping, null);
  const port = databasePort(
    { ...tools, ctx },
    { runId, mapping, cards, isUndo: head.undo_of !== null },
    CHUNK,
  );
  await settleBegun({ mapping, planId: runId, port, options: {}, ended: new Map() }, rows.map(standingOf));
  return rows.length;
}

const standingOf = (row: StandingRow): Standing => ({
  row: planRowOf(row),
  progress: row.progress,
  approval: row.approval,
});

/** The values of a row that were not taken, as both sides hold them. */
function refusedValues({ row, outcome: { left = {}, madeId = '' } }: Ending): RefusedValue[] {
  const { side, agreed, diff } = row;
  return Object.entries(left).flatMap(([path, reason]) => {
    const [held, now] = [agreed[path], diff[path]?.old ?? null];
    if (side === null || held === undefined) return [];
    const local = side === 'local' ? now : held.local;
    const remote = side === 'remote' ? now : held.remote;
    const remote_id = row.remoteId ?? madeId;
    const card_id = row.cardId ?? madeId;
    return [{ remote_id, card_id, path, side, local, remote, reason }];
  });
}

/** The record for which no card was made. */
function refusedCards({ row: { action, side, remoteId, diff }, outcome }: Ending): RefusedCard[] {
  if (action !== 'create' || side !== 'local' || remoteId === null || outcome.progress !== 'refused')
    return [];
  const values = Object.fromEntries(Object.entries(diff).map(([path, { new: value }]) => [path, value]));
  return [{ remote_id: remoteId, values, reason: `No card can be made: ${outcome.message}` }];
}

/** Records that have changed since they were read for the plan; null where that cannot be told. */
async function movedSince(
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

/** The inventory, the book and the journal in PostgreSQL, and the remote through its connector. */
function databasePort(
  tools: ApplyTools,
  { runId, mapping, cards, isUndo }: { runId: string; mapping: Mapping; cards: CardReader; isUndo: boolean },
  chunk: number,
): EnginePort {
  const { ctx, signal, hold, mayWrite, onProgress } = tools;
  const mappingId = mapping.id;
  const removals = createRemovals(
    { connector: tools.connector, table: mapping.table },
    { sql: ctx.db, runId },
  );
  const remote = remotePort(tools.connector, mapping, removals);
  let done = 0;

  /** Holds the run and its book until the transaction ends. */
  const enter = async (sql: Knex.Transaction, how?: 'shared') => {
    signal.throwIfAborted();
    await hold({ sql });
    await lockBook(sql, mappingId, how);
  };
  const store = async (sql: Knex.Transaction, endings: readonly Ending[]) => {
    const changes = endings.flatMap((ending) => ending.changes);
    const ends = endings.map(({ row: { no }, outcome: { progress, message, madeId = null } }) => ({
      no,
      progress,
      message,
      made_id: madeId,
    }));
    // one does not wait for the other, so that it is put into words while the database works
    await Promise.all([storeBook(sql, mappingId, changes), noteEnded(sql, runId, ends)]);
    if (isUndo) return;
    await askRefused(sql, { mappingId, runId }, endings.flatMap(refusedValues));
    await askRefusedCards(sql, { mappingId, runId }, endings.flatMap(refusedCards));
  };
  const tell = async (ended: number) => {
    done += ended;
    await onProgress?.(done);
  };

  async function* standing() {
    for (let coming = walkStandingRows(ctx.db, runId, -1, chunk); ; ) {
      const rows = await coming;
      signal.throwIfAborted();
      done += rows.filter(({ progress }) => progress !== 'pending' && progress !== 'begun').length;
      const more = rows.length === chunk;
      if (more) {
        // read while these are applied; what becomes of them changes nothing of others
        coming = walkStandingRows(ctx.db, runId, rows.at(-1)!.no, chunk);
        coming.catch(() => {});
      }
      if (rows.length > 0) {
        yield rows.map(standingOf);
      }
      if (!more) return;
    }
  }

  return {
    ...remote,
    rows: () => inLanes(standing()),
    keepRemoved: (rows) => removals.keep(rows),
    async writeLocal(steps) {
      const lanes = lanesOf(steps, chunk);
      const how = lanes.length > 1 ? 'shared' : undefined;
      const written = await Promise.allSettled(
        lanes.map(async (lane) => {
          const endings = await command(ctx, async (work) => {
            await enter(work.sql, how);
            const taken = await takeSteps({ ctx, mappingId, cards }, work, lane);
            await store(work.sql, taken);
            return taken;
          });
          await tell(endings.length);
          return endings.map(({ outcome }) => outcome);
        }),
      );
      // nothing is under way any more when a lane that failed is told
      return written.flatMap((lane) => {
        if (lane.status === 'rejected') throw lane.reason;
        return lane.value;
      });
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
        await noteBegun(
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
    async whoIs(remoteIds, cardIds) {
      const { pairs, redirects } = await loadPairs(ctx.db, mappingId, { remoteIds, cardIds });
      return identities({ ...emptyBook(), pairs }, redirects);
    },
    // the caller closes the plan when no row waits any more
    close: async () => {},
  };
}
