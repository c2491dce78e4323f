import { randomUUID } from 'node:crypto';
import { type Call, type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

const boundary = 'boundary-of-the-table';
const part = (head: string, content: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; ${head}\r\n\r\n${content}\r\n`;

/** A form with a table, as a client sends it. */
const form = (): Pick<Call, 'raw'> => ({
  raw: {
    mediaType: `multipart/form-data; boundary=${boundary}`,
    text: `${part('name="source_key"', 'sheet')}${part('name="name"', 'Move')}${part(
      'name="file"; filename="Platforms.csv"',
      `id,name\nP-1,Platform ${randomUUID()}\n`,
    )}--${boundary}--\r\n`,
  },
});

/** A migration whose records can be looked at. */
async function migration(w: World): Promise<string> {
  const { db } = w.t.services;
  const columns = [{ key: 'name', label: null, values: 1, data_type: 'text' }];
  const [made] = await db('migrations')
    .insert({
      name: 'Move',
      source_type: 'sheet',
      status: 'previewed',
      file_id: randomUUID(),
      file_name: 'Platforms.csv',
      file_hash: randomUUID(),
      file_size: 1,
      blocks: JSON.stringify([{ native_type: 'Platforms', rows: 1, columns }]),
      stats: '{}',
      parsed_at: new Date(),
      previewed_at: new Date(),
    })
    .returning('id');
  const card = { entity_kind: 'card', source_id: 'P-1', source_type: 'Platforms', card_type_key: 'Platform' };
  await db('migration_records').insert({ migration_id: made.id, line: 1, ...card, action: 'skip' });
  return made.id;
}

const one = async (w: World) => ({ path: { migration_id: await migration(w) } });

/** Administrators alone move what other tools hold. */
export const migrationRows: Row[] = [
  row('GET /api/v1/migration/sources', '+ - - - - - 0'),
  row('POST /api/v1/migration/upload', '+ - - - - - 0', form),
  row('GET /api/v1/migration', '+ - - - - - 0'),
  row('GET /api/v1/migration/{migration_id}', '+ - - - - - 0', one),
  row('DELETE /api/v1/migration/{migration_id}', '+ - - - - - 0', one),
  row('GET /api/v1/migration/{migration_id}/preview', '+ - - - - - 0', one),
  row('GET /api/v1/migration/{migration_id}/field-mappings', '+ - - - - - 0', one),
  row('PUT /api/v1/migration/{migration_id}/field-mappings', '+ - - - - - 0', async (w) => ({
    ...(await one(w)),
    body: { field_mappings: { Platforms: { name: 'alias' } } },
  })),
  row('POST /api/v1/migration/{migration_id}/apply', '+ - - - - - 0', one),
  row('GET /api/v1/migration/{migration_id}/errors.csv', '+ - - - - - 0', one),
];
