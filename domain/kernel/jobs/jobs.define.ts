import type { Static, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import type { Sql } from '../../../platform/database.ts';
import type { AppPermission } from '../permissions/permissions.data.ts';

/**
 * `bulk` for imports, exports and other long work, `routine` for short work that must not wait behind it, `mail` for
 * what waits for a mail server.
 */
type JobQueue = 'bulk' | 'routine' | 'mail';

export const jobQueues: readonly JobQueue[] = ['bulk', 'routine', 'mail'];

/** One kind of job, declared once. */
export interface JobDefinition<P extends TSchema = TSchema> {
  /** Stored in the row; never renamed once released. */
  kind: string;
  queue: JobQueue;
  /** Checked when the job is asked for, and again when a worker picks it up. Ids, not objects. */
  payload: P;
  /**
   * How often the job may run before an unexpected error makes it fail. Killed workers and lost databases don't
   * count, and an EstateError ends the job at once, since running it again would meet the same refusal.
   */
  attempts: number;
  /** The wait doubles with every unexpected error, from one second up to this; 60 unless given. */
  longestWaitSeconds?: number;
  /** Days after which a finished job goes, where it need not stay as long as the settings say (`jobs_days`). */
  retentionDays?: number;
  /** Whether a run continues from the last checkpoint; else every run begins again. */
  resumable: boolean;
  /** Anyone who holds it is notified how jobs of the kind get on, anyone who has asked for them; their owner is in any case. */
  watchedWith?: AppPermission;
  /**
   * Why a failed or cancelled job of the kind must not run again, with what to do instead; null when it may. Asked in the
   * transaction that would run it again.
   */
  whyNotAgain?(sql: Sql, job: { id: string; payload: Static<P> }): Promise<string | null>;
}

export function defineJob<P extends TSchema>(definition: JobDefinition<P>): JobDefinition<P> {
  return definition;
}

/**
 * The payload as its schema says.
 * @throws Error naming the first fault: a payload comes from our own code, never unchecked from a client.
 */
export function checkPayload<P extends TSchema>(definition: JobDefinition<P>, payload: unknown): Static<P> {
  const fault = Value.Errors(definition.payload, payload)[0];
  if (fault) {
    throw new Error(`the payload of a ${definition.kind} job: ${fault.instancePath || '/'} ${fault.message}`);
  }
  return payload as Static<P>;
}
