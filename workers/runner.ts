import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { callerOfJob, keepsRights } from '../domain/access/jobs.owner.ts';
import { recordEvents } from '../domain/kernel/command.ts';
import { type Caller, systemCaller } from '../domain/kernel/context.ts';
import type { EventDraft } from '../domain/kernel/events/row-changes.ts';
import { checkPayload } from '../domain/kernel/jobs/jobs.define.ts';
import {
  type ClaimedRow,
  claimRun,
  completeRun,
  endRun,
  finishRun,
  LEASE_SECONDS,
  type Lease,
  lockRun,
  MAX_CRASHES,
  renewLease,
  requeueRun,
  storeProgress,
  storeStep,
} from '../domain/kernel/jobs/jobs.lease.ts';
import {
  type EndedJob,
  JobCancelled,
  type JobEndTransaction,
  JobFailed,
  JobInterrupted,
  JobLeaseLost,
  type JobProcessor,
  type JobStep,
  JobStopped,
  type RunningJob,
} from '../domain/kernel/jobs/jobs.running.ts';
import { createContext, type Services, systemContext } from '../domain/kernel/services.ts';
import { type Db, inTransaction, isConnectionLoss } from '../platform/database.ts';
import { EstateError, isStorageFull } from '../platform/errors.ts';
import type { Logger } from '../platform/logging.ts';
import type { QueuedRun } from '../platform/queue/queue.ts';

const HEARTBEAT_MS = 2_000;

interface LeaseRenewal {
  /** Renews the lease now instead of at the next heartbeat. */
  check(): void;
  /** Ends the heartbeats. */
  release(): void;
}

/**
 * Renews a lease every two seconds, and calls `onStop` when the run has to stop: it was cancelled, another worker has the lease,
 * the lease was not renewed for so long that another worker may have it, or the run is no longer allowed: started again, it
 * gets the rights that its owner has then.
 */
function startLeaseRenewal(
  db: Db,
  lease: Lease,
  log: Logger,
  onStop: (reason: JobStopped) => void,
  isAllowed: () => Promise<boolean>,
): LeaseRenewal {
  let renewedAt = performance.now();
  let isRenewing = false;
  let isReleased = false;

  const renew = async () => {
    if (isRenewing || isReleased) return;
    isRenewing = true;
    const askedAt = performance.now();
    try {
      const state = await renewLease(db, lease);
      renewedAt = askedAt;
      if (isReleased) return;
      if (state !== 'held') onStop(state === 'lost' ? new JobLeaseLost() : new JobCancelled());
      else if (!(await isAllowed())) {
        log.info('the owner of the job has fewer rights than at its start');
        onStop(new JobInterrupted());
      }
    } catch (error) {
      log.warn({ err: error }, 'the heartbeat of a job failed');
    } finally {
      isRenewing = false;
    }
  };
  const timer = setInterval(() => {
    if (performance.now() - renewedAt > LEASE_SECONDS * 1000) onStop(new JobLeaseLost());
    void renew();
  }, HEARTBEAT_MS);

  return {
    check: () => void renew(),
    release() {
      isReleased = true;
      clearInterval(timer);
    },
  };
}

const PROGRESS_MS = 1_000;
const STORE_RETRY_MS = 500;
/** How long storing an outcome is retried while the database is unavailable; the lease has long expired by then. */
const STORE_LIMIT_MS = 30_000;

interface Runner {
  /** Executes a run that the queue delivered. Never rejects because of errors of the job. */
  run(queued: QueuedRun): Promise<void>;
  /** Checks at once whether a job has to stop; without an id all of them. */
  check(id?: string): void;
  /** Resolves when no run is active. */
  idle(): Promise<void>;
  /** Stops all runs, and requeues those that have not ended within `graceMs`. */
  interrupt(graceMs: number): Promise<void>;
}

interface RunnerOptions {
  services: Services;
  /** Connections for leases alone, so that heartbeats never wait behind the work of jobs. */
  leases: Db;
  processors: readonly JobProcessor[];
}

/** A run with its lease. */
interface ActiveRun {
  processor: JobProcessor;
  row: ClaimedRow;
  lease: Lease;
  held: LeaseRenewal;
  /** Who acts; undefined before the processor is called. */
  caller: Caller | undefined;
  stop: AbortController;
  log: Logger;
  /** Whether the processor was called. */
  isStarted: boolean;
}

/** Executes runs under leases and stores how each ends. */
export function createRunner({ services, leases, processors }: RunnerOptions): Runner {
  const byKind = new Map(processors.map((processor) => [processor.definition.kind, processor]));
  const active = new Map<ActiveRun, Promise<void>>();
  let isInterrupted = false;

  const run = async (queued: QueuedRun): Promise<void> => {
    if (isInterrupted) return;
    const owner = `${process.pid}/${randomUUID()}`;
    const row = await claimRun(leases, queued, owner).catch((error) => {
      // It stays queued, and is enqueued again.
      services.log.warn({ err: error, job: queued.id }, 'a job could not be claimed');
      throw error;
    });
    if (!row) return;
    const { id, kind, attempt, request_id } = row;
    const lease = { id, owner };
    const log = services.log.child({ job: id, kind, attempt, request: request_id });
    const processor = byKind.get(kind);
    if (!processor) {
      log.warn('this worker does not know the kind of the job; another one may');
      await store(() => requeueRun(leases, lease, 'crash'));
      return;
    }
    log.info('the job has started');
    const stop = new AbortController();
    const held = startLeaseRenewal(
      leases,
      lease,
      log,
      (reason) => stop.abort(reason),
      async () => !entry.caller || (await keepsRights(leases, row, entry.caller)),
    );
    if (isInterrupted) stop.abort(new JobInterrupted());
    const entry: ActiveRun = { processor, row, lease, held, stop, log, caller: undefined, isStarted: false };
    const ended = execute(services, leases, entry)
      // The outcome could not be stored: the lease expires and the job runs again.
      .catch((error) => log.error({ err: error }, 'the outcome of the job could not be stored'))
      .finally(() => {
        held.release();
        active.delete(entry);
      });
    active.set(entry, ended);
    await ended;
  };

  return {
    run,
    check(id) {
      for (const { lease, held } of active.keys()) if (id === undefined || lease.id === id) held.check();
    },
    async idle() {
      while (active.size > 0) await Promise.all(active.values());
    },
    async interrupt(graceMs) {
      isInterrupted = true;
      for (const { stop } of active.keys()) stop.abort(new JobInterrupted());
      await Promise.race([Promise.all(active.values()), delay(graceMs, undefined, { ref: false })]);
      for (const { lease, held } of active.keys()) {
        held.release();
        await requeueRun(leases, lease, 'interrupted');
      }
    },
  };
}

/** Executes a run and stores its outcome. */
async function execute(services: Services, leases: Db, run: ActiveRun): Promise<void> {
  const { processor, row, lease, stop, log } = run;
  const progress = createProgress(leases, lease);
  try {
    if (row.crashes_without_progress >= MAX_CRASHES)
      throw new JobFailed(
        'worker_lost',
        `${row.crashes_without_progress} workers in a row were lost with the job before it made progress, possibly killed or out of memory; see their logs for the id ${row.id}.`,
      );
    const job = await createRunningJob(services, run, progress.report);
    run.caller = job.ctx.caller;
    run.isStarted = true;
    const result = await processor.run(job, services);
    progress.stop();
    // False if the processor has finished the job itself.
    await store(() => completeRun(leases, lease, result ?? {}));
    log.info('the job has ended');
  } catch (error) {
    progress.stop();
    await handleError(
      services,
      leases,
      run,
      error instanceof JobStopped ? error : (stop.signal.reason ?? error),
    );
  }
}

async function handleError(services: Services, leases: Db, run: ActiveRun, error: unknown): Promise<void> {
  const { processor, row, lease, log } = run;
  if (error instanceof JobLeaseLost) {
    log.warn('the lease of the job was lost; the run has stopped');
  } else if (error instanceof JobCancelled) {
    const { cancelled } = processor;
    await store(() => endJob(services, leases, run, { status: 'cancelled' }, cancelled));
    log.info('the job was cancelled');
  } else if (error instanceof JobInterrupted) {
    await store(() => requeueRun(leases, lease, 'interrupted'));
    log.info('the job was interrupted; another worker resumes it');
  } else if (isConnectionLoss(error)) {
    log.warn({ err: error }, 'the job lost its database connection; it will resume');
    await store(() => requeueRun(leases, lease, 'crash'));
  } else if (isStorageFull(error)) {
    log.warn({ err: error }, 'no space is left; the job waits for space and resumes');
    await store(() => requeueRun(leases, lease, 'full'));
  } else if (isRetryable(error) && row.failures + 1 < processor.definition.attempts) {
    log.warn({ err: error }, 'the job failed; it will run again');
    await store(() => requeueRun(leases, lease, 'failure', processor.definition.longestWaitSeconds));
  } else {
    log.warn({ err: error }, 'the job failed');
    const failure = publicError(error, row.id);
    const { failed } = processor;
    const end = { status: 'failed' as const, error: { code: failure.code, message: failure.message } };
    const record =
      failed && ((work: JobEndTransaction, job: EndedJob) => failed(work, { ...job, error: failure }));
    await store(() => endJob(services, leases, run, end, record));
  }
}

const isRetryable = (error: unknown): boolean =>
  !(error instanceof JobFailed) && !(error instanceof EstateError && error.status < 500);

/** Ends the job and records it by `record` in one transaction; only ends the job if recording fails. */
async function endJob(
  services: Services,
  leases: Db,
  { row, lease, isStarted, log }: ActiveRun,
  end: Parameters<typeof endRun>[2],
  record: JobProcessor['cancelled'],
): Promise<boolean> {
  if (!record) return await endRun(leases, lease, end);
  const ctx = await systemContext(services, `job ${row.kind}`, jobOf(row));
  const { id, payload, slot } = row;
  try {
    return await inTransaction(services.db, async (sql) => {
      if (!(await endRun(sql, lease, end))) return false;
      const events: EventDraft[] = [];
      const emit = (event: EventDraft) => void events.push(event);
      await record({ sql, emit }, { id, payload, slot, ctx, isStarted });
      await recordEvents(sql, ctx, events, []);
      return true;
    });
  } catch (error) {
    if (isConnectionLoss(error)) throw error;
    log.error({ err: error }, 'the end of the job could not be recorded');
    return await endRun(leases, lease, end);
  }
}

const jobOf = ({ id, request_id }: ClaimedRow) => ({ id, requestId: request_id ?? id });

async function createRunningJob(
  services: Services,
  { processor: { definition }, row, lease, stop, log }: ActiveRun,
  progress: RunningJob['progress'],
): Promise<RunningJob> {
  const caller = await callerOfJob(services.db, row.owner_id, row.rights);
  const ctx = await createContext(services, caller, {
    requestId: row.request_id ?? row.id,
    origin: caller === systemCaller ? 'system' : 'job',
    tool: `job ${row.kind}`,
    jobId: row.id,
  });
  return {
    id: row.id,
    kind: row.kind,
    attempt: row.attempt,
    payload: checkPayload(definition, row.payload),
    slot: row.slot,
    ctx: { ...ctx, log },
    signal: stop.signal,
    resume: definition.resumable ? row.checkpoint : null,
    counts: definition.resumable ? (row.counts ?? {}) : {},
    checkpoint: (work, step) => storeStep(work.sql, lease, step),
    lock: (work) => lockRun(work, lease),
    progress,
    finish: (work, result) => finishRun(work, lease, result),
  };
}

/** Stores progress at most once a second; the last report of a second wins. */
function createProgress(db: Db, lease: Lease): { report: RunningJob['progress']; stop(): void } {
  let pending: JobStep = {};
  let timer: NodeJS.Timeout | undefined;
  let storedAt = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  const flush = () => {
    timer = undefined;
    storedAt = performance.now();
    // Errors are ignored: a lost lease is detected by the heartbeat and by every checkpoint.
    storeProgress(db, lease, pending).catch(() => undefined);
    pending = {};
  };
  return {
    report(progress, message, counts) {
      if (isStopped) return;
      pending = { progress, message: message ?? pending.message, counts: counts ?? pending.counts };
      timer ??= setTimeout(flush, Math.max(0, storedAt + PROGRESS_MS - performance.now()));
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** Stores an outcome, waiting for a database that is unavailable or full. */
async function store<T>(write: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + STORE_LIMIT_MS;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      const isTransient = isConnectionLoss(error) || isStorageFull(error);
      if (!isTransient || performance.now() > deadline) throw error;
      await delay(STORE_RETRY_MS);
    }
  }
}

/** The error for the owner. Internal errors are only in the log, by the job's id. */
function publicError(error: unknown, id: string): EstateError {
  if (error instanceof EstateError) return error;
  return new EstateError('internal', `The job failed unexpectedly; see the log for the id ${id}.`);
}
