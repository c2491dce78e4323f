import { randomUUID } from 'node:crypto';
import { type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

const body = (more: object = {}) => ({
  name: randomUUID(),
  target_type_key: 'ITComponent',
  target_field_key: 'licenseType',
  formula: 'UPPER("free")',
  ...more,
});
const made = async (w: World) => {
  const maker = await w.t.as('admin', 'maker');
  return (await maker.post('/api/v1/calculations', body())).body.id as string;
};
const one = async (w: World) => ({ path: { id: await made(w) } });
/** Only one formula may be active for a field, so that each call has to leave none. */
const active = async (w: World) => {
  const id = await made(w);
  await w.t.services.db('calculations').where({ is_active: true }).update({ is_active: false });
  return { path: { id } };
};

/** Formulas are a part of the metamodel: its administrators keep them, and everybody may know them. */
export const calculationRows: Row[] = [
  row('GET /calculations', '+ + + + + + 0'),
  row('GET /calculations/calculated-fields', '+ + + + + + 0'),
  row('POST /calculations', '+ - - - - - 0', () => ({ body: body() })),
  row('GET /calculations/{id}', '+ + + + + + 0', one),
  row('PATCH /calculations/{id}', '+ - - - - - 0', one, { description: 'Changed' }),
  row('DELETE /calculations/{id}', '+ - - - - - 0', one),
  row('POST /calculations/{id}/activate', '+ - - - - - 0', active),
  row('POST /calculations/{id}/deactivate', '+ - - - - - 0', async (w) => {
    const call = await active(w);
    await w.t.services.db('calculations').where({ id: call.path.id }).update({ is_active: true });
    return call;
  }),
  row('POST /calculations/{id}/test', '+ - - - - - 0', one, async (w) => ({
    card_id: await w.card({ type: 'ITComponent' }),
  })),
  row('POST /calculations/validate', '+ - - - - - 0', () => ({
    body: { formula: '1', target_type_key: 'Application' },
  })),
  row('POST /calculations/recalculate/{type_key}', '+ - - - - - 0', () => ({
    path: { type_key: 'Provider' },
  })),
];
