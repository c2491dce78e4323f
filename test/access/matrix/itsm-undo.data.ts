import { randomUUID } from 'node:crypto';
import { emptyRow } from '../../../integrations/exchange/itsm/engine/state.ts';
import { authority } from '../../emulators/certificates.ts';
import { syncBase as base, storeMapping, storeRun } from '../../support/itsm.ts';
import { type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

/** A run that has linked a record to a card. */
async function appliedRun(w: World) {
  const { db } = w.t.services;
  const connection = await (await w.t.as('admin', 'maker')).post(`${base}/connections`, {
    name: randomUUID(),
    instance_url: 'https://127.0.0.1:9',
    username: 'estate',
    password: 'secret',
    ca: authority,
  });
  const mapping_id = await storeMapping(w.t, { connectionId: connection.body.id });
  const id = await storeRun(db, mapping_id, { status: 'completed', stage: 'done' });
  const linked = {
    ...emptyRow,
    no: 0,
    action: 'link',
    reason: 'as tested',
    remoteId: 'r',
    cardId: randomUUID(),
  };
  await db('itsm_plan_rows').insert({
    run_id: id,
    no: 0,
    action: 'link',
    remote_id: 'r',
    card_id: linked.cardId,
    row: JSON.stringify(linked),
    progress: 'applied',
  });
  return { path: { run_id: id as string } };
}

export const itsmUndoRows: Row[] = [row(`POST ${base}/sync/runs/{run_id}/undo`, '+ - - - - - 0', appliedRun)];
