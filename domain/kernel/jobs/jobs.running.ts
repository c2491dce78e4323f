import type { Knex } from 'knex';
import type { Static, TSchema } from 'typebox';
import { EstateError } from '../../../platform/errors.ts';
import { command } from '../command.ts';
import type { Ctx, Work } from '../context.ts';
import type { Services } from '../services.ts';
import type { JobDefinition } from './jobs.define.ts';

/** Figures of a job by name, such as `total` or `created`. */
export type JobCounts = Record<string, number>;

/** What a job has reached with the transaction that stores it. Absent members stay as they are. */
export interface JobStep {
  /** 0 to 1. */
  progress?: number;
  message?: string;
  counts?: JobCounts;
  /** JSON from which a later run continues. */
  checkpoint?: unknown;
}

/** What a job has to show at its end. `outcomeOf` says when it has failed nevertheless. */
export interface JobResult {
  /** Shown as the job's `result`. */
  result?: Record<string, unknown> | null;
  /** A stored file that is served as the job's download. */
  fileId?: string | null;
  message?: string;
  /** Of kinds that work on rows, `total`, `failed` and `left_out` decide about the job's status and outcome. */
  counts?: JobCounts;
  /** Why the job has failed although it has a report to show. */
  error?: { code: string; message: string };
}

/** The part of a command's work that a job writes through. */
export interface JobTransaction {
  sql: Knex.Transaction;
}

/**
 * One run of a job, held under a lease. Anyone who writes must do so in transactions that call `checkpoint`, `hold`
 * or `finish`: those fail when the lease has gone to another worker or the job was cancelled, and take the batch
 * with them, so that nothing is written twice however the run ends.
 */
export interface RunningJob<P = unknown> {
  readonly id: string;
  readonly kind: string;
  /** Grows with every run, from 1. */
  readonly attempt: number;
  readonly payload: P;
  /** The moment for which a schedule started it. */
  readonly slot: Date | null;
  /**
   * Acts as the owner, with the permissions that the owner held when the job was asked for and still holds, or as
   * the service itself.
   */
  readonly ctx: Ctx;
  /** Aborted when the job is cancelled, its lease is lost or the process ends; the reason is the error to throw. */
  readonly signal: AbortSignal;
  /** The checkpoint of an earlier run, or null: begin at the beginning. */
  readonly resume: unknown;
  /** The counts stored with that checkpoint. */
  readonly counts: JobCounts;
  /**
   * Stores progress and checkpoint with the caller's transaction. Best called last in it, since the row stays
   * locked from here to the commit.
   * @throws JobLeaseLost, JobCancelled: let them pass.
   */
  checkpoint(work: JobTransaction, step: JobStep): Promise<void>;
  /**
   * For a transaction that lasts longer than a few seconds: called first, it keeps any other worker from taking
   * the job before the transaction ends, and lets progress, heartbeats and cancellation through meanwhile.
   * @throws JobLeaseLost, JobCancelled: let them pass.
   */
  hold(work: JobTransaction): Promise<void>;
  /** Reports progress (0 to 1) outside of transactions; stored and told on at most once a second. */
  progress(fraction: number, message?: string, counts?: JobCounts): void;
  /**
   * Stores the result and ends the job, with the caller's transaction. A processor that only returns its result need not call it.
   * @throws JobLeaseLost, JobCancelled: let them pass.
   */
  finish(work: JobTransaction, result: JobResult): Promise<void>;
}

/** A job that was cancelled or failed for good. */
export interface EndedJob<P = unknown> {
  id: string;
  payload: P;
  /** The moment for which a schedule started it. */
  slot: Date | null;
  /** Acts as the service itself. */
  ctx: Ctx;
  /** Whether its processor had begun this run: else the fault lies with the job, as when its owner is gone. */
  begun: boolean;
}

/** A job that failed for good. */
export interface FailedJob<P = unknown> extends EndedJob<P> {
  error: EstateError;
}

/** The transaction that ends a job, which records the emitted events. */
export type EndOfJob = Pick<Work, 'sql' | 'emit'>;

/** Executes jobs of one kind. */
export interface JobProcessor {
  definition: JobDefinition;
  run(job: RunningJob, services: Services): Promise<JobResult | undefined>;
  /** Records the end of a failed job in the transaction that ends it. */
  failed?(work: EndOfJob, job: FailedJob): Promise<void>;
  /** The same for a job that was cancelled while it ran. */
  cancelled?(work: EndOfJob, job: EndedJob): Promise<void>;
}

/** Connects a kind of jobs to the function that runs it, and to those that record its failure and its cancellation. */
export function processes<P extends TSchema>(
  definition: JobDefinition<P>,
  run: (job: RunningJob<Static<P>>, services: Services) => Promise<JobResult> | Promise<void>,
  failed?: (work: EndOfJob, job: FailedJob<Static<P>>) => Promise<void>,
  cancelled?: (work: EndOfJob, job: EndedJob<Static<P>>) => Promise<void>,
): JobProcessor {
  // the payload is checked against its schema before each call
  return { definition, run, failed, cancelled } as unknown as JobProcessor;
}

/** The job fails for good: running it again would meet the same refusal, though it is not the caller's to mend. */
export class JobFailed extends EstateError {}

/** The run must stop; its error is nobody's failure. */
export class JobStopped extends Error {}

/** The owner, or an administrator, has cancelled the job. */
export class JobCancelled extends JobStopped {
  constructor() {
    super('the job was cancelled');
    this.name = 'JobCancelled';
  }
}

/** Another worker may run the job by now; nothing more may be written for it here. */
export class JobLeaseLost extends JobStopped {
  constructor() {
    super('the lease of the job was lost');
    this.name = 'JobLeaseLost';
  }
}

/** The process ends; another one continues with the job. */
export class JobInterrupted extends JobStopped {
  constructor() {
    super('the process ends before the job does');
    this.name = 'JobInterrupted';
  }
}

/**
 * Does what has become due, batch by batch, each in a transaction of its own with the count that the job has come to, until a
 * batch is not full. Run again it finds none.
 * @param counted what the job's count is called. @param doBatch does at most `size`, and reports how many.
 * @returns how many there were, those of earlier attempts included.
 */
export async function inBatches(
  job: RunningJob,
  counted: 'opened' | 'deleted',
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
