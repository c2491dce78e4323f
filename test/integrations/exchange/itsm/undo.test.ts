import { loadRun } from '../../../../domain/exchange/itsm/runs.commands.ts';
import { JobInterrupted } from '../../../../domain/kernel/jobs/jobs.running.ts';
import { emptyRow } from '../../../../integrations/exchange/itsm/engine/state.ts';
import { undoRun } from '../../../../integrations/exchange/itsm/runs/run.undo.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { plainMapping } from './mapping.support.ts';
import { invertRows, storeMapping, storePlan } from './stored.ts';

const t = closeAfterAll(await createTestServices());

it('an undo is planned from the last row to the first, and resumes', async () => {
  const { db } = t.services;
  const ctx = await t.ctx();
  const plain = plainMapping({ remote_table: 'x', sync_direction: 'pull' });
  const { connectionId, mappingId } = await storeMapping(db, plain);
  const mapping = { ...plain, id: mappingId };
  const remoteIds = Array.from({ length: 1_001 }, (_, no) => `r${no}`);
  const rows = remoteIds.map((remoteId, no) => ({
    ...emptyRow,
    no,
    action: 'link' as const,
    remoteId,
    reason: '',
  }));
  const runId = await storePlan(db, { connectionId, mapping, rows });
  await db('itsm_plan_rows').where({ run_id: runId }).update({ progress: 'applied' });
  const undoId = await undoRun(ctx, runId);
  let steps = 0;
  const killed = async () => {
    steps += 1;
    if (steps === 2) throw new JobInterrupted();
  };
  await expect(invertRows(ctx, undoId, killed)).rejects.toThrow(JobInterrupted);
  expect(await loadRun(db, undoId)).toMatchObject({ checkpoint: { made: 500 }, plan_made_at: null });
  await invertRows(ctx, undoId);
  const ids = await db('itsm_plan_rows').where({ run_id: undoId }).orderBy('no').pluck('remote_id');
  expect(ids).toEqual(remoteIds.reverse());
  expect((await loadRun(db, undoId)).stats.planned).toEqual({ unlink: 1_001 });
  // it cannot be undone again during or after the undo
  await expect(undoRun(ctx, runId)).rejects.toMatchObject({ code: 'wrong_state' });
});
