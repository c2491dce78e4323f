import { CLEANUP_BATCH, type Extension } from '../../kernel/extensions.ts';
import { removeOldTransfers } from './transfer.cleanup.ts';
import { workspaceApplyJob, workspaceExportJob, workspaceParseJob } from './workspace.jobs.ts';

/** Transfer of whole workspaces. */
export const workspaceExtension: Extension = {
  jobs: [workspaceExportJob, workspaceParseJob, workspaceApplyJob],
  cleanups: { workspace_transfers: (sql) => removeOldTransfers(sql, CLEANUP_BATCH) },
};
