import type { Extension } from '../../kernel/extensions.ts';
import { migrationApplyJob, migrationStageJob } from './migration.jobs.ts';

/** Migration from other repositories. */
export const migrationExtension: Extension = {
  jobs: [migrationStageJob, migrationApplyJob],
};
