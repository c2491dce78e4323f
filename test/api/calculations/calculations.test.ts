import { randomUUID } from 'node:crypto';
import { expectProblem, ok, openApp, type TestClient } from '../../support/harness.ts';
import {
  eventsBy,
  field,
  makeRelationType,
  makeType,
  schema,
  storedCard,
  types,
} from '../metamodel/metamodel.fixture.ts';

const url = '/api/v1/calculations';

const { t, admin, viewer } = await openApp(['admin', 'viewer']);

const fields = [field('a', 'number'), field('b', 'number'), field('c', 'number'), field('cost', 'cost')];
const newType = (more: object[] = []) => makeType(admin, [...fields, ...more], { has_hierarchy: true });
const create = async (type: string, target: string, formula: string, more: object = {}): Promise<string> =>
  (
    await admin.create(url, {
      name: `${target} of ${type}`,
      target_type_key: type,
      target_field_key: target,
      formula,
      ...more,
    })
  ).id;
const activate = (id: string) => admin.post(`${url}/${id}/activate`);
async function active(type: string, target: string, formula: string): Promise<string> {
  const id = await create(type, target, formula);
  expect((await ok(activate(id))).is_active).toBe(true);
  return id;
}
const post = (body: object) => admin.post('/api/v1/cards', { name: randomUUID(), ...body });
const card = async (type: string, attributes: object = {}, more: object = {}): Promise<string> =>
  (await ok(post({ type, attributes, ...more }), 201)).id;
const set = (id: string, attributes: object) => admin.patch(`/api/v1/cards/${id}`, { attributes });
const valuesOf = async (id: string) => (await storedCard(t, id)).attributes;
const relate = async (type: string, source_id: string, target_id: string, attributes?: object) =>
  (await admin.relate(type, source_id, target_id, { attributes })).id as string;

describe('formulas', () => {
  it('are made inactive, listed, changed, put in and out of force and deleted, and each step is told', async () => {
    const type = await newType();
    const one = await card(type, { a: 2 });
    const made = await eventsBy(t, () =>
      admin.post(url, {
        name: ' Twice ',
        target_type_key: type,
        target_field_key: 'b',
        formula: 'data.a * 2',
      }),
    );
    const { id } = made.answer.body;
    expect(made.answer.body).toMatchObject({
      name: 'Twice',
      is_active: false,
      execution_order: 0,
      last_error: null,
      last_run_at: null,
      created_by: admin.userId,
    });
    expect(made.kinds).toEqual({ 'calculation.created': 1 });
    expect((await admin.get(`${url}?type_key=${type}`)).body.items).toEqual([made.answer.body]);
    expect((await admin.get(`${url}/${id}`)).body).toEqual(made.answer.body);
    expect((await admin.get(`${url}/calculated-fields`)).body[type]).toBeUndefined();

    const on = await eventsBy(t, () => activate(id));
    expect(on.kinds).toEqual({ 'card.updated': 1, 'calculation.activated': 1 });
    expect(on.answer.body.last_run_at).toEqual(expect.any(String));
    expect((await valuesOf(one)).b).toBe(4);
    expect((await admin.get(`${url}/calculated-fields`)).body[type]).toEqual(['b']);
    expect((await activate(id)).body.code).toBe('wrong_state');

    const changed = await eventsBy(t, () => admin.patch(`${url}/${id}`, { formula: 'data.a * 3' }));
    expect(changed.kinds).toEqual({ 'card.updated': 1, 'calculation.updated': 1 });
    expect((await valuesOf(one)).b).toBe(6);

    const off = await eventsBy(t, () => admin.post(`${url}/${id}/deactivate`));
    expect(off.kinds).toEqual({ 'calculation.deactivated': 1 });
    expect((await admin.post(`${url}/${id}/deactivate`)).body.code).toBe('wrong_state');
    await ok(set(one, { b: 1 }));
    const gone = await eventsBy(t, () => admin.delete(`${url}/${id}`));
    expect([gone.answer.status, gone.kinds]).toEqual([204, { 'calculation.deleted': 1 }]);
    for (const answer of [
      await admin.get(`${url}/${id}`),
      await admin.patch(`${url}/${id}`, { name: 'X' }),
      await admin.delete(`${url}/${id}`),
      await activate(id),
      await admin.post(`${url}/${id}/deactivate`),
      await admin.post(`${url}/${id}/test`, { card_id: one }),
    ])
      await expectProblem(answer, 404, 'not_found');
  });

  it('are refused where they do not fit', async () => {
    const type = await newType([field('fixed', 'number', { readonly: true })]);
    const body = { name: 'X', target_type_key: type, target_field_key: 'a', formula: '1' };
    const faults: [object, string, string][] = [
      [{ target_type_key: 'Nothing' }, 'target_type_key', 'unknown_type'],
      [{ target_field_key: 'z' }, 'target_field_key', 'unknown_attribute'],
      [{ target_field_key: 'fixed' }, 'target_field_key', 'readonly'],
      [{ formula: 'data.z' }, 'formula', 'bad_formula'],
      [{ formula: 'relations.relAppToITC' }, 'formula', 'bad_formula'],
      [{ formula: '1 +' }, 'formula', 'bad_formula'],
      [{ name: '  ' }, 'name', 'required'],
    ];
    for (const [more, at, code] of faults) {
      const answer = await admin.post(url, { ...body, ...more });
      expect([answer.status, answer.body.errors?.[0]]).toMatchObject([422, { field: at, code }]);
    }
    await expectProblem(admin.post(url, { ...body, color: 'red' }), 422);
    expect((await viewer.post(url, body)).body).toMatchObject({ code: 'forbidden' });

    const check = (formula: string) => admin.post(`${url}/validate`, { formula, target_type_key: type });
    const answer = (await check('COALESCE(data.a, 7)')).body;
    expect(answer).toEqual({ valid: true, error: null, preview_result: 7 });
    expect((await check('data.z')).body).toEqual({
      valid: false,
      error: `The type '${type}' has no field 'z'.`,
      preview_result: null,
    });
    const deep = (await check(`${'-'.repeat(4_900)}1`)).body;
    expect(deep).toEqual({ valid: false, error: 'Line 1: nested too deeply.', preview_result: null });
  });

  it('may not wait for each other, and compute a field once', async () => {
    const type = await newType();
    const other = await newType();
    const joins = await makeRelationType(admin, type, other);
    await active(type, 'a', 'data.b + 1');
    const refused = await activate(await create(type, 'b', 'data.a'));
    await expectProblem(refused, 409, 'calculation_cycle');
    expect(refused.body.cycle[0]).toBe(refused.body.cycle.at(-1));
    expect([...refused.body.cycle].sort()).toContain(`${type}.a`);
    const self = await create(type, 'c', 'data.c + 1');
    expect((await activate(self)).body.cycle).toEqual([`${type}.c`, `${type}.c`]);
    // over a relation and back
    await active(other, 'c', `SUM(PLUCK(relations.${joins}, "c"))`);
    const round = await create(type, 'c', `SUM(PLUCK(relations.${joins}, "attributes.c"))`);
    expect((await activate(round)).body.code).toBe('calculation_cycle');
    expect((await activate(await create(type, 'a', '1'))).body.code).toBe('field_calculated');
    // one in force is checked when it is changed
    const fine = await active(type, 'b', '1');
    expect((await admin.patch(`${url}/${fine}`, { formula: 'data.a' })).body.code).toBe('calculation_cycle');
  });
});

describe('values', () => {
  it('follow the card itself in the same event, and cannot be written', async () => {
    const type = await newType();
    await active(type, 'c', 'data.b + 1');
    await active(type, 'b', 'data.a * 2');
    const made = await eventsBy(t, () => post({ type, attributes: { a: 1 } }));
    expect(made.answer.body.attributes).toEqual({ a: 1, b: 2, c: 3 });
    expect(made.kinds).toEqual({ 'card.created': 1 });
    expect(made.events[0]!.data.changes).toMatchObject({ 'attributes.c': { old: null, new: 3 } });
    const { id, data_quality } = made.answer.body;
    const patched = await eventsBy(t, () => set(id, { a: 10 }));
    expect(patched.answer.body.attributes).toEqual({ a: 10, b: 20, c: 21 });
    expect(patched.kinds).toEqual({ 'card.updated': 1 });
    const keys = Object.keys(patched.events[0]!.data.changes).sort();
    expect(keys).toEqual(['attributes.a', 'attributes.b', 'attributes.c']);
    expect((await set(id, { c: 5 })).body.errors).toMatchObject([
      { field: 'attributes.c', code: 'calculated' },
    ]);
    expect((await set(id, { c: 21, a: 11 })).body.attributes).toEqual({ a: 11, b: 22, c: 23 });
    await expectProblem(post({ type, attributes: { b: 1 } }), 422);
    const bulk = await admin.patch('/api/v1/cards/bulk', { ids: [id], updates: { attributes: { a: 2 } } });
    expect(bulk.body).toMatchObject({ updated: 1 });
    expect(await valuesOf(id)).toEqual({ a: 2, b: 4, c: 5 });
    // all cleared: what is computed from nothing stays, and counts for the data quality
    const cleared = await admin.patch(`/api/v1/cards/${id}`, { attributes: null });
    expect(cleared.body.attributes).toEqual({ b: 0, c: 1 });
    expect(cleared.body.data_quality).toBeLessThan(data_quality);
  });

  it('follow relations, related cards and their going, on both sides', async () => {
    const type = await newType();
    const other = await newType();
    const joins = await makeRelationType(admin, type, other, {
      attributes_schema: [{ key: 'share', label: 'Share', type: 'number' }],
    });
    await active(type, 'a', `SUM(PLUCK(relations.${joins}, "b"))`);
    await active(type, 'b', `SUM(PLUCK(relations.${joins}, "rel_attributes.share"))`);
    await active(type, 'c', `relation_count.${joins} * 100 + data.a`);
    await active(other, 'c', `relation_count.${joins}`);
    const text = await makeType(admin, [field('names', 'text')]);
    const named = await makeRelationType(admin, text, other);
    await active(text, 'names', `x = relations.${named}\nIF(len(x), x[0].name, None)`);

    const [one, two] = [await card(type), await card(other, { b: 5 })];
    const watcher = await card(text);
    await relate(named, watcher, two);
    expect(await valuesOf(one)).toEqual({ a: 0, b: 0, c: 0 });
    const joined = await eventsBy(t, () =>
      admin.post('/api/v1/relations', {
        type: joins,
        source_id: one,
        target_id: two,
        attributes: { share: 3 },
      }),
    );
    expect(joined.kinds).toEqual({ 'relation.created': 1, 'card.updated': 2 });
    expect(await valuesOf(one)).toEqual({ a: 5, b: 3, c: 105 });
    expect(await valuesOf(two)).toEqual({ b: 5, c: 1 });
    expect((await eventsBy(t, () => set(two, { b: 7 }))).kinds).toEqual({ 'card.updated': 2 });
    expect(await valuesOf(one)).toEqual({ a: 7, b: 3, c: 107 });
    const relation = joined.answer.body.id;
    await admin.patch(`/api/v1/relations/${relation}`, { attributes: { share: 4 } });
    expect((await valuesOf(one)).b).toBe(4);
    await admin.patch(`/api/v1/cards/${two}`, { name: 'Renamed' });
    expect(await valuesOf(watcher)).toEqual({ names: 'Renamed' });

    await ok(admin.post(`/api/v1/cards/${two}/archive`, {}));
    expect(await valuesOf(one)).toEqual({ a: 0, b: 0, c: 0 });
    expect(await valuesOf(watcher)).toEqual({});
    await ok(admin.post(`/api/v1/cards/${two}/restore`, {}));
    expect(await valuesOf(one)).toEqual({ a: 7, b: 4, c: 107 });
    await ok(admin.delete(`/api/v1/relations/${relation}`), 204);
    expect(await valuesOf(one)).toEqual({ a: 0, b: 0, c: 0 });
    await relate(joins, one, two);
    await ok(admin.delete(`/api/v1/cards/${two}`));
    expect(await valuesOf(one)).toEqual({ a: 0, b: 0, c: 0 });
  });

  it('roll up a hierarchy, whatever moves in it', async () => {
    const type = await newType();
    await active(type, 'b', 'COALESCE(data.a, 0) + SUM(PLUCK(children, "b"))');
    await active(type, 'c', 'children_count');
    const root = await card(type, { a: 1 });
    const middle = await card(type, { a: 10 }, { parent_id: root });
    const leaf = await card(type, { a: 100 }, { parent_id: middle });
    expect(await valuesOf(root)).toEqual({ a: 1, b: 111, c: 1 });
    await set(leaf, { a: 200 });
    expect((await valuesOf(root)).b).toBe(211);
    await admin.patch(`/api/v1/cards/${leaf}`, { parent_id: root });
    expect(await valuesOf(middle)).toEqual({ a: 10, b: 10, c: 0 });
    expect(await valuesOf(root)).toEqual({ a: 1, b: 211, c: 2 });
    await admin.post(`/api/v1/cards/${leaf}/archive`, {});
    expect((await valuesOf(root)).b).toBe(11);
    await admin.delete(`/api/v1/cards/${middle}`);
    expect(await valuesOf(root)).toEqual({ a: 1, b: 1, c: 0 });
  });

  it('that cannot be computed stay, with the error at the formula', async () => {
    const type = await newType();
    const id = await active(type, 'b', '10 / data.a');
    const one = await card(type, { a: 2 });
    expect((await set(one, { a: 0 })).body.attributes).toEqual({ a: 0, b: 5 });
    expect((await admin.get(`${url}/${id}`)).body).toMatchObject({ last_error: 'Division by zero.' });
    expect((await set(one, { a: 5 })).body.attributes).toEqual({ a: 5, b: 2 });
    expect((await admin.get(`${url}/${id}`)).body).toMatchObject({ last_error: null });
    await active(type, 'c', 'str(data.a)');
    expect(await valuesOf(one)).toEqual({ a: 5, b: 2 });
  });

  it('say why they no longer fit, and are not run, when what they need is gone', async () => {
    const type = await newType();
    const reading = await active(type, 'b', 'data.a + 1');
    const target = await create(type, 'c', 'data.b');
    const one = await card(type, { a: 1 });
    const reshape = (...kept: object[]) =>
      ok(admin.patch(`${types}/${type}?force=true`, { fields_schema: schema(...kept) }));
    const reasons = async () =>
      (await admin.get(`${url}?type_key=${type}&sort_by=name&fields=id,broken_reason`)).body.items;
    expect(await reasons()).toEqual([
      { id: reading, broken_reason: null },
      { id: target, broken_reason: null },
    ]);
    await reshape(field('b', 'number'));
    expect(await reasons()).toEqual([
      { id: reading, broken_reason: `The type '${type}' has no field 'a'.` },
      { id: target, broken_reason: `${type}.c is no attribute of this type` },
    ]);
    await ok(admin.patch(`/api/v1/cards/${one}`, { alias: 'Still here' }));
    expect(await valuesOf(one)).toEqual({ b: 2 });
    // with the field back, it works again
    await reshape(...fields);
    expect((await set(one, { a: 4 })).body.attributes).toEqual({ a: 4, b: 5 });
    await ok(admin.delete(`/api/v1/cards/${one}`));
    expect((await admin.delete(`${types}/${type}?force=true`)).body.status).toBe('deleted');
    expect((await admin.get(`${url}/${target}`)).body.broken_reason).toBe(`there is no card type "${type}"`);
  });

  it('are taken back with the batch that brought them', async () => {
    const type = await newType();
    const other = await newType();
    const joins = await makeRelationType(admin, type, other);
    const [one, two] = [await card(type), await card(other, { a: 4 })];
    await relate(joins, one, two);
    const id = await create(type, 'b', `SUM(PLUCK(relations.${joins}, "a"))`);
    const on = await eventsBy(t, () => activate(id));
    expect(await valuesOf(one)).toEqual({ b: 4 });
    const changed = await eventsBy(t, () => set(two, { a: 6 }));
    expect(await valuesOf(one)).toEqual({ b: 6 });
    const undo = (events: { batch_id?: string }[]) =>
      admin.post(`/api/v1/mutation-batches/${events[0]!.batch_id}/rollback`, { dry_run: false });
    await ok(undo(changed.events as never));
    expect(await valuesOf(one)).toEqual({ b: 4 });
    await ok(undo(on.events as never));
    expect(await valuesOf(one)).toEqual({});
    expect((await admin.get(`${url}/${id}`)).body.is_active).toBe(false);
  });
});

it('what formulas compute later does not keep an earlier batch from being taken back, and stays', async () => {
  const type = await newType();
  await active(type, 'b', 'SUM(PLUCK(children, "a"))');
  const root = await card(type, { c: 1 });
  const { events } = await eventsBy(t, () => set(root, { c: 7 }));
  await card(type, { a: 5 }, { parent_id: root });
  expect(await valuesOf(root)).toEqual({ b: 5, c: 7 });
  const [{ batch_id: batch }] = events as unknown as [{ batch_id: string }];
  await admin.undo(batch);
  expect(await valuesOf(root)).toEqual({ b: 5, c: 1 });
});

it('costs are left out of trials, and of fields for everybody, for those who do not see them', async () => {
  const type = await newType();
  const other = await newType();
  const joins = await makeRelationType(admin, type, other);
  const [one, two] = [await card(type, { cost: 100, a: 1 }), await card(other, { cost: 11 })];
  await relate(joins, one, two);
  const id = await create(type, 'b', `data.cost + data.a + SUM(PLUCK(relations.${joins}, "cost"))`);
  const trial = (client: TestClient) => client.post(`${url}/${id}/test`, { card_id: one });
  expect((await trial(admin)).body).toMatchObject({ success: true, error: null, computed_value: 112 });
  const modeller = await t.holding('admin.metamodel', 'inventory.view');
  expect((await trial(modeller)).body).toMatchObject({ success: true, computed_value: 1 });
  const refused = await modeller.post(`${url}/${id}/activate`);
  expect([refused.status, refused.body.detail]).toEqual([403, expect.stringContaining('costs.view')]);
  // errors of a formula would tell whether a cost is above a bound
  const probe = await create(type, 'cost', 'IF(data.cost > 50, 1 / 0, 1)');
  await expectProblem(modeller.post(`${url}/${probe}/activate`), 403, 'costs.view');
  // a formula that is not active computes nothing, and is stored and changed without the permission
  const inactive = { target_type_key: type, target_field_key: 'b', formula: 'data.cost', name: 'Stored' };
  const stored = await modeller.post(url, inactive);
  expect([stored.status, stored.body.is_active]).toEqual([201, false]);
  const change = (id: string, by = 2) => modeller.patch(`${url}/${id}`, { formula: `data.cost * ${by}` });
  await ok(change(stored.body.id));
  expect((await modeller.post(`${url}/${stored.body.id}/activate`)).body).toMatchObject({
    permission: 'costs.view',
    detail: 'An active formula that writes or reads costs needs the permission costs.view.',
  });
  await admin.post(`${url}/${stored.body.id}/activate`);
  await expectProblem(change(stored.body.id, 3), 403, 'costs.view');
  expect((await trial(admin)).body.card_name).toEqual(expect.any(String));
  const wrong = await admin.post(`${url}/${id}/test`, { card_id: two });
  expect([wrong.status, wrong.body.errors?.[0]?.field]).toEqual([422, 'card_id']);
  await expectProblem(admin.post(`${url}/${id}/test`, { card_id: randomUUID() }), 404);
});
