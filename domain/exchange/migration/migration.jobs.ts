import Type, { type Static } from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { whyMigrationIsOver } from './migration.over.ts';

const payload = Type.Object(
  { migration_id: Type.String({ format: 'uuid' }) },
  { additionalProperties: false },
);

/** Which migration a job works on. */
export type MigrationPayload = Static<typeof payload>;

/** Reads the file of a migration, where that was not done yet, and makes its records anew. */
export const migrationStageJob = defineJob({
  kind: 'migration_stage',
  queue: 'bulk',
  payload,
  attempts: 3,
  resumable: true,
  whyNotAgain: (sql, { id, payload: { migration_id } }) => whyMigrationIsOver(sql, migration_id, id),
});

/** Writes what a migration holds into the inventory. */
export const migrationApplyJob = defineJob({
  kind: 'migration_apply',
  queue: 'bulk',
  payload,
  attempts: 3,
  resumable: true,
  whyNotAgain: (sql, { id, payload: { migration_id } }) => whyMigrationIsOver(sql, migration_id, id),
});
