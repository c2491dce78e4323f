import { runText } from '../../../domain/exchange/itsm/runs.store.ts';
import { undoRun } from '../../../integrations/itsm/runs/run.undo.ts';
import { routesOf } from '../../operation.ts';
import { ItsmRunSchema } from '../../schemas/itsm-runs.ts';
import type { App } from '../../types.ts';
import { usesNote } from './itsm-rights.ts';

const base = '/api/v1/itsm-sync';

/** Undo of runs. */
export function registerItsmUndoRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  routes.post('/api/v1/itsm-sync/sync/runs/:run_id/undo', {
    id: 'undoItsmRun',
    summary: 'Undo a run',
    description:
      'Starts a run that reverts the applied rows, from the last to the first, in the inventory and at the remote. A row whose result has changed since is not reverted: it ends as `stale` with the reason. The next run proposes the same changes again, unless you change the mapping or unmap the pairs. A plan of the mapping in review is superseded. 409 if no row was applied, the run was already undone, a run is queued or running, or the mapping or its connection is paused or deleted.',
    permission: 'itsm_sync.manage',
    permissionNote: usesNote,
    answers: { 202: { description: 'The undo run', schema: ItsmRunSchema } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, reply }) => {
      const runId = await undoRun(ctx, params.run_id);
      reply.code(202).header('location', `${base}/sync/runs/${runId}`);
      return await runText(ctx.db, runId);
    },
  });
}
