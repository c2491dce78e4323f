import type { JobProcessor } from '../domain/kernel/jobs/jobs.running.ts';
import { analysisProcessors } from './analysis.ts';
import { archimateExportProcessor, archimateImportProcessor } from './archimate.ts';
import { archivePurgeProcessor } from './archive-purge.ts';
import { batchRollbackProcessor } from './batch-rollback.ts';
import { eolRefreshProcessor } from './eol-refresh.ts';
import { eraseUserProcessor } from './erase-user.ts';
import { exportProcessor } from './export.ts';
import { housekeepingProcessor } from './housekeeping.ts';
import { importProcessor } from './import.ts';
import { itsmRunProcessor } from './itsm-run.ts';
import { itsmScheduleProcessor } from './itsm-schedule.ts';
import { kpiSnapshotProcessor } from './kpi-snapshot.ts';
import { mailProcessor } from './mail.ts';
import { metamodelChangeProcessor } from './metamodel-change.ts';
import { migrationApplyProcessor, migrationStageProcessor } from './migration.ts';
import { mitigationsDueProcessor } from './mitigations-due.ts';
import { passwordResetProcessor } from './password-reset.ts';
import { recalculateProcessor } from './recalculate.ts';
import { registrationProcessor } from './registration.ts';
import { reportProcessor } from './report.ts';
import { reportQueryProcessor } from './report-query.ts';
import { scheduledExtractionProcessor } from './scheduled-extraction.ts';
import { todosDueProcessor } from './todos-due.ts';
import { workspaceApplyProcessor, workspaceExportProcessor, workspaceParseProcessor } from './workspace.ts';

/** What this program can carry out: one processor for each kind of job. */
export const processors: JobProcessor[] = [
  importProcessor,
  exportProcessor,
  archimateImportProcessor,
  archimateExportProcessor,
  kpiSnapshotProcessor,
  housekeepingProcessor,
  mailProcessor,
  metamodelChangeProcessor,
  passwordResetProcessor,
  registrationProcessor,
  todosDueProcessor,
  mitigationsDueProcessor,
  eraseUserProcessor,
  archivePurgeProcessor,
  batchRollbackProcessor,
  recalculateProcessor,
  reportQueryProcessor,
  reportProcessor,
  scheduledExtractionProcessor,
  eolRefreshProcessor,
  itsmRunProcessor,
  itsmScheduleProcessor,
  ...analysisProcessors,
  workspaceExportProcessor,
  workspaceParseProcessor,
  workspaceApplyProcessor,
  migrationStageProcessor,
  migrationApplyProcessor,
];
