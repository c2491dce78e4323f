import { runText } from '../../../domain/exchange/itsm/runs.queries.ts';
import { undoRun } from '../../../integrations/itsm/runs/run.undo.ts';
import { routesOf } from '../../operation.ts';
import { ItsmRunSchema } from '../../schemas/itsm-runs.ts';
import type { App } from '../../types.ts';
import { usesNote } from './itsm-rights.ts';

const base = '/api/v1/itsm-sync';

/** Taking runs of the synchronisation back. */
export function registerItsmUndoRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  routes.post('/api/v1/itsm-sync/sync/runs/:run_id/undo', {
    id: 'undoItsmRun',
    summary: 'Take back what a run has applied',
    description:
      'Starts a run of its own, which does the opposite of each applied row, from the last to the first, here and at the remote; a row only while what it takes back is still as it was left, else it ends as `stale` and says why. The next run proposes the same again: change the mapping or un-map first. A plan of the mapping that waits for review is superseded. 409 when nothing was applied, it was taken back already, a run is under way, or the mapping or its connection is paused or gone.',
    permission: 'itsm_sync.manage',
    permissionNote: usesNote,
    answers: { 202: { description: 'The run that takes back', schema: ItsmRunSchema } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, reply }) => {
      const runId = await undoRun(ctx, params.run_id);
      reply.code(202).header('location', `${base}/sync/runs/${runId}`);
      return await runText(ctx.db, runId);
    },
  });
}
