import { processes } from '../domain/jobs/jobs.running.ts';
import { migrationApplyJob, migrationStageJob } from '../domain/jobs/kinds/migration.ts';
import { runApply } from '../domain/migration/apply.run.ts';
import { runStaging } from '../domain/migration/stage.run.ts';

export const migrationStageProcessor = processes(migrationStageJob, runStaging);
export const migrationApplyProcessor = processes(migrationApplyJob, runApply);
