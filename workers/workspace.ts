import { processes } from '../domain/jobs/jobs.running.ts';
import { runApply } from '../domain/workspace/transfer.apply.ts';
import { noteFailure, runParse } from '../domain/workspace/transfer.parse.ts';
import {
  workspaceApplyJob,
  workspaceExportJob,
  workspaceParseJob,
} from '../domain/workspace/workspace.jobs.ts';
import { runWorkspaceExport } from '../reports/workspace/workspace.export.ts';

export const workspaceExportProcessor = processes(workspaceExportJob, runWorkspaceExport);
export const workspaceParseProcessor = processes(workspaceParseJob, runParse, noteFailure);
export const workspaceApplyProcessor = processes(workspaceApplyJob, runApply, noteFailure);
