import type { Extension } from '../../kernel/extensions.ts';
import { Migration, MigrationRecord, migrationApplyJob, migrationStageJob } from './migration.list.ts';

const undo = { refused: 'The records of a migration are made again from its file.' };

/** Migration from other repositories. */
export const migrationExtension: Extension = {
  resources: [
    {
      model: Migration,
      name: 'migration',
      events: {
        created: ['migration.uploaded'],
        updated: [
          'migration.mapped',
          'migration.started',
          'migration.previewed',
          'migration.applied',
          'migration.failed',
        ],
        deleted: ['migration.deleted'],
      },
      undo,
      transfer: { excluded: 'service', reason: 'Migrations belong to the workspace into which they wrote.' },
    },
    {
      model: MigrationRecord,
      name: 'record of a migration',
      events: {},
      undo,
      transfer: { excluded: 'service', reason: 'Records of migrations are working data.' },
    },
  ],
  jobs: [migrationStageJob, migrationApplyJob],
};
