import { runApply } from '../domain/exchange/migration/apply.run.ts';
import { recordFailure } from '../domain/exchange/migration/migration.events.ts';
import { migrationApplyJob, migrationStageJob } from '../domain/exchange/migration/migration.jobs.ts';
import { runStaging } from '../domain/exchange/migration/stage.run.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';

export const migrationStageProcessor = processes(migrationStageJob, runStaging, recordFailure);
export const migrationApplyProcessor = processes(migrationApplyJob, runApply, recordFailure);
