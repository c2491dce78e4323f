import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import type { FieldMappings } from './mapping.ts';
import type { SourceBlock, SourceType } from './source.types.ts';

/** As stored; that it has failed, or was broken off, follows from its job. */
type StoredStatus = 'uploaded' | 'parsed' | 'previewed' | 'applying' | 'applied';
/** As shown. */
export type MigrationStatus = StoredStatus | 'failed' | 'aborted';

/** A row of `migrations` as JSON. */
export interface MigrationRow extends StoredRow {
  id: string;
  name: string;
  source_type: SourceType;
  status: StoredStatus;
  file_id: string;
  file_name: string;
  file_size: number;
  include_archived: boolean;
  blocks: SourceBlock[];
  field_mappings: FieldMappings | null;
  stats: Record<string, unknown> | null;
  metamodel_diff: Record<string, unknown> | null;
  error_message: string | null;
  job_id: string | null;
  created_by: string | null;
  parsed_at: string | null;
  previewed_at: string | null;
  applied_at: string | null;
}

/** What is made anew from the file, or read from the job, is told in no event. */
const left = ['updated_at', 'blocks', 'stats', 'metamodel_diff', 'job_id'];

/** The event of something that was done with a migration. */
export function migrationEvent(
  event_type: EventType & `migration.${string}`,
  before: MigrationRow | null,
  after: MigrationRow | null,
  more: Record<string, unknown> = {},
): EventDraft {
  const { id, name } = (after ?? before)!;
  return { event_type, data: { id, name, ...more, changes: rowChanges(before, after, left) } };
}

/** The status of the migration `m` as its job `j` leaves it. */
export const shownStatus = `case when m.status in ('uploaded', 'parsed', 'applying')
    and coalesce(j.status, 'cancelled') in ('failed', 'cancelled')
  then case j.status when 'failed' then 'failed' else 'aborted' end else m.status end`;
