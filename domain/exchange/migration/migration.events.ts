import { recordEvents } from '../../kernel/command.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { type EventDraft, rowChanges } from '../../kernel/events/row-changes.ts';
import type { FailedJob, JobTransaction } from '../../kernel/jobs/jobs.running.ts';
import { findRows } from '../../kernel/resources/rows.ts';
import { Migration, type MigrationPayload, type MigrationRow } from './migration.list.ts';

/** Columns that events leave out: they are made again from the file, or read from the job. */
const unrecorded = ['updated_at', 'blocks', 'stats', 'metamodel_diff', 'job_id'];

/** The event of a written migration. */
export function migrationEvent(
  event_type: EventType & `migration.${string}`,
  before: MigrationRow | null,
  after: MigrationRow | null,
  more: Record<string, unknown> = {},
): EventDraft {
  const { id, name } = (after ?? before)!;
  return { event_type, data: { id, name, ...more, changes: rowChanges(before, after, unrecorded) } };
}

/** The users notified when a job of a migration ends: who uploaded the file, and who started the job. */
export function recipientsOf({ created_by }: MigrationRow, by: string | null): string[] {
  return [...new Set([created_by, by].filter((id) => id !== null))];
}

/** The event of a job that has ended. */
export function endedEvent(
  event_type: 'migration.previewed' | 'migration.failed',
  migration: MigrationRow,
  by: string | null,
  more: Record<string, unknown> = {},
): EventDraft {
  const { id, name } = migration;
  return { event_type, data: { id, name, ...more, recipients: recipientsOf(migration, by), changes: {} } };
}

/** The error of a failed migration as its event has it. */
export const failureOf = ({ code, message }: { code: string; message: string }) => ({
  code,
  reason: message,
});

/** Records that the job of a migration has failed for good, unless it was deleted or has another job since. */
export async function recordFailure(
  { sql }: JobTransaction,
  { id: jobId, payload, ctx, error }: FailedJob<MigrationPayload>,
): Promise<void> {
  const [migration] = await findRows(sql, Migration, (query) =>
    query.where({ id: payload.migration_id, job_id: jobId }),
  );
  if (!migration) return;
  const owner = await sql('jobs').where({ id: jobId }).first('owner_id');
  const event = endedEvent('migration.failed', migration, owner?.owner_id ?? null, failureOf(error));
  await recordEvents(sql, ctx, [event], []);
}
