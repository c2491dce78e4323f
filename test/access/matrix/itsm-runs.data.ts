import { randomUUID } from 'node:crypto';
import { authority } from '../../emulators/certificates.ts';
import { syncBase as base, storeMapping, storeRun } from '../../support/itsm.ts';
import { type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

const administering = '+ - - - - - 0';

const mapping = async (w: World): Promise<{ mapping_id: string }> => {
  const answer = await (await w.t.as('admin', 'maker')).post(`${base}/connections`, {
    name: randomUUID(),
    instance_url: 'https://127.0.0.1:9',
    username: 'estate',
    password: 'secret',
    ca: authority,
  });
  return { mapping_id: await storeMapping(w.t, { connectionId: answer.body.id }) };
};
const onMapping = async (w: World) => ({ path: { mapping_id: (await mapping(w)).mapping_id } });

/** A run that stands so. */
const onRun = (status: string) => async (w: World) => ({
  path: { run_id: await storeRun(w.t.services.db, (await mapping(w)).mapping_id, { status }) },
});

const onPlan = async (w: World) => ({ ...(await onRun('review')(w)), body: {} });

const onPair = (state: string) => async (w: World) => {
  const { mapping_id } = await mapping(w);
  const pair = { mapping_id, remote_id: 'r1', card_id: randomUUID(), origin: 'linked', state };
  await w.t.services.db('itsm_pairs').insert(pair);
  return { path: { mapping_id, remote_id: 'r1' } };
};

/** As connections: for administrators, unless a role of the workspace's own may see or manage. */
export const itsmRunRows: Row[] = [
  row(`POST ${base}/sync/pull/{mapping_id}`, administering, onMapping),
  row(`POST ${base}/sync/push/{mapping_id}`, administering, onMapping),
  row(`POST ${base}/sync/run/{mapping_id}`, administering, onMapping),
  row(`GET ${base}/sync/runs`, administering),
  row(`GET ${base}/sync/runs/{run_id}`, administering, onRun('completed')),
  row(`GET ${base}/sync/runs/{run_id}/staged`, administering, onRun('completed')),
  row(`GET ${base}/sync/runs/{run_id}/plan`, administering, onRun('completed')),
  row(`GET ${base}/sync/runs/{run_id}/log`, administering, onRun('completed')),
  row(`POST ${base}/sync/runs/{run_id}/cancel`, administering, onRun('review')),
  row(`GET ${base}/questions`, administering),
  row(`GET ${base}/mappings/{mapping_id}/pairs`, administering, onMapping),
  row(`POST ${base}/mappings/{mapping_id}/relink`, administering, onMapping),
  row(`POST ${base}/sync/runs/{run_id}/approve`, administering, onPlan),
  row(`POST ${base}/sync/runs/{run_id}/reject`, administering, onPlan),
  row(`POST ${base}/sync/runs/{run_id}/apply`, administering, onPlan),
  row(`POST ${base}/questions/{question_id}/answer`, administering, async (w) => {
    const { mapping_id } = await mapping(w);
    const asked = { mapping_id, kind: 'conflict', remote_id: 'r1', path: 'name', reason: 'both' };
    const [{ id }] = await w.t.services.db('itsm_review_items').insert(asked).returning('id');
    return { path: { question_id: id as string }, body: { winner: 'local' } };
  }),
  row(`POST ${base}/mappings/{mapping_id}/pairs/{remote_id}/unmap`, administering, onPair('linked')),
  row(`POST ${base}/mappings/{mapping_id}/pairs/{remote_id}/map`, administering, onPair('unmapped')),
];
