import { expectProblem, ok, openApp } from '../../support/harness.ts';
import { field, makeType } from '../metamodel/metamodel.fixture.ts';

const url = '/api/v1/calculations';

const { db, admin } = await openApp(['admin']);

const newType = () => makeType(admin, [field('a', 'number'), field('b', 'number')]);
async function active(type: string, formula: string): Promise<string> {
  const values = { name: `b of ${type}`, target_type_key: type, target_field_key: 'b', formula };
  const { body } = await admin.post(url, values);
  await ok(admin.post(`${url}/${body.id}/activate`));
  return body.id;
}

const undo = async (asked: Promise<{ headers: Record<string, unknown> }>, more: object = {}) => {
  const request_id = (await asked).headers['x-request-id'] as string;
  const event = await db('events').where({ request_id }).whereNotNull('batch_id').first();
  return await admin.post(`/api/v1/mutation-batches/${event.batch_id}/rollback`, { dry_run: false, ...more });
};

it('computes its field anew, back and forth', async () => {
  const type = await newType();
  const one = await admin.post('/api/v1/cards', { type, name: 'One', attributes: { a: 2 } });
  const values = async () => (await admin.get(`/api/v1/cards/${one.body.id}`)).body.attributes;
  const id = await active(type, 'data.a + 1');
  const back = undo(admin.patch(`${url}/${id}`, { formula: 'data.a * 10' }));
  expect((await back).status).toBe(200);
  expect(await values()).toEqual({ a: 2, b: 3 });
  await ok(undo(back as never));
  expect(await values()).toEqual({ a: 2, b: 20 });
});

it('is refused where another formula computes its field by now', async () => {
  const type = await newType();
  const deleted = admin.delete(`${url}/${await active(type, 'data.a')}`);
  await deleted;
  await active(type, 'data.a * 2');
  await expectProblem(undo(deleted), 409, 'rollback_conflicts');
  expect((await undo(deleted, { force: true })).body.left).toMatchObject([{ code: 'field_calculated' }]);
});

it('is refused where it would be in a cycle by now', async () => {
  const type = await newType();
  const id = await active(type, 'data.a');
  const changed = admin.patch(`${url}/${id}`, { formula: '1' });
  await changed;
  const values = { name: 'a', target_type_key: type, target_field_key: 'a', formula: 'data.b' };
  await ok(admin.post(`${url}/${(await admin.create(url, values)).id}/activate`));
  await expectProblem(undo(changed), 409, 'rollback_conflicts');
  expect((await undo(changed, { force: true })).body.left).toMatchObject([{ code: 'calculation_cycle' }]);
  expect((await admin.get(`${url}/${id}`)).body.formula).toBe('1');
});
