import Type, { type Static, type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import type { Sql } from '../../../platform/database.ts';
import type { AppPermission } from '../permissions/permissions.data.ts';

/**
 * `bulk` for imports, exports and other long jobs, `routine` for short jobs that must not wait for them, `mail`, `sync` and
 * `delivery` for jobs that wait for mail servers, ITSM systems and the storages of schedules.
 */
type JobQueue = 'bulk' | 'routine' | 'mail' | 'sync' | 'delivery';

export const jobQueues: readonly JobQueue[] = ['bulk', 'routine', 'mail', 'sync', 'delivery'];

/** A kind of job, declared once. */
export interface JobDefinition<P extends TSchema = TSchema> {
  /** Stored in the row; never renamed once released. */
  kind: string;
  queue: JobQueue;
  /** Checked when the job is enqueued, and again when a worker claims it. Ids, not objects. */
  payload: P;
  /**
   * How often the job may run before an unexpected error makes it fail. Crashed workers and lost database connections
   * do not count, and an EstateError ends the job at once, since a retry would fail in the same way.
   */
  attempts: number;
  /** The delay in seconds doubles with every unexpected error, from 1 up to this; 60 by default. */
  longestWaitSeconds?: number;
  /** Days after which a finished job is deleted, if earlier than the setting `jobs_days`. */
  retentionDays?: number;
  /** Whether a run continues from the last checkpoint; otherwise every run starts over. */
  resumable: boolean;
  /** Users with this permission who have subscribed are notified of jobs of the kind; the owner always is. */
  watchedWith?: AppPermission;
  /**
   * Why a failed or cancelled job of the kind must not run again, with an alternative; null if it may. Called in the
   * transaction that would run it again.
   */
  whyNotAgain?(sql: Sql, job: { id: string; payload: Static<P> }): Promise<string | null>;
}

export function defineJob<P extends TSchema>(definition: JobDefinition<P>): JobDefinition<P> {
  return definition;
}

/** Declares a short job without a payload that a schedule starts. */
export const defineRoutine = (kind: string) =>
  defineJob({
    kind,
    queue: 'routine',
    payload: Type.Object({}, { additionalProperties: false }),
    attempts: 5,
    retentionDays: 30,
    resumable: true,
  });

/**
 * The payload, checked against its schema.
 * @throws Error naming the first error: payloads come from our own code, never directly from a client.
 */
export function checkPayload<P extends TSchema>(definition: JobDefinition<P>, payload: unknown): Static<P> {
  const error = Value.Errors(definition.payload, payload)[0];
  if (error) {
    throw new Error(`the payload of a ${definition.kind} job: ${error.instancePath || '/'} ${error.message}`);
  }
  return payload as Static<P>;
}
