import { expectProblem, openApp, type TestClient } from '../../support/harness.ts';
import { card, NOBODY, writesOf } from '../../support/writes.ts';

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);
const { eventsOf, expectRefused, refused, expectInvalid } = writesOf(t);

const create = (client: TestClient, body: Record<string, unknown>) => () =>
  client.post('/api/v1/cards', { type: 'Application', name: 'Refused', ...body });

it('answers the whole card and writes one event with every set field', async () => {
  const body = {
    type: 'Application',
    name: '  Claims Desk ',
    subtype: 'businessApplication',
    alias: ' CD ',
    description: 'Registers\nclaims',
    external_id: 'APP-1',
    lifecycle: { active: '2021-04-01', plan: null },
    attributes: { businessCriticality: 'missionCritical', costTotalAnnual: 1200.5, productName: '' },
  };
  const { answer, events } = await eventsOf(() => member.post('/api/v1/cards', body), 201);
  expect(answer.headers.location).toBe(card(answer.body.id));
  expect(answer.body).toMatchObject({
    name: 'Claims Desk',
    alias: 'CD',
    lifecycle: { active: '2021-04-01' },
    attributes: { businessCriticality: 'missionCritical', costTotalAnnual: 1200.5 },
    status: 'ACTIVE',
    approval_status: 'DRAFT',
    data_quality: 27.8,
    created_by: member.userId,
    updated_by: member.userId,
  });
  const read = await member.get(card(answer.body.id));
  expect(read.text).toBe(answer.text);
  expect(read.headers.etag).toBe(answer.headers.etag);

  expect(events).toMatchObject([
    {
      event_type: 'card.created',
      card_id: answer.body.id,
      card_type: 'Application',
      user_id: member.userId,
      cost_keys: ['attributes.costTotalAnnual'],
    },
  ]);
  expect(events[0]!.data).toEqual({
    id: answer.body.id,
    type: 'Application',
    name: 'Claims Desk',
    changes: {
      number: { old: null, new: answer.body.number },
      subtype: { old: null, new: 'businessApplication' },
      name: { old: null, new: 'Claims Desk' },
      alias: { old: null, new: 'CD' },
      description: { old: null, new: 'Registers\nclaims' },
      external_id: { old: null, new: 'APP-1' },
      status: { old: null, new: 'ACTIVE' },
      approval_status: { old: null, new: 'DRAFT' },
      data_quality: { old: null, new: 27.8 },
      'lifecycle.active': { old: null, new: '2021-04-01' },
      'attributes.businessCriticality': { old: null, new: 'missionCritical' },
      'attributes.costTotalAnnual': { old: null, new: 1200.5 },
    },
  });
});

it('answers a repeated request with the same key once more and writes nothing new', async () => {
  const headers = { 'idempotency-key': 'create-once' };
  const body = { type: 'Application', name: 'Once' };
  const first = await member.post('/api/v1/cards', body, headers);
  const { answer, events } = await eventsOf(() => member.post('/api/v1/cards', body, headers));
  expect([answer.status, answer.text, events]).toEqual([201, first.text, []]);
});

it('answers a problem, and the card to a retry, when the connection is lost while the response is stored', async () => {
  await db.raw(`create function lose() returns trigger language plpgsql as $$ begin
        if new.status is not null then raise exception 'connection terminated' using errcode = '57P01'; end if;
        return new;
      end $$`);
  await db.raw('create trigger lose before update on idempotency_keys for each row execute function lose()');
  const send = () =>
    member.post(
      '/api/v1/cards',
      { type: 'Application', name: 'Stored' },
      { 'idempotency-key': 'lost-response' },
    );
  const lost = await send();
  await db.raw('drop trigger lose on idempotency_keys');
  await expectProblem(lost, 503, 'unavailable');
  expect(lost.headers['content-type']).toContain('application/problem+json');
  const { answer, events } = await eventsOf(send);
  expect([answer.status, answer.body.name, events]).toEqual([201, 'Stored', []]);
});

it.each([
  ['unknown type', { type: 'Nope' }, 'validation_failed', ['type']],
  ['no name', { name: undefined }, 'validation_failed', ['name']],
  ['blank name', { name: '   ' }, 'validation_failed', ['name']],
  ['unknown member', { colour: 'red' }, 'validation_failed', ['colour']],
  ['status', { status: 'ARCHIVED' }, 'use_operation', ['status']],
  ['approval status', { approval_status: null }, 'use_operation', ['approval_status']],
  ['wrong types', { description: 1, alias: [] }, 'validation_failed', ['description', 'alias']],
  ['unknown subtype', { subtype: 'x' }, 'validation_failed', ['subtype']],
  ['unknown parent', { parent_id: NOBODY }, 'validation_failed', ['parent_id']],
  ['malformed parent', { parent_id: 'x' }, 'validation_failed', ['parent_id']],
  ['urn as parent', { parent_id: `urn:uuid:${NOBODY}` }, 'validation_failed', ['parent_id']],
  ['unknown phase', { lifecycle: { begin: '2020-01-01' } }, 'validation_failed', ['lifecycle.begin']],
  ['bad day', { lifecycle: { active: '2023-02-30' } }, 'validation_failed', ['lifecycle.active']],
  [
    'bad attributes',
    { attributes: { timeModel: 'x', nope: 1, costTotalAnnual: '1' } },
    'validation_failed',
    ['attributes.timeModel', 'attributes.nope', 'attributes.costTotalAnnual'],
  ],
])('refuses %s with 422 and names the field', async (_name, body, code, fields) => {
  expect(await refused(create(member, body))).toMatchObject({ status: 422, code, fields });
});

it('refuses a body that is no JSON, or no object', async () => {
  const send = (payload: string) => () =>
    member.request({
      method: 'POST',
      url: '/api/v1/cards',
      headers: { 'content-type': 'application/json' },
      payload,
    });
  await expectRefused(send('{'), 400, 'bad_body');
  await expectRefused(send('{"__proto__":{"type":"Application"}}'), 422);
  for (const payload of ['[]', 'null', '"x"', '1']) await expectRefused(send(payload), 422);
});

it('takes texts of every script and refuses what PostgreSQL cannot hold', async () => {
  const name = 'Ünïcode Größe 漢字 العربية \u202eabc 😀';
  expect((await member.card({ name })).name).toBe(name);
  for (const bad of ['\0', 'a\ud800b', 'line\nbreak'])
    await expectInvalid(create(member, { name: bad }), 'name');
  await expectInvalid(create(member, { description: '\0' }), 'description');
  await expectInvalid(create(member, { attributes: { productName: '\udc00' } }), 'attributes.productName');
});

it('refuses a sibling of the same name, whatever its case, blanks and Unicode form, and names it', async () => {
  const first = await member.card({ name: 'Straße A' });
  await expectRefused(create(member, { name: ' STRAßE a ' }), 409, 'sibling_name_taken', {
    existing_id: first.id,
  });
  const decomposed = await member.card({ name: 'Mu\u0308nchen', alias: 'Zu\u0308rich' });
  expect(decomposed).toMatchObject({ name: 'M\u00fcnchen', alias: 'Z\u00fcrich' });
  await expectRefused(create(member, { name: 'M\u00dcNCHEN' }), 409, 'sibling_name_taken', {
    existing_id: decomposed.id,
  });
  const filter = encodeURIComponent('name = "Mu\u0308nchen" and alias = "Zu\u0308rich"');
  const { items } = (await member.get(`/api/v1/cards?filter=${filter}`)).body;
  expect(items).toMatchObject([{ id: decomposed.id }]);
  await member.card({ name: 'Straße A', parent_id: first.id });
  await member.card({ name: 'Straße A', type: 'ITComponent' });
});

it('refuses an external id twice in a type, archived cards included', async () => {
  const first = await member.card({ external_id: 'X-1' });
  await member.post(card(first.id, '/archive'));
  await expectRefused(create(member, { external_id: ' X-1 ' }), 409, 'external_id_taken', {
    existing_id: first.id,
  });
  await member.card({ external_id: 'X-1', type: 'ITComponent' });
});

it('takes parents of the same type only, where the type forms a hierarchy', async () => {
  const component = await member.card({ type: 'ITComponent' });
  const provider = await member.card({ type: 'Provider' });
  const archived = await member.card();
  await member.post(card(archived.id, '/archive'));
  await expectInvalid(create(member, { parent_id: component.id }), 'parent_id');
  await expectInvalid(create(member, { type: 'Provider', parent_id: provider.id }), 'parent_id');
  await expectInvalid(create(member, { parent_id: archived.id }), 'parent_id');
  const parent = await member.card();
  expect((await member.card({ parent_id: parent.id.toUpperCase() })).parent_id).toBe(parent.id);
});

it('gives capabilities their level and refuses one too deep', async () => {
  const chain = async (level?: string) => {
    const root = await admin.card({
      type: 'BusinessCapability',
      ...(level ? { attributes: { capabilityLevel: level } } : {}),
    });
    const cards = [root];
    for (;;) {
      const answer = await admin.post('/api/v1/cards', {
        type: 'BusinessCapability',
        name: 'below',
        parent_id: cards.at(-1)!.id,
      });
      if (answer.status !== 201) {
        await expectProblem(answer, 409, 'capability_too_deep');
        return cards.map((each) => each.attributes.capabilityLevel);
      }
      cards.push(answer.body);
    }
  };
  expect(await chain()).toEqual(['L1', 'L2', 'L3', 'L4', 'L5']);
  expect(await chain('Macro')).toEqual(['Macro', 'L1', 'L2', 'L3', 'L4', 'L5']);
  const root = await admin.card({ type: 'BusinessCapability' });
  for (const level of ['Macro', 'L1', 'x'])
    await expectInvalid(
      create(admin, {
        type: 'BusinessCapability',
        parent_id: root.id,
        attributes: { capabilityLevel: level },
      }),
      'attributes.capabilityLevel',
    );
  await admin.card({ type: 'BusinessCapability', parent_id: root.id, attributes: { capabilityLevel: 'L2' } });
});

it('needs inventory.create, and costs.view for costs', async () => {
  await expectRefused(create(viewer, {}), 403, 'inventory.create');
  const thrifty = await t.holding('inventory.view', 'inventory.create');
  await expectRefused(create(thrifty, { attributes: { costTotalAnnual: 5 } }), 403, 'costs.view');
  await thrifty.card({ attributes: { timeModel: 'invest' } });
  await (await t.holding('inventory.create')).card();
});

it('refuses cards of hidden types', async () => {
  await db('card_types').where({ key: 'BusinessContext' }).update({ is_hidden: true });
  await db.raw(`select raise_topics(array['metamodel'])`);
  await expectInvalid(create(admin, { type: 'BusinessContext' }), 'type');
});
