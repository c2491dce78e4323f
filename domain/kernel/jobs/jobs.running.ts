import { setTimeout as delay } from 'node:timers/promises';
import type { Static, TSchema } from 'typebox';
import type { Transaction } from '../../../platform/database.ts';
import { type ErrorCode, EstateError } from '../../../platform/errors.ts';
import { retryWhile } from '../../../platform/retry.ts';
import { command } from '../command.ts';
import type { Ctx, Work } from '../context.ts';
import type { Services } from '../services.ts';
import type { JobDefinition } from './jobs.define.ts';

/** Figures of a job by name, such as `total` or `created`. */
export type JobCounts = Record<string, number>;

/** The progress that a transaction stores. Absent members are not changed. */
export interface JobStep {
  /** 0 to 1. */
  progress?: number;
  message?: string;
  counts?: JobCounts;
  /** JSON from which a later run continues. */
  checkpoint?: unknown;
}

/** The result of a job. `outcomeOf` determines whether it counts as failed. */
export interface JobResult {
  /** Returned as the job's `result`. */
  result?: Record<string, unknown> | null;
  /** A stored file that is served as the job's download. */
  fileId?: string | null;
  message?: string;
  /** For kinds that process rows, `total`, `failed` and `left_out` determine the job's status and outcome. */
  counts?: JobCounts;
  /** Why the job has failed although it has a report. */
  error?: { code: string; message: string };
}

/** The part of a command's work that a job uses to write. */
export interface JobTransaction {
  sql: Transaction;
}

/**
 * One run of a job, under a lease. Write only in transactions that call `checkpoint`, `lock` or `finish`: those fail if
 * another worker has the lease or the job was cancelled, and roll back the batch, so that nothing is written twice.
 */
export interface RunningJob<P = unknown> {
  readonly id: string;
  readonly kind: string;
  /** Increases with every run, from 1. */
  readonly attempt: number;
  readonly payload: P;
  /** The scheduled time that started it. */
  readonly slot: Date | null;
  /**
   * Acts as the owner, with the permissions that the owner had when the job was enqueued and still has, or as the
   * service itself.
   */
  readonly ctx: Ctx;
  /** Aborted when the job is cancelled, its lease is lost or the process stops; the reason is the error to throw. */
  readonly signal: AbortSignal;
  /** The checkpoint of an earlier run; null: start at the beginning. */
  readonly resume: unknown;
  /** The counts stored with that checkpoint. */
  readonly counts: JobCounts;
  /**
   * Stores progress and checkpoint in the caller's transaction. Call it at the end, since the row is locked until the
   * commit.
   * @throws JobLeaseLost, JobCancelled: do not catch them.
   */
  checkpoint(work: JobTransaction, step: JobStep): Promise<void>;
  /**
   * Call it first in a transaction that takes longer than a few seconds: it prevents other workers from claiming the
   * job before the transaction ends, and does not block progress, heartbeats and cancellation.
   * @throws JobLeaseLost, JobCancelled: do not catch them.
   */
  lock(work: JobTransaction): Promise<void>;
  /** Reports progress (0 to 1) outside of transactions; stored and published at most once a second. */
  progress(fraction: number, message?: string, counts?: JobCounts): void;
  /**
   * Stores the result and ends the job, in the caller's transaction. A processor that only returns its result need not
   * call it.
   * @throws JobLeaseLost, JobCancelled: do not catch them.
   */
  finish(work: JobTransaction, result: JobResult): Promise<void>;
}

/** A job that was cancelled or has failed permanently. */
export interface EndedJob<P = unknown> {
  id: string;
  payload: P;
  /** The scheduled time that started it. */
  slot: Date | null;
  /** Acts as the service itself. */
  ctx: Ctx;
  /**
   * Whether its processor had started this run; if not, the job itself is not valid, for example because its owner was
   * deleted.
   */
  isStarted: boolean;
}

/** A job that has failed permanently. */
export interface FailedJob<P = unknown> extends EndedJob<P> {
  error: EstateError;
}

/** The transaction that ends a job, which records the emitted events. */
export type JobEndTransaction = Pick<Work, 'sql' | 'emit'>;

/** Executes jobs of one kind. */
export interface JobProcessor {
  definition: JobDefinition;
  run(job: RunningJob, services: Services): Promise<JobResult | undefined>;
  /** Records the end of a failed job in the transaction that ends it. */
  failed?(work: JobEndTransaction, job: FailedJob): Promise<void>;
  /** Records the end of a job that was cancelled while it ran. */
  cancelled?(work: JobEndTransaction, job: EndedJob): Promise<void>;
}

/** Binds a kind of job to its processor and to the functions that record its failure and its cancellation. */
export function processes<P extends TSchema>(
  definition: JobDefinition<P>,
  run: (job: RunningJob<Static<P>>, services: Services) => Promise<JobResult> | Promise<void>,
  failed?: (work: JobEndTransaction, job: FailedJob<Static<P>>) => Promise<void>,
  cancelled?: (work: JobEndTransaction, job: EndedJob<Static<P>>) => Promise<void>,
): JobProcessor {
  // The payload is checked against its schema before each call.
  return { definition, run, failed, cancelled } as unknown as JobProcessor;
}

/** The job fails permanently: a retry would fail in the same way, although the caller cannot correct it. */
export class JobFailed extends EstateError {}

/** The run has to stop; its error is not a failure of the job. */
export class JobStopped extends Error {}

/** The owner, or an administrator, has cancelled the job. */
export class JobCancelled extends JobStopped {
  constructor() {
    super('the job was cancelled');
    this.name = 'JobCancelled';
  }
}

/** Another worker may have claimed the job; this run must not write any more. */
export class JobLeaseLost extends JobStopped {
  constructor() {
    super('the lease of the job was lost');
    this.name = 'JobLeaseLost';
  }
}

/** The process stops; another one continues the job. */
export class JobInterrupted extends JobStopped {
  constructor() {
    super('the process ends before the job does');
    this.name = 'JobInterrupted';
  }
}

/**
 * Processes due items in batches, each in a separate transaction that also stores the count of the job, until a batch
 * is not full. Repeated runs find nothing to do.
 * @param counted the name of the job's count. @param doBatch processes at most `size` items, and returns their number.
 * @returns the number of processed items, those of earlier attempts included.
 */
export async function inBatches(
  job: RunningJob,
  counted: 'opened' | 'deleted' | 'updated',
  size: number,
  doBatch: (work: Work) => Promise<number>,
): Promise<number> {
  let done = job.counts[counted] ?? 0;
  for (;;) {
    job.signal.throwIfAborted();
    const batch = await command(job.ctx, async (work) => {
      const n = await doBatch(work);
      if (n > 0) await job.checkpoint(work, { counts: { [counted]: done + n } });
      return n;
    });
    done += batch;
    if (batch < size) return done;
  }
}

const BUSY_ATTEMPTS = 12;
const BUSY_PAUSE_MS = 5_000;

/** Retries for a minute what is refused since requests, which have priority, use the resource. @param code of the refusal. */
export async function retryWhileBusy<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
  code: ErrorCode = 'unavailable',
): Promise<T> {
  signal.throwIfAborted();
  const isBusy = (error: unknown) => error instanceof EstateError && error.code === code;
  return await retryWhile(BUSY_ATTEMPTS, isBusy, work, () => delay(BUSY_PAUSE_MS, undefined, { signal }));
}
