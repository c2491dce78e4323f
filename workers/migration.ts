import { processes } from '../domain/jobs/jobs.running.ts';
import { runApply } from '../domain/migration/apply.run.ts';
import { tellFailure } from '../domain/migration/migration.ended.ts';
import { migrationApplyJob, migrationStageJob } from '../domain/migration/migration.jobs.ts';
import { runStaging } from '../domain/migration/stage.run.ts';

export const migrationStageProcessor = processes(migrationStageJob, runStaging, tellFailure);
export const migrationApplyProcessor = processes(migrationApplyJob, runApply, tellFailure);
