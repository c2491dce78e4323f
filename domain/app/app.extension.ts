import { removeEvents } from '../kernel/events/changes.ts';
import { CLEANUP_BATCH, deleteExpired, type Extension } from '../kernel/extensions.ts';
import { batchRollbackJob } from './batches/batches.rollback.job.ts';
import { housekeepingJob } from './housekeeping.job.ts';
import { removeOldTransfers } from './workspace/transfer.cleanup.ts';
import { WorkspaceTransfer } from './workspace/transfer.model.ts';
import { workspaceApplyJob, workspaceExportJob, workspaceParseJob } from './workspace/workspace.jobs.ts';

/** Mutation batches, workspace transfer, and the tables of the command layer. */
export const appExtension: Extension = {
  resources: [
    {
      model: WorkspaceTransfer,
      name: 'transfer',
      events: {},
      undo: { refused: 'A transfer is started again from its archive.' },
      transfer: { excluded: 'service', reason: 'The service keeps its own work here.' },
    },
  ],
  jobs: [batchRollbackJob, workspaceExportJob, workspaceParseJob, workspaceApplyJob, housekeepingJob],
  cleanups: {
    batches: deleteExpired(
      'mutation_batches',
      'created_at < now() - make_interval(days => ?)',
      ({ batches_days }) => batches_days,
    ),
    workspace_transfers: (sql) => removeOldTransfers(sql, CLEANUP_BATCH),
    idempotency_keys: deleteExpired(
      'idempotency_keys',
      'created_at < now() - make_interval(hours => ?)',
      ({ idempotency_hours }) => idempotency_hours,
    ),
    list_snapshots: deleteExpired('list_snapshots', `used_at < now() - interval '1 hour'`),
    events: removeEvents,
  },
};
