import { type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

const boundary = 'boundary-of-the-matrix';
const form = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="w.zip"\r\ncontent-type: application/zip\r\n\r\nPK\u0003\u0004\r\n--${boundary}--\r\n`;

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
  row('GET /api/v1/admin/workspace/export', '+ - - - - - 0'),
  row('POST /api/v1/admin/workspace/import', '+ - - - - - 0', () => ({
    raw: { mediaType: `multipart/form-data; boundary=${boundary}`, text: form },
  })),
  row('GET /api/v1/admin/workspace/import/{transfer_id}', '+ - - - - - 0', transfer),
  row('DELETE /api/v1/admin/workspace/import/{transfer_id}', '+ - - - - - 0', transfer),
  row('POST /api/v1/admin/workspace/import/{transfer_id}/apply', '+ - - - - - 0', transfer),
];
