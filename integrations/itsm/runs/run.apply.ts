import { requireActive } from '../../../domain/exchange/itsm/connections.load.ts';
import { appliedOutside } from '../../../domain/exchange/itsm/runs.plan.ts';
import { logRun } from '../../../domain/exchange/itsm/runs.store.ts';
import type { RunRow } from '../../../domain/exchange/itsm/runs.types.ts';
import type { JobResult } from '../../../domain/kernel/jobs/jobs.running.ts';
import { inTransaction } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import type { OpenedRemote } from '../connections/connections.kinds.ts';
import type { Connector, RemoteLook } from '../connectors/connector.ts';
import { type Finding, verifyPlan } from '../engine/apply.check.ts';
import type { Outcome, RemoteState } from '../engine/plan.types.ts';
import { budgetLeft } from '../limiter/limiter.ts';
import { applyRun } from '../port/apply.run.ts';
import { loadBookPart } from '../port/book.rows.ts';
import { planRowOf } from '../port/plan.rows.ts';
import type { RunJob, RunMapping } from './run.begin.ts';
import { finishRun } from './run.finish.ts';
import type { Stopwatch } from './run.stopwatch.ts';

/** Rows that are looked at together. */
const CHUNK = 200;
/**
 * Rows that are written outside together, how many such parts are under way, and how many writes of each at once: enough
 * that the limits of the account alone set the pace, also while a part is noted and looked at; few enough that what was
 * looked at before is still young when it is written.
 */
const REMOTE_BATCH = 100;
const PARTS_AT_ONCE = 2;
const AT_ONCE = 10;
/** Findings that the log tells one by one. */
const TOLD = 100;

/**
 * Applies the approved rows of a plan, looks at what was written outside, and ends the run, unless rows still wait for a
 * person's word.
 * @param calls how many requests the run has sent so far; @param watch how long its stages take.
 */
export async function applyStage(
  job: RunJob,
  run: RunRow,
  connector: OpenedRemote,
  { calls, watch: { seconds, timed } }: { calls: () => number; watch: Stopwatch },
): Promise<JobResult> {
  const rows = Object.values(run.stats.planned ?? {}).reduce((sum, n) => sum + n, 0);
  const applied = await timed('apply', () =>
    applyRun(
      {
        ctx: job.ctx,
        connector,
        signal: job.signal,
        hold: (work) => job.hold(work),
        mayWrite: (sql) => requireActive(sql, run.connection_id),
        onProgress: (ended) => storeProgress(job, ended, rows),
      },
      run.id,
      { remoteBatch: REMOTE_BATCH, partsAtOnce: PARTS_AT_ONCE, atOnce: AT_ONCE },
    ),
  );
  if (applied.status === 'stopped')
    throw new EstateError('wrong_state', `The plan was stopped: ${applied.message}`);
  await enterVerify(job, run.id);
  const findings = await timed('verify', () => verifyOutside(job, run, connector));
  const budget = await budgetLeft(connector);
  return await finishRun(job, run.id, { remoteCalls: calls(), seconds, findings, budget });
}

/** A worker that is lost leaves behind how far it has come. */
async function storeProgress(job: RunJob, ended: number, rows: number): Promise<void> {
  const progress = Math.min(0.5 + (0.45 * ended) / Math.max(rows, 1), 0.95);
  await inTransaction(job.ctx.db, (sql) =>
    job.checkpoint({ sql }, { progress, message: `${ended} rows applied` }),
  );
}

/** What a process that was killed has told of its look is told anew. */
async function enterVerify(job: RunJob, id: string): Promise<void> {
  await inTransaction(job.ctx.db, async (sql) => {
    await job.hold({ sql });
    await sql('itsm_runs').where({ id }).update({ stage: 'verify' });
    await sql('itsm_run_log').where({ run_id: id, stage: 'verify' }).delete();
  });
}

/**
 * Reads again what was written outside. What was written here was stored together with its outcome, and needs no
 * second look.
 * @returns how many rows are not as they were left.
 */
async function verifyOutside(job: RunJob, run: RunRow, connector: Connector): Promise<number> {
  const { db } = job.ctx;
  const { mapping } = run.mapping as RunMapping;
  const columns = [...new Set(mapping.fields.map(({ remote }) => remote))];
  let count = 0;
  for (let after = -1; ; ) {
    job.signal.throwIfAborted();
    const rows = await appliedOutside(db, run.id, after, CHUNK);
    if (rows.length === 0) return count;
    after = rows.at(-1)!.no;
    const remoteIds = rows.flatMap(({ remote_id, made_id }) => remote_id ?? made_id ?? []);
    const looks = await connector.readByIds(mapping.table, remoteIds, columns);
    const { book } = await loadBookPart(db, mapping.id, { remoteIds });
    const outcomes = new Map(
      rows.map(({ no, made_id: madeId }): [number, Outcome] => [
        no,
        { progress: 'applied', message: null, ...(madeId === null ? {} : { madeId }) },
      ]),
    );
    const plan = { rows: rows.map(planRowOf) };
    const found = verifyPlan(mapping, plan, { outcomes, book, cards: new Map(), records: statesOf(looks) });
    await tell(job, run, found.slice(0, Math.max(TOLD - count, 0)));
    count += found.length;
  }
}

const statesOf = (looks: ReadonlyMap<string, RemoteLook>): Map<string, RemoteState> =>
  new Map(
    [...looks].map(([id, look]) => [
      id,
      look.kind === 'unknown' ? { kind: 'unknown', message: 'it is kept back' } : look,
    ]),
  );

async function tell(job: RunJob, run: RunRow, findings: Finding[]): Promise<void> {
  for (const { no, message } of findings)
    await logRun(job.ctx.db, run.id, 'verify', 'warning', `Row ${no}: ${message}`);
}
