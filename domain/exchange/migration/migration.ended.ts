import { recordEvents } from '../../kernel/command.ts';
import type { EventDraft } from '../../kernel/events/events.types.ts';
import type { FailedJob, JobTransaction } from '../../kernel/jobs/jobs.running.ts';
import type { MigrationPayload } from './migration.jobs.ts';
import type { MigrationRow } from './migration.rows.ts';

/** Those who are told that a job of a migration has ended: who brought the file, and who had it worked on. */
export function recipientsOf({ created_by }: Pick<MigrationRow, 'created_by'>, by: string | null): string[] {
  return [...new Set([created_by, by].filter((id): id is string => typeof id === 'string'))];
}

/** The event of a job that has ended. */
export function endedEvent(
  event_type: 'migration.previewed' | 'migration.failed',
  migration: Pick<MigrationRow, 'id' | 'name' | 'created_by'>,
  by: string | null,
  more: Record<string, unknown> = {},
): EventDraft {
  const { id, name } = migration;
  return { event_type, data: { id, name, ...more, recipients: recipientsOf(migration, by), changes: {} } };
}

/** What the event of a failed migration says about the error. */
export const failureOf = ({ code, message }: { code: string; message: string }) => ({
  code,
  reason: message,
});

/** Tells that the job of a migration has failed for good. */
export async function tellFailure(
  { sql }: JobTransaction,
  { id: jobId, payload, ctx, error }: FailedJob<MigrationPayload>,
): Promise<void> {
  const migration = await sql('migrations')
    .where({ id: payload.migration_id, job_id: jobId })
    .first('id', 'name', 'created_by');
  // deleted, or taken up by another job meanwhile
  if (!migration) return;
  const owner = await sql('jobs').where({ id: jobId }).first('owner_id');
  await recordEvents(
    sql,
    ctx,
    [endedEvent('migration.failed', migration, owner?.owner_id ?? null, failureOf(error))],
    [],
  );
}
