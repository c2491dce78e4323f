import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { callerOfJob } from '../domain/access/jobs.owner.ts';
import { type Caller, systemCaller } from '../domain/kernel/context.ts';
import { checkPayload } from '../domain/kernel/jobs/jobs.define.ts';
import {
  type ClaimedRow,
  claimRun,
  completeRun,
  endRun,
  finishRun,
  type Lease,
  lockRun,
  MAX_DEATHS,
  requeueRun,
  storeProgress,
  storeStep,
} from '../domain/kernel/jobs/jobs.lease.ts';
import {
  JobCancelled,
  JobFailed,
  JobInterrupted,
  JobLeaseLost,
  type JobProcessor,
  type JobStep,
  JobStopped,
  type RunningJob,
} from '../domain/kernel/jobs/jobs.running.ts';
import { createContext, type Services } from '../domain/kernel/services.ts';
import { type Db, inTransaction, isConnectionLoss } from '../platform/database.ts';
import { EstateError, isStorageFull } from '../platform/errors.ts';
import type { Logger } from '../platform/logging.ts';
import type { QueuedRun } from '../platform/queue/queue.types.ts';
import { type KeptLease, keepLease } from './lease.ts';

const PROGRESS_MS = 1_000;
const STORE_RETRY_MS = 500;
/** How long an outcome is tried to be stored while the database is away; then the lease has long expired. */
const STORE_LIMIT_MS = 30_000;

export interface Runner {
  /** Carries out a run that the queue has brought. Never rejects for what happens inside the job. */
  run(queued: QueuedRun): Promise<void>;
  /** Looks at once whether a job is to stop; without an id at all of them. */
  check(id?: string): void;
  /** Resolves when no run is under way. */
  idle(): Promise<void>;
  /** Tells all runs to stop, and gives back those that have not within `graceMs`. */
  interrupt(graceMs: number): Promise<void>;
}

interface ActiveRun {
  lease: Lease;
  kept: KeptLease;
  stop: AbortController;
  ended: Promise<void>;
}

export interface RunnerOptions {
  services: Services;
  /** Connections of their own, so that heartbeats never wait behind the jobs' work. */
  leases: Db;
  processors: readonly JobProcessor[];
}

/** Carries out runs under leases and sees to it that each ends in its row. */
export function createRunner({ services, leases, processors }: RunnerOptions): Runner {
  const byKind = new Map(processors.map((processor) => [processor.definition.kind, processor]));
  const active = new Set<ActiveRun>();
  let interrupted = false;

  const carryOut = async (row: ClaimedRow, lease: Lease, stop: AbortController, log: Logger) => {
    const processor = byKind.get(row.kind);
    if (!processor) {
      log.warn('this worker does not know the kind of the job; another one may');
      await store(() => requeueRun(leases, lease, 'crash'));
      return;
    }
    const progress = createProgress(leases, lease);
    let begun = false;
    try {
      if (row.deaths >= MAX_DEATHS) throw deadly(row);
      const caller = await callerOfJob(services.db, row.owner_id, row.rights);
      const job = await createRunningJob(services, processor, row, lease, caller, stop.signal, progress.tell);
      begun = true;
      const result = await processor.run({ ...job, ctx: { ...job.ctx, log } }, services);
      progress.stop();
      // false where the processor has finished the job itself
      await store(() => completeRun(leases, lease, result));
      log.info('the job has ended');
    } catch (error) {
      progress.stop();
      const reason = error instanceof JobStopped ? error : stop.signal.reason;
      await endBadly(processor, row, lease, reason ?? error, begun, log);
    }
  };

  const endBadly = async (
    processor: JobProcessor,
    row: ClaimedRow,
    lease: Lease,
    error: unknown,
    begun: boolean,
    log: Logger,
  ) => {
    if (error instanceof JobLeaseLost) {
      log.warn('the lease of the job was lost; the run has stopped');
    } else if (error instanceof JobCancelled) {
      await store(() => endRun(leases, lease, { status: 'cancelled' }));
      log.info('the job was cancelled');
    } else if (error instanceof JobInterrupted) {
      await store(() => requeueRun(leases, lease, 'interrupted'));
      log.info('the job was interrupted; another worker goes on with it');
    } else if (isConnectionLoss(error)) {
      log.warn({ err: error }, 'the job lost its database; it will go on');
      await store(() => requeueRun(leases, lease, 'crash'));
    } else if (isStorageFull(error)) {
      log.warn({ err: error }, 'no space is left; the job waits for room and goes on');
      await store(() => requeueRun(leases, lease, 'full'));
    } else if (
      !(error instanceof JobFailed) &&
      !(error instanceof EstateError && error.status < 500) &&
      row.failures + 1 < processor.definition.attempts
    ) {
      log.warn({ err: error }, 'the job failed; it will run again');
      const { longestWaitSeconds } = processor.definition;
      await store(() => requeueRun(leases, lease, 'failure', longestWaitSeconds));
    } else {
      log.warn({ err: error }, 'the job failed');
      await store(() => giveUp(processor, row, lease, publicError(error, row.id), begun, log));
    }
  };

  /** Ends the job and tells whom it concerns in one transaction; ends it alone where that cannot be told. */
  const giveUp = async (
    processor: JobProcessor,
    row: ClaimedRow,
    lease: Lease,
    error: EstateError,
    begun: boolean,
    log: Logger,
  ): Promise<boolean> => {
    const end = { status: 'failed' as const, error: { code: error.code, message: error.message } };
    if (!processor.failed) return await endRun(leases, lease, end);
    const ctx = await createContext(services, systemCaller, {
      requestId: row.request_id ?? row.id,
      origin: 'system',
      tool: `job ${row.kind}`,
      jobId: row.id,
    });
    try {
      return await inTransaction(services.db, async (sql) => {
        if (!(await endRun(sql, lease, end))) return false;
        await processor.failed!(
          { sql },
          { id: row.id, payload: row.payload, slot: row.slot, ctx, error, begun },
        );
        return true;
      });
    } catch (failure) {
      if (isConnectionLoss(failure)) throw failure;
      log.error({ err: failure }, 'nobody could be told that the job has failed');
      return await endRun(leases, lease, end);
    }
  };

  const run = async (queued: QueuedRun): Promise<void> => {
    if (interrupted) return;
    const owner = `${process.pid}/${randomUUID()}`;
    const row = await claimRun(leases, queued, owner).catch((error) => {
      // it stays queued, and is handed over again
      services.log.warn({ err: error, job: queued.id }, 'a job could not be begun');
      throw error;
    });
    if (!row) return;
    const lease = { id: row.id, owner };
    const log = services.log.child({
      job: row.id,
      kind: row.kind,
      attempt: row.attempt,
      request: row.request_id,
    });
    log.info('the job begins');
    const stop = new AbortController();
    const kept = keepLease(leases, lease, log, (reason) => stop.abort(reason));
    if (interrupted) stop.abort(new JobInterrupted());
    const entry: ActiveRun = { lease, kept, stop, ended: Promise.resolve() };
    entry.ended = carryOut(row, lease, stop, log)
      // the outcome could not be stored: the lease expires and the job runs again
      .catch((error) => log.error({ err: error }, 'the outcome of the job could not be stored'))
      .finally(() => {
        kept.stop();
        active.delete(entry);
      });
    active.add(entry);
    await entry.ended;
  };

  return {
    run,
    check(id) {
      for (const entry of active) if (id === undefined || entry.lease.id === id) entry.kept.check();
    },
    async idle() {
      while (active.size > 0) await Promise.all([...active].map(({ ended }) => ended));
    },
    async interrupt(graceMs) {
      interrupted = true;
      for (const { stop } of active) stop.abort(new JobInterrupted());
      await Promise.race([
        Promise.all([...active].map(({ ended }) => ended)),
        delay(graceMs, undefined, { ref: false }),
      ]);
      for (const { lease, kept } of active) {
        kept.stop();
        await requeueRun(leases, lease, 'interrupted');
      }
    },
  };
}

async function createRunningJob(
  services: Services,
  { definition }: JobProcessor,
  row: ClaimedRow,
  lease: Lease,
  caller: Caller,
  signal: AbortSignal,
  progress: RunningJob['progress'],
): Promise<RunningJob> {
  return {
    id: row.id,
    kind: row.kind,
    attempt: row.attempt,
    payload: checkPayload(definition, row.payload),
    slot: row.slot,
    ctx: await createContext(services, caller, {
      requestId: row.request_id ?? row.id,
      origin: caller === systemCaller ? 'system' : 'job',
      tool: `job ${row.kind}`,
      jobId: row.id,
    }),
    signal,
    resume: definition.resumable ? row.checkpoint : null,
    counts: definition.resumable ? (row.counts ?? {}) : {},
    checkpoint: (work, step) => storeStep(work.sql, lease, step),
    hold: (work) => lockRun(work, lease),
    progress,
    finish: (work, result) => finishRun(work, lease, result),
  };
}

/** Progress told at most once a second; the last word of a second wins. */
function createProgress(db: Db, lease: Lease): { tell: RunningJob['progress']; stop(): void } {
  let pending: JobStep = {};
  let timer: NodeJS.Timeout | undefined;
  let last = Number.NEGATIVE_INFINITY;
  let stopped = false;
  const tell = () => {
    timer = undefined;
    last = performance.now();
    const step = pending;
    pending = {};
    // news only: a stop is noticed by the heartbeat and by every checkpoint
    storeProgress(db, lease, step).catch(() => undefined);
  };
  return {
    tell(progress, message, counts) {
      if (stopped) return;
      pending = { progress, message: message ?? pending.message, counts: counts ?? pending.counts };
      timer ??= setTimeout(tell, Math.max(0, last + PROGRESS_MS - performance.now()));
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Stores an outcome, waiting for a database that is away or full. */
async function store<T>(write: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + STORE_LIMIT_MS;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      const passes = isConnectionLoss(error) || isStorageFull(error);
      if (!passes || performance.now() > deadline) throw error;
      await delay(STORE_RETRY_MS);
    }
  }
}

/** Why a job is not carried out any more by which worker after worker was lost. */
function deadly({ id, deaths }: ClaimedRow): JobFailed {
  return new JobFailed(
    'worker_lost',
    `${deaths} workers in a row were lost with the job before it got on, killed or out of memory perhaps; their logs tell more under its id ${id}.`,
  );
}

/** What the owner is told. Internals stay in the log, found there by the job's id. */
function publicError(error: unknown, id: string): EstateError {
  if (error instanceof EstateError) return error;
  return new EstateError('internal', `The job failed unexpectedly; the log tells why under its id ${id}.`);
}
