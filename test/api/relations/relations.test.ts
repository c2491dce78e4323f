import { expectProblem, ok, openApp, type TestClient } from '../../support/harness.ts';
import { card, NOBODY, writesOf } from '../../support/writes.ts';

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);
const { appoint, eventsOf, expectRefused, idle, refused, expectInvalid } = writesOf(t);
const app: { id: string; name: string } = await admin.card({ name: 'Claims' });
const component: { id: string; name: string } = await admin.card({ type: 'ITComponent', name: 'Database' });
for (const [key, cardinality] of [
  ['relOrgToApp', '1:n'],
  ['relPlatformToApp', '1:1'],
])
  await db('relation_types').where({ key }).update({ cardinality });
await db.raw(`select raise_topics(array['metamodel'])`);

const url = (id: string) => `/api/v1/relations/${id}`;
const create = (client: TestClient, body: Record<string, unknown>) => () =>
  client.post('/api/v1/relations', {
    type: 'relAppToITC',
    source_id: app.id,
    target_id: component.id,
    ...body,
  });

describe('POST /relations', () => {
  it('answers the whole relation and writes one event that names both cards', async () => {
    const vendor = await admin.card({ name: 'Vendor' });
    const body = {
      type: 'relAppToITC',
      source_id: vendor.id.toUpperCase(),
      target_id: component.id,
      attributes: { costTotalAnnual: 12 },
      description: 'Support contract',
    };
    const { answer, events } = await eventsOf(create(member, body), 201);
    expect(answer.headers.location).toBe(url(answer.body.id));
    expect(answer.body).toEqual({
      id: answer.body.id,
      type: 'relAppToITC',
      source_id: vendor.id,
      target_id: component.id,
      source: { id: vendor.id, type: 'Application', name: 'Vendor' },
      target: { id: component.id, type: 'ITComponent', name: 'Database' },
      attributes: { costTotalAnnual: 12 },
      description: 'Support contract',
      created_at: expect.any(String),
    });
    const read = await member.get(url(answer.body.id));
    expect([read.text, read.headers.etag]).toEqual([answer.text, answer.headers.etag]);
    expect(events).toMatchObject([
      {
        event_type: 'relation.created',
        card_id: vendor.id,
        card_type: 'Application',
        peer_card_id: component.id,
        peer_card_type: 'ITComponent',
        relation_id: answer.body.id,
        relation_type: 'relAppToITC',
        cost_keys: ['attributes.costTotalAnnual'],
      },
    ]);
    expect(events[0]!.data).toEqual({
      id: answer.body.id,
      type: 'relAppToITC',
      relation_label: expect.any(String),
      relation_reverse_label: expect.any(String),
      source_id: vendor.id,
      source_name: 'Vendor',
      source_type: 'Application',
      target_id: component.id,
      target_name: 'Database',
      target_type: 'ITComponent',
      changes: {
        description: { old: null, new: 'Support contract' },
        'attributes.costTotalAnnual': { old: null, new: 12 },
      },
    });
    for (const end of [vendor.id, component.id])
      expect((await member.get(card(end, '/history'))).body.items[0]).toMatchObject({
        event_type: 'relation.created',
        relation_id: answer.body.id,
      });
  });

  it.each([
    ['unknown type', () => ({ type: 'relNope' }), ['type']],
    ['unknown source', () => ({ source_id: NOBODY }), ['source_id']],
    ['malformed target', () => ({ target_id: 'x' }), ['target_id']],
    [
      'ends the wrong way',
      () => ({ source_id: component.id, target_id: app.id }),
      ['source_id', 'target_id'],
    ],
    ['unknown attribute', () => ({ attributes: { nope: 1 } }), ['attributes.nope']],
    ['attributes that are no object', () => ({ attributes: [] }), ['attributes']],
    ['unknown member', () => ({ more: 1 }), ['more']],
    ['bad text', () => ({ description: '\0' }), ['description']],
  ])('refuses %s with 422', async (_name, body, fields) => {
    const refusal = await refused(create(member, body()));
    expect(refusal).toMatchObject({ status: 422, code: 'validation_failed', fields });
  });

  it('refuses archived ends and a card related to itself', async () => {
    const gone = await admin.card({ type: 'ITComponent' });
    await admin.post(card(gone.id, '/archive'));
    await expectInvalid(create(member, { target_id: gone.id }), 'target_id');
    const successor = await db('relation_types').whereRaw('source_type_key = target_type_key').first();
    const one = await admin.card({ type: successor.source_type_key });
    await expectInvalid(
      create(member, { type: successor.key, source_id: one.id, target_id: one.id }),
      'target_id',
    );
  });

  it('refuses a duplicate and names the relation that is there', async () => {
    const first = await member.relate('relAppToITC', app.id, component.id);
    await expectRefused(create(member, {}), 409, 'duplicate_relation', { existing_id: first.id });
  });

  it('keeps to the cardinality: 1:n one source to a target, 1:1 one on both sides', async () => {
    const apps = [await admin.card(), await admin.card()];
    const orgs = [await admin.card({ type: 'Organization' }), await admin.card({ type: 'Organization' })];
    const platforms = [await admin.card({ type: 'Platform' }), await admin.card({ type: 'Platform' })];
    const body = (type: string, source: { id: string }, target: { id: string }) => ({
      type,
      source_id: source.id,
      target_id: target.id,
    });
    const exceeded = { status: 409, code: 'cardinality_exceeded' };
    await member.relate('relOrgToApp', orgs[0]!.id, apps[0]!.id);
    await member.relate('relOrgToApp', orgs[0]!.id, apps[1]!.id);
    expect(await refused(create(member, body('relOrgToApp', orgs[1]!, apps[0]!)))).toMatchObject(exceeded);
    await member.relate('relPlatformToApp', platforms[0]!.id, apps[0]!.id);
    expect(await refused(create(member, body('relPlatformToApp', platforms[0]!, apps[1]!)))).toMatchObject(
      exceeded,
    );
    expect(await refused(create(member, body('relPlatformToApp', platforms[1]!, apps[0]!)))).toMatchObject(
      exceeded,
    );
    await member.relate('relPlatformToApp', platforms[1]!.id, apps[1]!.id);
  });

  it('needs relations.manage, or the right by a stakeholder role on either card', async () => {
    const one = await admin.card();
    const two = await admin.card({ type: 'ITComponent' });
    const body = { source_id: one.id, target_id: two.id };
    await expectRefused(create(viewer, body), 403, 'relations.manage');
    await appoint(two.id, viewer, 'responsible');
    await ok(create(viewer, body)(), 201);
  });
});

it('PATCH /relations/{id} merges attributes, clears by null, in one event, and not twice', async () => {
  const one = await admin.card();
  const data = await admin.card({ type: 'DataObject' });
  const { id } = await member.relate('relAppToDataObj', one.id, data.id);
  await member.patch(url(id), { attributes: { crudRead: true, crudCreate: true }, description: 'x' });
  const body = { attributes: { crudCreate: null, crudDelete: false }, description: null };
  const { answer, events } = await eventsOf(() => member.patch(url(id), body));
  expect(answer.body).toMatchObject({
    attributes: { crudRead: true, crudDelete: false },
    description: null,
    source: { id: one.id },
  });
  expect(events).toMatchObject([{ event_type: 'relation.updated', relation_id: id }]);
  expect(events[0]!.data.changes).toEqual({
    description: { old: 'x', new: null },
    'attributes.crudCreate': { old: true, new: null },
    'attributes.crudDelete': { old: null, new: false },
  });
  await idle(() => member.patch(url(id), body));
  await idle(() => member.patch(url(id), {}));
  for (const wrong of [{ attributes: { crudRead: 'yes' } }, { attributes: { x: 1 } }, { type: 'y' }])
    await expectRefused(() => member.patch(url(id), wrong), 422);
  const stale = { 'if-match': '"stale"' };
  await expectRefused(() => member.patch(url(id), {}, stale), 412);
  await expectRefused(() => member.delete(url(id), undefined, stale), 412);
  await expectRefused(() => viewer.patch(url(id), {}), 403);
  await expectRefused(() => viewer.delete(url(id)), 403);

  const gone = await eventsOf(() => member.delete(url(id)));
  expect([gone.answer.status, gone.answer.text]).toEqual([204, '']);
  expect(gone.events).toHaveLength(1);
  expect(gone.events[0]).toMatchObject({ event_type: 'relation.deleted', relation_id: id });
  expect(gone.events[0]!.data.changes).toEqual({
    'attributes.crudRead': { old: true, new: null },
    'attributes.crudDelete': { old: false, new: null },
  });
  for (const method of ['get', 'delete'] as const) await expectProblem(member[method](url(id)), 404);
  await expectRefused(() => member.patch(url(id), {}), 404);
});

it('costs of relations are neither shown nor written without costs.view or a role on either card', async () => {
  const thrifty = await t.holding('inventory.view', 'relations.view', 'relations.manage');
  const spender = await admin.card();
  const part = await admin.card({ type: 'ITComponent' });
  const body = { type: 'relAppToITC', source_id: spender.id, target_id: part.id };
  await expectRefused(create(thrifty, { ...body, attributes: { costTotalAnnual: 1 } }), 403, 'costs.view');
  const { id } = (await create(member, { ...body, attributes: { costTotalAnnual: 1 } })()).body;
  expect((await thrifty.get(url(id))).body.attributes).toEqual({});
  expect((await thrifty.get(`/api/v1/relations?card_id=${part.id}`)).body.items[0].attributes).toEqual({});
  expect((await thrifty.patch(url(id), { attributes: null, description: 'x' })).body.attributes).toEqual({});
  expect((await member.get(url(id))).body.attributes).toEqual({ costTotalAnnual: 1 });
  await appoint(part.id, thrifty, 'responsible');
  expect((await thrifty.get(url(id))).body.attributes).toEqual({ costTotalAnnual: 1 });
  await ok(thrifty.patch(url(id), { attributes: { costTotalAnnual: 2 } }));
});

it('GET /relations is paged, filtered, sorted and walked by cursor', async () => {
  const hub = await admin.card({ name: 'Hub' });
  const parts = [];
  for (const name of ['Part c', 'Part a', 'Part b']) {
    const part = await admin.card({ type: 'ITComponent', name });
    parts.push(part);
    await admin.relate('relAppToITC', hub.id, part.id);
  }
  await admin.relate('relAppToBC', hub.id, (await admin.card({ type: 'BusinessCapability' })).id);
  const list = async (query: string) => await viewer.get(`/api/v1/relations?card_id=${hub.id}${query}`);
  expect((await list('')).body).toMatchObject({ total: 4, page: 1, page_size: 50 });
  expect((await list('&type=relAppToBC')).body.total).toBe(1);
  expect((await list('&type=relAppToBC,relAppToITC')).body.total).toBe(4);
  await expectProblem(list('&type=relNope'), 422);
  await expectProblem(list('&page_size=201'), 422);
  const sorted = await list('&type=relAppToITC&sort_by=target&sort_dir=desc&fields=target');
  const names = sorted.body.items.map((item: { target: { name: string } }) => item.target.name);
  expect(names).toEqual(['Part c', 'Part b', 'Part a']);
  expect((await list('&search=part%20A')).body.total).toBe(1);
  for (const sort of ['created_at', 'target']) {
    const seen = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await list(`&sort_by=${sort}&page_size=3&cursor=${encodeURIComponent(cursor)}`);
      seen.push(...page.body.items);
      cursor = page.body.next_cursor;
    }
    expect(seen).toHaveLength(4);
  }
  await admin.post(card(parts[0]!.id, '/archive'));
  expect((await list('')).body.total).toBe(3);
  expect((await viewer.get(`/api/v1/relations?card_id=${NOBODY}`)).body.total).toBe(0);
  await expectProblem(viewer.get('/api/v1/relations?card_id=x'), 422);
});

it('GET /relations needs relations.view and inventory.view, and leaves out hidden types', async () => {
  const cards = await t.holding('inventory.view');
  const relations = await t.holding('relations.view');
  await expectProblem(cards.get('/api/v1/relations'), 403, 'relations.view');
  await expectProblem(relations.get('/api/v1/relations'), 403, 'inventory.view');
  await expectProblem(relations.get(url(NOBODY)), 403);

  const context = await admin.card({ type: 'BusinessContext' });
  const { id } = await admin.relate('relAppToBizCtx', app.id, context.id);
  await db('card_types').where({ key: 'BusinessContext' }).update({ is_hidden: true });
  await db.raw(`select raise_topics(array['metamodel'])`);
  expect((await viewer.get('/api/v1/relations?type=relAppToBizCtx')).body.total).toBe(0);
  await expectProblem(viewer.get(url(id)), 404);
  await expectRefused(() => member.delete(url(id)), 404);
  await expectRefused(create(member, { type: 'relAppToBizCtx', target_id: context.id }), 422);
});
