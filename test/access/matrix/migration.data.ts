import { randomUUID } from 'node:crypto';
import { formOf, type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

/** A form with a table, as a client sends it. */
const form = () =>
  formOf(
    { name: 'source_key', content: 'sheet' },
    { name: 'name', content: 'Move' },
    { filename: 'Platforms.csv', content: `id,name\nP-1,Platform ${randomUUID()}\n` },
  );

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
  row('GET /migration/sources', '+ - - - - - 0'),
  row('POST /migration/upload', '+ - - - - - 0', form),
  row('GET /migration', '+ - - - - - 0'),
  row('GET /migration/{migration_id}', '+ - - - - - 0', one),
  row('DELETE /migration/{migration_id}', '+ - - - - - 0', one),
  row('GET /migration/{migration_id}/preview', '+ - - - - - 0', one),
  row('GET /migration/{migration_id}/field-mappings', '+ - - - - - 0', one),
  row('PUT /migration/{migration_id}/field-mappings', '+ - - - - - 0', one, {
    field_mappings: { Platforms: { name: 'alias' } },
  }),
  row('POST /migration/{migration_id}/apply', '+ - - - - - 0', one),
  row('GET /migration/{migration_id}/errors.csv', '+ - - - - - 0', one),
];
