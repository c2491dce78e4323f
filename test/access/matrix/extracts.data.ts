import { exportRequest } from '../../support/exports.ts';
import { onNew, type Row, row } from '../matrix.row.ts';
import type { Role, World } from '../world.ts';

/** An export of the role's own, as if it had been carried out. */
async function exported(w: World, role: Role): Promise<string> {
  const { userId } = await w.client(role);
  const manifest = {
    ...exportRequest(),
    after: null,
    position: '1',
    taken_at: '2026-01-31T00:00:00.000Z',
    tables: [],
    file: { name: 'estate-cards.csv', size: 0, sha256: '' },
  };
  const [job] = await w.t.services
    .db('jobs')
    .insert({
      kind: 'export',
      queue: 'bulk',
      status: 'succeeded',
      owner_id: userId || null,
      result: JSON.stringify(manifest),
    })
    .returning('id');
  return job.id;
}

/** Extractions that are streamed, and the manifests of exports. */
export const extractRows: Row[] = [
  row('GET /extracts/cards', '+ + + + - - 0', () => ({ query: 'format=csv' })),
  row('GET /extracts/relations', '+ + + + - - 0'),
  row('GET /extracts/costs', '+ + + - - - 0'),
  row('GET /extracts/data-flows', '+ + + + - - 0'),
  row('GET /exports/{id}/manifest', '+ + + + + + 0', onNew('id', exported)),
];
