import Type, { type Static } from 'typebox';
import type { Sql } from '../../../platform/database.ts';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { object } from '../../kernel/shapes.ts';

const payload = object({ migration_id: Type.String({ format: 'uuid' }) });

/** Which migration a job works on. */
export type MigrationPayload = Static<typeof payload>;

/** Why a job of a migration must not run again; null if it may. */
async function whyNotContinue(sql: Sql, id: string, jobId: string): Promise<string | null> {
  const row = await sql('migrations').where({ id }).first('job_id', 'status');
  if (!row) return 'The migration was deleted.';
  if (row.job_id === jobId && ['uploaded', 'parsed', 'applying'].includes(row.status)) return null;
  return 'Another job has continued the migration.';
}

const defineMigrationJob = (kind: 'migration_stage' | 'migration_apply') =>
  defineJob({
    kind,
    queue: 'bulk',
    payload,
    attempts: 3,
    resumable: true,
    whyNotAgain: (sql, { id, payload: { migration_id } }) => whyNotContinue(sql, migration_id, id),
  });

/** Reads the file of a migration, unless that is done, and creates its records. */
export const migrationStageJob = defineMigrationJob('migration_stage');

/** Writes a migration into the inventory. */
export const migrationApplyJob = defineMigrationJob('migration_apply');
