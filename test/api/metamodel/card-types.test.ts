import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { writesOf } from '../../support/writes.ts';
import {
  eventsBy,
  field,
  makeRelationType,
  makeType,
  newKey,
  options,
  schema,
  types,
} from './metamodel.fixture.ts';

const { t, db, admin, member } = await openApp(['admin', 'member']);
const { appoint, expectRefused, idle, refused, expectInvalid } = writesOf(t);

const create = (body: Record<string, unknown>) => () =>
  admin.post(types, { key: newKey(), label: 'L', ...body });
const patch =
  (key: string, body: Record<string, unknown>, query = '') =>
  () =>
    admin.patch(`${types}/${key}${query}`, body);

describe('POST /metamodel/types', () => {
  it('answers the whole type, with default roles, and tells of all that was written', async () => {
    const body = {
      key: newKey(),
      label: ' Site ',
      category: 'Technical Architecture',
      has_hierarchy: true,
      subtypes: [{ key: 'plant', label: 'Plant', hidden_fields: ['size'] }],
      fields_schema: schema(
        field('size', 'number'),
        field('state', 'single_select', { options: options('a', 'b') }),
      ),
      section_config: {
        Facts: { hidden: false },
        __order: ['Facts', 'relations'],
        __dataQuality: { tags: 0 },
      },
      translations: { label: { de: 'Standort' } },
    };
    const { answer, events } = await eventsBy(t, () => admin.post(types, body), 201);
    expect(answer.headers.location).toBe(`${types}/${body.key}`);
    expect(answer.body).toMatchObject({
      ...body,
      label: 'Site',
      color: '#1976d2',
      icon: 'category',
      built_in: false,
    });
    expect(pluck(answer.body.stakeholder_roles, 'key')).toEqual(['responsible', 'observer']);
    const kinds = events.map((event) => event.event_type);
    expect(kinds).toEqual(['card_type.created', 'stakeholder_role.created', 'stakeholder_role.created']);
    expect(events[0]!.data).toMatchObject({ id: body.key, key: body.key, label: 'Site' });
    expect(events[0]!.data.changes.created_at).toEqual({ old: null, new: expect.any(String) });
    expect(events[1]!.data.changes.permissions!.new).toMatchObject({ 'card.edit': true });
    const read = await member.get(`${types}/${body.key}`);
    expect([read.text, read.headers.etag]).toEqual([answer.text, answer.headers.etag]);
    await member.card({ type: body.key, subtype: 'plant', attributes: { size: 3, state: 'a' } });
  });

  it('refuses a taken key, and every fault of the definition by its path', async () => {
    await expectRefused(create({ key: 'Application' }), 409, 'key_taken');
    const faulty = await refused(
      create({
        fields_schema: [
          {
            section: 'One',
            fields: [
              field('name', 'text'),
              field('size', 'number', { options: options('a') }),
              field('kind', 'single_select'),
            ],
          },
          {
            section: 'One',
            fields: [field('size', 'text'), field('pick', 'multiple_select', { options: options('a', 'a') })],
          },
        ],
        subtypes: [
          { key: 'x', label: 'X', hidden_fields: ['nothing'] },
          { key: 'x', label: 'X' },
        ],
        section_config: { Two: {}, __dataQuality: { tags: -1, other: 1 }, One: { colour: 1 } },
        translations: { label: { xx_: 'X' }, other: { de: 'Y' } },
      }),
    );
    expect(faulty).toMatchObject({ status: 422, code: 'validation_failed' });
    expect(faulty.fields.sort()).toEqual(
      [
        'fields_schema.0.fields.0.key',
        'fields_schema.0.fields.1.options',
        'fields_schema.0.fields.2.options',
        'fields_schema.1.section',
        'fields_schema.1.fields.0.key',
        'fields_schema.1.fields.1.options.1.key',
        'section_config.One.colour',
        'section_config.Two',
        'section_config.__dataQuality.other',
        'section_config.__dataQuality.tags',
        'subtypes.0.hidden_fields.0',
        'subtypes.1.key',
        'translations.label.xx_',
        'translations.other',
      ].sort(),
    );
  });

  it.each([
    ['key', { key: '__proto__' }],
    ['key', { key: 'a-b' }],
    ['key', { key: 'constructor' }],
    ['subtypes.0.key', { subtypes: [{ key: 'toString', label: 'T' }] }],
    ['stakeholder_roles.0.key', { stakeholder_roles: [{ key: 'constructor', label: 'C' }] }],
    ['label', { label: '  ' }],
    ['color', { color: 'red' }],
    ['fields_schema.0.fields.0.type', { fields_schema: schema(field('a', 'formula')) }],
    ['fields_schema.0.fields.0.weight', { fields_schema: schema(field('a', 'text', { weight: -1 })) }],
    ['fields_schema.0.fields.0.key', { fields_schema: schema(field('__proto__', 'text')) }],
    ['fields_schema.0.fields.0.key', { fields_schema: schema(field('constructor', 'text')) }],
    ['fields_schema.0.fields.0.formula', { fields_schema: schema(field('a', 'text', { formula: '1' })) }],
    ['stakeholder_roles.0.key', { stakeholder_roles: [{ key: 'A', label: 'A' }] }],
    ['built_in', { built_in: true }],
  ])('refuses a bad %s', async (path, body) => {
    const { status, fields } = await refused(create(body));
    expect([status, [...new Set(fields)]]).toEqual([422, [path]]);
  });
});

describe('PATCH /metamodel/types/{key}', () => {
  it('changes what is sent, tells old and new, and writes nothing when nothing changes', async () => {
    const key = await makeType(admin, [field('size', 'number')]);
    const { answer, events } = await eventsBy(t, patch(key, { label: 'Place', description: 'Where.' }));
    expect(answer.body).toMatchObject({ key, label: 'Place', description: 'Where.' });
    expect(events).toMatchObject([{ event_type: 'card_type.updated', card_id: null }]);
    expect(events[0]!.data).toEqual({
      id: key,
      key,
      label: 'Place',
      changes: { label: { old: 'Made', new: 'Place' }, description: { old: null, new: 'Where.' } },
    });
    const { fields_schema, subtypes, section_config } = answer.body;
    await idle(patch(key, { label: 'Place', fields_schema, subtypes, section_config }));
    expect((await patch(key, { description: null })()).body.description).toBeNull();
  });

  it('takes effect for the next request in every part of the API', async () => {
    const key = await makeType(admin);
    await expectInvalid(
      () => member.post('/api/v1/cards', { type: key, name: 'A', attributes: { size: 1 } }),
      'attributes.size',
    );
    await patch(key, { fields_schema: schema(field('size', 'number')) })();
    const { id } = await member.card({ type: key, attributes: { size: 1 } });
    const found = await member.get(`/api/v1/cards?type=${key}&sort_by=attributes.size`);
    expect(pluck(found.body.items, 'id')).toEqual([id]);
  });

  it('refuses another state than the client has seen', async () => {
    const key = await makeType(admin);
    const seen = (await admin.get(`${types}/${key}`)).headers.etag!;
    await ok(patch(key, { label: 'One' })());
    await expectRefused(
      () => admin.patch(`${types}/${key}`, { label: 'Two' }, { 'if-match': seen }),
      412,
      'precondition_failed',
    );
  });

  it('refuses unknown types, keys that never change, and everybody else', async () => {
    await expectRefused(patch('Nothing', { label: 'X' }), 404);
    await expectInvalid(patch('Application', { key: 'App' }), 'key');
    await expectRefused(patch('Application', {}), 422);
    await expectRefused(() => member.patch(`${types}/Application`, { label: 'X' }), 403, 'admin.metamodel');
  });

  it('keeps the levels that the service writes', async () => {
    const { body } = await admin.get(`${types}/BusinessCapability`);
    const without = body.fields_schema.map((section: { fields: { key: string }[] }) => ({
      ...section,
      fields: section.fields.filter(({ key }) => key !== 'capabilityLevel'),
    }));
    await expectRefused(patch('BusinessCapability', { fields_schema: without }), 409, 'built_in_frozen');
  });

  it('replaces the roles in use only by archiving them', async () => {
    const key = await makeType(admin);
    const card = await admin.card({ type: key });
    await appoint(card.id, member, 'observer');
    const only = [{ key: 'responsible', label: 'Owner' }];
    await expectRefused(patch(key, { stakeholder_roles: only }), 409, 'role_in_use', {
      stakeholder_count: 1,
    });
    expect(await refused(patch(key, { stakeholder_roles: [] }))).toMatchObject({ code: 'last_active_role' });
    await db('stakeholders').where({ card_id: card.id }).delete();
    const { answer, kinds } = await eventsBy(
      t,
      patch(key, { stakeholder_roles: [{ key: 'steward', label: 'Steward' }, ...only] }),
    );
    expect(pluck(answer.body.stakeholder_roles, 'label')).toEqual(['Steward', 'Owner']);
    expect(kinds).toEqual({
      'stakeholder_role.deleted': 1,
      'stakeholder_role.created': 1,
      'stakeholder_role.updated': 1,
    });
  });
});

describe('DELETE /metamodel/types/{key}', () => {
  it('deletes a type without cards, its roles and the relation types that join it', async () => {
    const key = await makeType(admin);
    const relation = await makeRelationType(admin, key, 'Application');
    const { answer, events } = await eventsBy(t, () => admin.delete(`${types}/${key}`));
    expect([answer.status, answer.body]).toEqual([200, { status: 'deleted', key }]);
    expect(events.map((event) => event.event_type)).toEqual([
      'relation_type.deleted',
      'stakeholder_role.deleted',
      'stakeholder_role.deleted',
      'card_type.deleted',
    ]);
    await expectProblem(admin.get(`${types}/${key}`), 404);
    await expectProblem(admin.get(`/api/v1/metamodel/relation-types/${relation}`), 404);
    await expectRefused(() => admin.delete(`${types}/${key}`), 404);
  });

  it('refuses while there are cards, archived ones included', async () => {
    const key = await makeType(admin);
    const card = await admin.card({ type: key });
    await admin.post(`/api/v1/cards/${card.id}/archive`);
    await expectRefused(() => admin.delete(`${types}/${key}`), 409, 'cards_present', { card_count: 1 });
  });

  it('hides a built-in type, whose cards vanish everywhere until it is shown again', async () => {
    const card = await admin.card({ type: 'Platform', name: 'Hidden Platform' });
    const made = await admin.post('/api/v1/relations', {
      type: 'relPlatformToApp',
      source_id: card.id,
      target_id: (await admin.card({ name: 'Beside it' })).id,
    });
    const answer = await admin.delete(`${types}/Platform`);
    expect([answer.status, answer.body]).toEqual([200, { status: 'hidden', key: 'Platform' }]);
    const total = async (url: string) => (await admin.get(url)).body.total;
    await expectProblem(admin.get(`/api/v1/cards/${card.id}`), 404);
    expect(await total('/api/v1/cards?type=Platform')).toBe(0);
    expect(await total('/api/v1/cards?search=Hidden%20Platform')).toBe(0);
    await expectProblem(admin.get(`/api/v1/relations/${made.body.id}`), 404);
    expect((await admin.get('/api/v1/changes?limit=10000')).text).not.toContain('Hidden Platform');
    expect(pluck((await admin.get('/api/v1/cards/counts')).body.by_type, 'type')).not.toContain('Platform');
    const dashboard = await admin.get('/api/v1/reports/dashboard');
    expect(Object.keys(dashboard.body.by_type)).not.toContain('Platform');
    expect(dashboard.text).not.toContain('Hidden Platform');
    expect((await admin.get(`${types}?fields=key&page_size=200`)).text).not.toContain('"Platform"');
    await expectRefused(() => admin.post('/api/v1/cards', { type: 'Platform', name: 'B' }), 422);
    expect((await idle(() => admin.delete(`${types}/Platform`))).body.status).toBe('hidden');

    expect((await patch('Platform', { is_hidden: false })()).body.is_hidden).toBe(false);
    await ok(admin.get(`/api/v1/cards/${card.id}`));
    await ok(admin.get(`/api/v1/relations/${made.body.id}`));
  });
});
