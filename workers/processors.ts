import { passwordResetJob, sendPasswordReset } from '../domain/access/access.passwords.reset.ts';
import { registrationJob, sendRegistration } from '../domain/access/access.register.ts';
import { eraseUserJob } from '../domain/access/erasure/erasure.job.ts';
import { eraseUser } from '../domain/access/erasure/erasure.run.ts';
import { batchRollbackJob } from '../domain/app/batches/batches.rollback.job.ts';
import { type RollbackReport, rollBack } from '../domain/app/batches/batches.rollback.ts';
import { housekeepingJob } from '../domain/app/housekeeping.job.ts';
import { cleanUp } from '../domain/app/housekeeping.ts';
import { runApply as applyWorkspace } from '../domain/app/workspace/transfer.apply.ts';
import { storeFailure as recordTransferFailure, runParse } from '../domain/app/workspace/transfer.parse.ts';
import {
  workspaceApplyJob,
  workspaceExportJob,
  workspaceParseJob,
} from '../domain/app/workspace/workspace.jobs.ts';
import { openDueTodos, todosDueJob } from '../domain/collaboration/todos/todos.due.ts';
import { runModelImport } from '../domain/exchange/archimate/archimate.import.ts';
import { archimateExportJob, archimateImportJob } from '../domain/exchange/archimate/archimate.jobs.ts';
import { exportJob } from '../domain/exchange/exports/export.job.ts';
import { importJob } from '../domain/exchange/imports/imports.job.ts';
import { runImport } from '../domain/exchange/imports/imports.run.ts';
import { startRun } from '../domain/exchange/itsm/runs.commands.ts';
import { itsmScheduleJob } from '../domain/exchange/itsm/runs.job.ts';
import { runApply as applyMigration } from '../domain/exchange/migration/apply.run.ts';
import { recordFailure as recordMigrationFailure } from '../domain/exchange/migration/migration.events.ts';
import { migrationApplyJob, migrationStageJob } from '../domain/exchange/migration/migration.list.ts';
import { runStaging } from '../domain/exchange/migration/stage.run.ts';
import { eolRefreshJob } from '../domain/governance/eol/eol.facts.ts';
import { mitigationsDueJob, openDueOccurrences } from '../domain/governance/risks/tasks.store.ts';
import { recalculateJob, recalculateType } from '../domain/inventory/calculations/recalculate.type.ts';
import { archivePurgeJob } from '../domain/inventory/cards/archive-purge.job.ts';
import { purgeArchive } from '../domain/inventory/cards/cards.removal.ts';
import { costsRefreshJob, refreshAnnualCosts } from '../domain/inventory/costs/costs.job.ts';
import { metamodelChangeJob, runMetamodelChange } from '../domain/inventory/metamodel/changes/changes.run.ts';
import { removalNoticesJob } from '../domain/inventory/metamodel/notices/notices.job.ts';
import { notifyOwners } from '../domain/inventory/metamodel/notices/notices.run.ts';
import { kpiSnapshotJob, reportJob, reportQueryJob } from '../domain/inventory/reports/report.job.ts';
import { type JobProcessor, processes } from '../domain/kernel/jobs/jobs.running.ts';
import { mailJob } from '../domain/kernel/mail/mail.enqueue.ts';
import { warnOfImported } from '../integrations/analysis/duplicates/warnings.import.ts';
import { runMail } from '../integrations/collaboration/mail/mail.send.ts';
import { refreshFacts } from '../integrations/governance/eol/eol.refresh.ts';
import { EstateError } from '../platform/errors.ts';
import { runQueryJob } from '../reports/analysis/query/query.files.ts';
import { runWorkspaceExport } from '../reports/app/workspace/workspace.export.ts';
import { runModelExport } from '../reports/exchange/archimate/archimate.export.ts';
import { runExport } from '../reports/exchange/extraction/exports.job.ts';
import { takeKpiSnapshot } from '../reports/inventory/kpis/kpis.snapshots.ts';
import { runReportJob } from '../reports/kernel/report.job.ts';
import { analysisProcessors } from './analysis/analysis.processors.ts';
import { itsmRunProcessor } from './exchange/itsm-run.ts';
import { cleanExtractions, scheduledExtractionProcessor } from './exchange/scheduled-extraction.ts';

export const archivePurgeProcessor = processes(archivePurgeJob, async (job) => ({
  counts: { deleted: await purgeArchive(job) },
}));

/** Rolls back a large batch. The job ends with the transaction, so an interrupted run has written nothing. */
const batchRollbackProcessor = processes(batchRollbackJob, async (job) => {
  const { batch_id, ...request } = job.payload;
  const resultOf = ({ operations: _operations, ...result }: RollbackReport) => ({
    counts: result.counts,
    result: { ...result },
  });
  const report = await rollBack(job.ctx, batch_id, request, {
    begin: (work) => job.lock(work),
    page: (done) => {
      job.signal.throwIfAborted();
      job.progress(done);
    },
    end: (work, done) => job.finish(work, resultOf(done)),
  });
  return resultOf(report);
});

export const costsRefreshProcessor = processes(costsRefreshJob, async (job) => ({
  counts: { updated: await refreshAnnualCosts(job) },
}));

export const eraseUserProcessor = processes(eraseUserJob, eraseUser);

const housekeepingProcessor = processes(housekeepingJob, async (job, services) => {
  // First, so that the files that it releases are deleted with the others.
  const extractions = await cleanExtractions(services, job.signal);
  return { counts: { ...(await cleanUp(services.db, services.blobs, job.signal)), extractions } };
});

/** Starts the scheduled run of a mapping, unless the mapping is paused or deleted; a run that is active defers it. */
export const itsmScheduleProcessor = processes(itsmScheduleJob, async ({ ctx, payload }) => {
  try {
    const run = await startRun(ctx, { mappingId: payload.mapping_id, trigger: 'schedule' });
    return run === null
      ? { message: 'waits for the end of the run that is not over', result: null }
      : { message: 'started', result: { run_id: run } };
  } catch (error) {
    if (!(error instanceof EstateError) || !['wrong_state', 'not_found'].includes(error.code)) throw error;
    return { message: error.message, result: null };
  }
});

const kpiSnapshotProcessor = processes(kpiSnapshotJob, async (job) => {
  const slot = job.slot ?? new Date();
  const stored = await takeKpiSnapshot(job.ctx, slot);
  return { result: { slot: slot.toISOString(), stored } };
});

export const mailProcessor = processes(mailJob, runMail);

export const mitigationsDueProcessor = processes(mitigationsDueJob, async (job) => ({
  counts: { opened: await openDueOccurrences(job) },
}));

export const passwordResetProcessor = processes(passwordResetJob, sendPasswordReset);

export const registrationProcessor = processes(registrationJob, sendRegistration);

export const removalNoticesProcessor = processes(removalNoticesJob, async (job) => ({
  counts: { notices: await notifyOwners(job) },
}));

export const todosDueProcessor = processes(todosDueJob, async (job) => ({
  counts: { opened: await openDueTodos(job) },
}));

/** The processors of this program, one for each kind of job. */
export const processors: JobProcessor[] = [
  processes(importJob, (job, services) => runImport(job, services, warnOfImported)),
  processes(exportJob, runExport),
  processes(archimateImportJob, runModelImport),
  processes(archimateExportJob, runModelExport),
  kpiSnapshotProcessor,
  housekeepingProcessor,
  mailProcessor,
  processes(metamodelChangeJob, runMetamodelChange),
  passwordResetProcessor,
  registrationProcessor,
  todosDueProcessor,
  mitigationsDueProcessor,
  removalNoticesProcessor,
  eraseUserProcessor,
  archivePurgeProcessor,
  costsRefreshProcessor,
  batchRollbackProcessor,
  processes(recalculateJob, recalculateType),
  processes(reportQueryJob, runQueryJob),
  processes(reportJob, runReportJob),
  scheduledExtractionProcessor,
  processes(eolRefreshJob, refreshFacts),
  itsmRunProcessor,
  itsmScheduleProcessor,
  ...analysisProcessors,
  processes(workspaceExportJob, runWorkspaceExport),
  processes(workspaceParseJob, runParse, recordTransferFailure),
  processes(workspaceApplyJob, applyWorkspace, recordTransferFailure),
  processes(migrationStageJob, runStaging, recordMigrationFailure),
  processes(migrationApplyJob, applyMigration, recordMigrationFailure),
];
