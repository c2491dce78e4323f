import type { JobDefinition } from './jobs.define.ts';
import { archimateExportJob, archimateImportJob } from './kinds/archimate.ts';
import { archivePurgeJob } from './kinds/archive-purge.ts';
import { batchRollbackJob } from './kinds/batch-rollback.ts';
import { complianceScanJob } from './kinds/compliance-scan.ts';
import { duplicatesJob } from './kinds/duplicates.ts';
import { eolRefreshJob } from './kinds/eol-refresh.ts';
import { eraseUserJob } from './kinds/erase-user.ts';
import { exportJob } from './kinds/export.ts';
import { housekeepingJob } from './kinds/housekeeping.ts';
import { importJob } from './kinds/import.ts';
import { itsmRunJob } from './kinds/itsm-run.ts';
import { itsmScheduleJob } from './kinds/itsm-schedule.ts';
import { kpiSnapshotJob } from './kinds/kpi-snapshot.ts';
import { mailJob } from './kinds/mail.ts';
import { metamodelChangeJob } from './kinds/metamodel-change.ts';
import { migrationApplyJob, migrationStageJob } from './kinds/migration.ts';
import { mitigationsDueJob } from './kinds/mitigations-due.ts';
import { modernizationsJob } from './kinds/modernizations.ts';
import { passwordResetJob } from './kinds/password-reset.ts';
import { recalculateJob } from './kinds/recalculate.ts';
import { registrationJob } from './kinds/registration.ts';
import { reportJob } from './kinds/report.ts';
import { reportQueryJob } from './kinds/report-query.ts';
import { scheduledExtractionJob } from './kinds/scheduled-extraction.ts';
import { todosDueJob } from './kinds/todos-due.ts';
import { vendorHierarchyJob, vendorsJob } from './kinds/vendors.ts';
import { workspaceApplyJob, workspaceExportJob, workspaceParseJob } from './kinds/workspace.ts';

/** Every kind of job. */
export const jobCatalogue: readonly JobDefinition[] = [
  importJob,
  exportJob,
  archimateImportJob,
  archimateExportJob,
  kpiSnapshotJob,
  housekeepingJob,
  mailJob,
  metamodelChangeJob,
  passwordResetJob,
  registrationJob,
  todosDueJob,
  mitigationsDueJob,
  eraseUserJob,
  archivePurgeJob,
  batchRollbackJob,
  recalculateJob,
  reportQueryJob,
  reportJob,
  scheduledExtractionJob,
  eolRefreshJob,
  itsmRunJob,
  itsmScheduleJob,
  complianceScanJob,
  vendorsJob,
  vendorHierarchyJob,
  modernizationsJob,
  duplicatesJob,
  workspaceExportJob,
  workspaceParseJob,
  workspaceApplyJob,
  migrationStageJob,
  migrationApplyJob,
] as unknown as JobDefinition[];

export const jobKinds: readonly string[] = jobCatalogue.map(({ kind }) => kind);
