import { runApply } from '../domain/exchange/migration/apply.run.ts';
import { tellFailure } from '../domain/exchange/migration/migration.ended.ts';
import { migrationApplyJob, migrationStageJob } from '../domain/exchange/migration/migration.jobs.ts';
import { runStaging } from '../domain/exchange/migration/stage.run.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';

export const migrationStageProcessor = processes(migrationStageJob, runStaging, tellFailure);
export const migrationApplyProcessor = processes(migrationApplyJob, runApply, tellFailure);
