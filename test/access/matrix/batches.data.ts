import { type Row, row } from '../matrix.row.ts';
import type { Role, World } from '../world.ts';

const url = '/api/v1/mutation-batches';

async function batchOf(w: World, role: Role) {
  const opener = await w.client(role === 'anonymous' ? 'admin' : role);
  const { body } = await opener.post(url, { tool_name: 'Test' });
  return { path: { id: body.id as string } };
}

async function closedBatch(w: World, role: Role) {
  const { path } = await batchOf(w, role);
  const opener = await w.client(role === 'anonymous' ? 'admin' : role);
  await opener.post(`${url}/${path.id}/commit`, {});
  return { path };
}

export const batchRows: Row[] = [
  // operation                                                A B M V I P 0
  row(`POST ${url}`, '+ + + + + + 0', () => ({ body: { tool_name: 'Test' } })),
  row(`POST ${url}/{id}/commit`, '+ + + + + + 0', batchOf, {}),
  row(`GET ${url}`, '+ - - - - - 0'),
  row(`GET ${url}/{id}`, '+ - - - - - 0', batchOf),
  row(`POST ${url}/{id}/rollback`, '+ + + + + + 0', closedBatch, { dry_run: false }),
  row(`POST ${url}/{id}/rollback (another's)`, '+ - - - - - 0', (w) => closedBatch(w, 'admin'), {
    dry_run: false,
  }),
  row(`GET ${url}/{id}/events`, '+ - - - - - 0', batchOf),
];
