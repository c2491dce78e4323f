import { lockSyncState, requireActive } from '../../../../domain/exchange/itsm/itsm.load.ts';
import type { RunRow, RunStats } from '../../../../domain/exchange/itsm/itsm.model.ts';
import {
  changeRun,
  endRejectedRows,
  loadRun,
  logRun,
} from '../../../../domain/exchange/itsm/runs.commands.ts';
import { command } from '../../../../domain/kernel/command.ts';
import type { JobResult } from '../../../../domain/kernel/jobs/jobs.running.ts';
import { inTransaction } from '../../../../platform/database.ts';
import { EstateError } from '../../../../platform/errors.ts';
import type { Connector } from '../connectors/connector.ts';
import { verifyRows } from '../engine/apply.ts';
import { readBudget } from '../limiter/limiter.ts';
import { applyRun } from '../port/apply.run.ts';
import { deleteUnrelatedLinks } from '../store/links.ts';
import { commitDeferred } from '../store/observed.ts';
import {
  countOutcomes,
  endInformativeRows,
  findUnappliedRecords,
  type OutcomeCount,
  readAppliedAtRemote,
} from '../store/plan-rows.ts';
import { loadPairs, storeChanges } from '../store/sync-state.ts';
import type { RunClosing } from './run.plan.ts';
import type { RunJob, RunMapping, Stopwatch } from './run.state.ts';

/** The number of rows that are verified together. */
const CHUNK = 200;
/**
 * The number of remote rows in a batch, and of concurrent writes: enough that only the account's limits determine the speed, and
 * few enough that a record is written soon after it was read.
 */
const REMOTE_BATCH = 100;
const CONCURRENCY = 10;
/** The maximum number of findings that are logged. */
const MAX_LOGGED_FINDINGS = 100;

/**
 * Applies the approved rows of a plan, verifies the remote writes, and ends the run unless rows are still undecided.
 * @param calls returns the number of requests that the run has sent.
 */
export async function applyStage(
  job: RunJob,
  run: RunRow,
  connector: Connector,
  { calls, watch: { seconds, timed } }: { calls: () => number; watch: Stopwatch },
): Promise<JobResult> {
  const rows = Object.values(run.stats.planned ?? {}).reduce((sum, n) => sum + n, 0);
  const applied = await timed('apply', () =>
    applyRun(
      {
        ctx: job.ctx,
        connector,
        signal: job.signal,
        lockRun: (work) => job.lock(work),
        requireWritable: (sql) => requireActive(sql, run.connection_id),
        onProgress: (ended) => storeProgress(job, ended, rows),
      },
      run.id,
      { remoteBatch: REMOTE_BATCH, concurrency: CONCURRENCY },
    ),
  );
  if (applied.status === 'stopped')
    throw new EstateError('wrong_state', `The plan was stopped: ${applied.message}`);
  await enterVerify(job, run.id);
  const findings = await timed('verify', () => verifyRemote(job, run, connector));
  const budget = await readBudget(connector.limiter);
  return await finishRun(job, run.id, { remoteCalls: calls(), seconds, findings, budget });
}

/** Stores the progress of the job. */
async function storeProgress(job: RunJob, ended: number, rows: number): Promise<void> {
  const progress = Math.min(0.5 + (0.45 * ended) / Math.max(rows, 1), 0.95);
  await inTransaction(job.ctx.db, (sql) =>
    job.checkpoint({ sql }, { progress, message: `${ended} rows applied` }),
  );
}

/** Begins the verification. Deletes the findings of an interrupted one. */
async function enterVerify(job: RunJob, id: string): Promise<void> {
  await inTransaction(job.ctx.db, async (sql) => {
    await job.lock({ sql });
    await sql('itsm_runs').where({ id }).update({ stage: 'verify' });
    await sql('itsm_run_log').where({ run_id: id, stage: 'verify' }).delete();
  });
}

/**
 * Verifies the remote writes by reading the records again. Local writes were stored in the same transaction as their outcomes.
 * @returns the number of findings.
 */
async function verifyRemote(job: RunJob, run: RunRow, connector: Connector): Promise<number> {
  const { db } = job.ctx;
  const mapping = run.mapping as RunMapping;
  const columns = [...new Set(mapping.fields.map(({ remote_field: remote }) => remote))];
  let count = 0;
  for (let after = -1; ; ) {
    job.signal.throwIfAborted();
    const rows = await readAppliedAtRemote(db, run.id, after, CHUNK);
    if (rows.length === 0) return count;
    after = rows.at(-1)!.row.no;
    const remoteIds = rows.flatMap(({ row, createdId }) => row.remoteId ?? createdId ?? []);
    const records = await connector.readByIds(mapping.remote_table, remoteIds, columns);
    const { pairs } = await loadPairs(db, mapping.id, { remoteIds });
    const found = verifyRows(mapping, rows, { pairs, records });
    for (const { no, message } of found.slice(0, Math.max(MAX_LOGGED_FINDINGS - count, 0)))
      await logRun(db, run.id, 'verify', 'warning', `Row ${no}: ${message}`);
    count += found.length;
  }
}

/** Statistics of a run besides those of its rows. */
interface RunEffort {
  remoteCalls: number;
  seconds: Record<string, number>;
  findings: number;
  budget?: RunStats['budget'];
}

/**
 * Completes a run whose rows have ended or were rejected, and advances the sync state. If rows are undecided, the run returns to
 * review.
 */
export async function finishRun(job: RunJob, runId: string, done: RunEffort): Promise<JobResult> {
  return await command(job.ctx, async (work) => {
    const { sql } = work;
    const run = await loadRun(sql, runId, 'for update');
    await endInformativeRows(sql, runId);
    const outcomes = await countOutcomes(sql, runId);
    const stats = statsOf(outcomes, done);
    await sql('itsm_runs').where({ id: runId }).update({ remote_calls: done.remoteCalls });
    const isUndecided = outcomes.some(({ isUndecided }) => isUndecided);
    const result = { result: { run_id: runId }, counts: countsOf(stats) };
    if (isUndecided) {
      await changeRun(work, runId, 'itsm_run.partly_applied', { status: 'review', stage: 'review' }, stats);
      await job.finish({ sql }, { ...result, message: 'the rest of the plan waits for review' });
      return result;
    }
    await endRejectedRows(sql, runId);
    const syncState = await lockSyncState(sql, run.mapping_id);
    const before = new Set((run.mapping as RunMapping).again);
    const later = syncState.again.filter((id) => !before.has(id));
    const { again, absences, ...progress } = run.closing as RunClosing;
    await storeChanges(
      sql,
      run.mapping_id,
      Object.entries(absences).map(([remoteId, count]) => ({ op: 'absences', remoteId, absences: count })),
    );
    const readAgain = new Set([...again, ...later, ...(await findUnappliedRecords(sql, runId))]);
    await sql('itsm_sync_states')
      .where({ mapping_id: run.mapping_id })
      .update({ ...progress, again: [...readAgain].sort() });
    await commitDeferred(sql, run.mapping_id, runId);
    if ((run.mapping as RunMapping).relations.length > 0)
      await deleteUnrelatedLinks(sql, run.mapping_id, runId);
    await logRun(sql, runId, 'done', 'info', 'The run is done.');
    await changeRun(
      work,
      runId,
      'itsm_run.completed',
      { status: 'completed', stage: 'done', completed_at: sql.raw('clock_timestamp()') },
      stats,
    );
    await job.finish({ sql }, { ...result, message: 'done' });
    return result;
  });
}

/** A rejected row counts as skipped, also while the run still waits for decisions on other rows. */
const outcomeOf = ({ progress, approval }: OutcomeCount) =>
  progress === 'pending' && approval === 'rejected' ? 'skipped' : progress;

function statsOf(counted: readonly OutcomeCount[], { seconds, findings, budget }: RunEffort): RunStats {
  const sum = (which: (one: OutcomeCount) => boolean) =>
    counted.reduce((total, one) => total + (which(one) ? one.n : 0), 0);
  const outcomes: Record<string, number> = {};
  const applied: Record<string, number> = {};
  for (const one of counted) {
    const { action, progress, n } = one;
    const outcome = outcomeOf(one);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + n;
    if (progress === 'applied') applied[action] = (applied[action] ?? 0) + n;
  }
  const written = (action: string) =>
    sum((one) => one.action === action && one.progress === 'applied' && one.isWrite);
  return {
    processed: sum((one) => !['pending', 'started'].includes(outcomeOf(one))),
    created: applied.create ?? 0,
    updated: applied.update ?? 0,
    deleted: applied.delete ?? 0,
    relations_created: written('relate'),
    relations_deleted: written('unrelate'),
    skipped: outcomes.skipped ?? 0,
    errors: sum(({ progress }) => progress === 'stale' || progress === 'refused'),
    applied,
    outcomes,
    findings,
    seconds,
    budget: budget ?? null,
  };
}

const countedMembers = [
  'created',
  'updated',
  'deleted',
  'relations_created',
  'relations_deleted',
  'skipped',
  'errors',
] as const;
const countsOf = (stats: RunStats) =>
  Object.fromEntries(countedMembers.map((member) => [member, stats[member] ?? 0]));
