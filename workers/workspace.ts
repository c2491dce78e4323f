import { runApply } from '../domain/app/workspace/transfer.apply.ts';
import { runParse, storeFailure } from '../domain/app/workspace/transfer.parse.ts';
import {
  workspaceApplyJob,
  workspaceExportJob,
  workspaceParseJob,
} from '../domain/app/workspace/workspace.jobs.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';
import { runWorkspaceExport } from '../reports/app/workspace/workspace.export.ts';

export const workspaceExportProcessor = processes(workspaceExportJob, runWorkspaceExport);
export const workspaceParseProcessor = processes(workspaceParseJob, runParse, storeFailure);
export const workspaceApplyProcessor = processes(workspaceApplyJob, runApply, storeFailure);
