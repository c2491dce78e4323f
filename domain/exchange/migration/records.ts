import type { Sql } from '../../../platform/database.ts';
import { MigrationRecord, type MigrationRecordRow } from './migration.model.ts';

/** A record to be inserted; members that are absent are null. */
export type NewRecord = Pick<MigrationRecordRow, 'line' | 'entity_kind' | 'source_id' | 'source_type'> &
  Partial<MigrationRecordRow>;

/** Why a row is skipped that the source has archived, unless the upload asks for such rows. */
export const ARCHIVED = 'is archived in the source';

/** The columns that are given; the others have defaults. */
const names = Object.keys(MigrationRecord.columns)
  .filter((name) => !['migration_id', 'id', 'status', 'cost_keys', 'target_id'].includes(name))
  .map((name) => `"${name}"`)
  .join(', ');
/** Longer names are cut. */
const MAX_SHOWN = 500;

const shown = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text);

/** Writes records in one statement. */
export async function insertRecords(sql: Sql, migrationId: string, records: NewRecord[]): Promise<void> {
  if (records.length === 0) return;
  const rows = records.map((record) => ({
    ...record,
    action: record.action ?? 'create',
    source_id: shown(record.source_id),
    ...(record.display_name && { display_name: shown(record.display_name) }),
  }));
  await sql.raw(
    `insert into migration_records (migration_id, ${names})
     select ?::uuid, ${names} from jsonb_populate_recordset(null::migration_records, ?::jsonb)`,
    [migrationId, JSON.stringify(rows)],
  );
}

/** Removes the records of a migration. */
export async function removeRecords(sql: Sql, migrationId: string): Promise<void> {
  await sql('migration_records').where({ migration_id: migrationId }).delete();
}
