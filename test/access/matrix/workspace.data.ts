import { formOf, type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

/** A transfer that has been read. */
async function transfer(w: World): Promise<{ path: { transfer_id: string } }> {
  const { db } = w.t.services;
  const [file] = await db('files')
    .insert({ name: 'w.zip', media_type: 'application/zip', size: 4, sha256: '0'.repeat(64) })
    .returning('id');
  const [made] = await db('workspace_transfers')
    .insert({ filename: 'w.zip', status: 'previewed', file_id: file.id })
    .returning('id');
  return { path: { transfer_id: made.id } };
}

/** A workspace as a whole is the administrators'. */
export const workspaceRows: Row[] = [
  // operation                                                     A B M V I P 0
  row('GET /admin/workspace/export', '+ - - - - - 0'),
  row('POST /admin/workspace/import', '+ - - - - - 0', () =>
    formOf({ filename: 'w.zip', type: 'application/zip', content: 'PK\u0003\u0004' }),
  ),
  row('GET /admin/workspace/import/{transfer_id}', '+ - - - - - 0', transfer),
  row('DELETE /admin/workspace/import/{transfer_id}', '+ - - - - - 0', transfer),
  row('POST /admin/workspace/import/{transfer_id}/apply', '+ - - - - - 0', transfer),
];
