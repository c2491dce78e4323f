import { expectProblem, ok, openApp } from '../../support/harness.ts';
import { writesOf } from '../../support/writes.ts';
import {
  eventsBy,
  field,
  makeRelationType,
  makeType,
  newKey,
  options,
  relationTypes,
  storedCard,
  types,
} from './metamodel.fixture.ts';

const { t, db, admin, member } = await openApp(['admin', 'member']);
const { expectRefused, idle, refused, expectInvalid } = writesOf(t);
const one = await makeType(admin);
const other = await makeType(admin);

const create = (body: Record<string, unknown>) => () =>
  admin.post(relationTypes, {
    key: newKey(),
    label: 'joins',
    source_type_key: 'Application',
    target_type_key: one,
    ...body,
  });
const patch =
  (key: string, body: Record<string, unknown>, query = '') =>
  () =>
    admin.patch(`${relationTypes}/${key}${query}`, body);
const pair = async () => [await makeType(admin), await makeType(admin)] as const;
const storedRelation = (id: string) => db('relations').where({ id }).first();

describe('POST /metamodel/relation-types', () => {
  it('answers the whole relation type, tells of it, and lets cards be related', async () => {
    const [source_type_key, target_type_key] = await pair();
    const body = {
      key: newKey(),
      label: ' hosts ',
      reverse_label: 'is hosted by',
      source_type_key,
      target_type_key,
      cardinality: '1:n',
      attributes_schema: [{ key: 'share', label: 'Share', type: 'number' }],
      translations: { label: { de: 'beherbergt' }, reverse_label: { de: 'steht in' } },
    };
    const { answer, events } = await eventsBy(t, () => admin.post(relationTypes, body));
    expect([answer.status, answer.headers.location]).toEqual([201, `${relationTypes}/${body.key}`]);
    expect(answer.body).toMatchObject({
      ...body,
      label: 'hosts',
      attributes_schema: [{ key: 'share', label: 'Share', type: 'number', built_in: false }],
      source_mandatory: false,
      target_visible: true,
      built_in: false,
      is_hidden: false,
    });
    expect(events.map((event) => event.event_type)).toEqual(['relation_type.created']);
    expect(events[0]!.data).toMatchObject({ id: body.key, source_type_key, target_type_key });
    expect(events[0]!.data.changes.cardinality).toEqual({ old: null, new: '1:n' });
    const source = await admin.card({ type: source_type_key });
    await member.relate(body.key, source.id, (await admin.card({ type: target_type_key })).id);
  });

  it('refuses what is taken, unknown or faulty', async () => {
    const [source_type_key, target_type_key] = await pair();
    const key = await makeRelationType(admin, source_type_key, target_type_key);
    await expectRefused(create({ key }), 409, 'key_taken');
    await expectRefused(create({ source_type_key, target_type_key }), 409, 'pair_taken', {
      existing_key: key,
    });
    await expectInvalid(create({ source_type_key: 'Nothing' }), 'source_type_key');
    const faulty = await refused(
      create({
        attributes_schema: [
          { key: 'a', label: 'A', type: 'number' },
          { key: 'a', label: 'A', type: 'single_select' },
        ],
      }),
    );
    expect(faulty.fields.sort()).toEqual(['attributes_schema.1.key', 'attributes_schema.1.options']);
    await ok(create({ key: `${newKey()}Successor`, source_type_key, target_type_key })(), 201);
    // the other direction is another pair
    await ok(create({ source_type_key: target_type_key, target_type_key: source_type_key })(), 201);
  });
});

describe('PATCH /metamodel/relation-types/{key}', () => {
  it('changes what is sent, and writes nothing when nothing changes', async () => {
    const key = await makeRelationType(admin, ...(await pair()));
    const { answer, kinds } = await eventsBy(t, patch(key, { label: 'links', is_hidden: true }));
    expect(answer.body).toMatchObject({ label: 'links', is_hidden: true });
    expect(kinds).toEqual({ 'relation_type.updated': 1 });
    await idle(patch(key, { label: 'links', attributes_schema: [] }));
    await expectRefused(patch('nothing', { label: 'x' }), 404);
    await expectRefused(patch(key, { cardinality: '2:n' }), 422);
  });

  it('keeps built-in attributes and options, which may be translated, hidden and added to', async () => {
    const key = 'relAppToBC';
    const [support] = (await admin.get(`${relationTypes}/${key}`)).body.attributes_schema;
    expect([support.built_in, support.options[0].built_in]).toEqual([true, true]);
    const changed = (attributes_schema: unknown[]) => patch(key, { attributes_schema });
    for (const attributes of [
      [],
      [{ ...support, label: 'Other' }],
      [{ ...support, type: 'multiple_select' }],
      [{ ...support, options: support.options.slice(1) }],
      [{ ...support, options: [{ ...support.options[0], label: 'x' }, ...support.options.slice(1)] }],
    ])
      await expectRefused(changed(attributes), 409, 'built_in_frozen');
    const [first, ...rest] = support.options;
    const answer = await ok(
      changed([
        {
          ...support,
          translations: { de: 'Art der Unterstützung' },
          options: [{ ...first, is_hidden: true }, ...rest, { key: 'partly', label: 'Partly' }],
        },
        { key: 'share', label: 'Share', type: 'number', built_in: true },
      ])(),
    );
    const [kept, added] = answer.attributes_schema;
    expect(kept.options[0]).toMatchObject({ is_hidden: true, built_in: true });
    expect(kept.options.at(-1)).toMatchObject({ key: 'partly', built_in: false });
    // nobody makes something built in by saying so
    expect(added.built_in).toBe(false);
    await ok(changed([support])());
  });

  it('fixes the ends once there are relations', async () => {
    const [source, target] = await pair();
    const key = await makeRelationType(admin, source, target);
    expect((await patch(key, { target_type_key: other })()).body.target_type_key).toBe(other);
    await admin.relate(key, (await admin.card({ type: source })).id, (await admin.card({ type: other })).id);
    await expectRefused(patch(key, { target_type_key: target }), 409, 'instances_present', {
      instance_count: 1,
    });
  });

  it('narrows the cardinality only as far as the relations there are fit', async () => {
    const [source, target] = await pair();
    const key = await makeRelationType(admin, source, target);
    const hub = await admin.card({ type: source });
    for (let n = 0; n < 2; n += 1) await admin.relate(key, hub.id, (await admin.card({ type: target })).id);
    await ok(patch(key, { cardinality: '1:n' })());
    await expectRefused(patch(key, { cardinality: '1:1' }), 409, 'cardinality_violated', {
      card_count: 1,
      card_ids: [hub.id],
    });
  });

  it('takes values of attributes and options that are left out from every relation, and converts others', async () => {
    const [source, target] = await pair();
    const state = { key: 'state', label: 'State', type: 'single_select', options: options('a', 'b') };
    const attributes_schema = [
      { key: 'price', label: 'Price', type: 'cost' },
      state,
      { key: 'size', label: 'Size', type: 'text' },
    ];
    const key = await makeRelationType(admin, source, target, { attributes_schema });
    const { id } = await admin.relate(
      key,
      (await admin.card({ type: source })).id,
      (await admin.card({ type: target })).id,
    );
    await admin.patch(`/api/v1/relations/${id}`, { attributes: { price: 9, state: 'a', size: '3' } });
    const body = {
      attributes_schema: [
        { ...state, options: options('b') },
        { key: 'size', label: 'Size', type: 'number' },
      ],
    };
    expect((await idle(patch(key, body, '?dry_run=true'))).body).toMatchObject({
      cards: 0,
      relations: 1,
      removed_fields: [{ field_key: 'price', affected: 1 }],
      removed_options: [{ field_key: 'state', option_key: 'a', affected: 1 }],
      changed_fields: [{ field_key: 'size', converted: 1, unconvertible: 0 }],
    });
    const { events, kinds } = await eventsBy(t, patch(key, body));
    expect(kinds).toEqual({ 'relation.updated': 1, 'relation_type.updated': 1 });
    expect(events[0]).toMatchObject({ relation_id: id, cost_keys: ['attributes.price'] });
    expect((await storedRelation(id)).attributes).toEqual({ size: 3 });
    await admin.patch(`/api/v1/relations/${id}`, { attributes: { size: 2 } });
    const misfit = { attributes_schema: [{ key: 'size', label: 'Size', type: 'boolean' }] };
    await expectRefused(patch(key, misfit), 409, 'values_do_not_fit');
    await ok(patch(key, misfit, '?force=true')());
    expect((await storedRelation(id)).attributes).toEqual({});
  });

  it('counts a side that becomes mandatory into the data quality of its cards', async () => {
    const [source, target] = await pair();
    const key = await makeRelationType(admin, source, target);
    const [with_, without] = [await admin.card({ type: source }), await admin.card({ type: source })];
    await admin.relate(key, with_.id, (await admin.card({ type: target })).id);
    const body = { source_mandatory: true };
    const impact = await idle(patch(key, body, '?dry_run=true'));
    expect(impact.body).toMatchObject({ cards: 2, mandatory_sides: [{ side: 'source', missing: 1 }] });
    await patch(key, body)();
    expect((await storedCard(t, with_.id)).data_quality).toBe(20);
    const approve = await refused(() =>
      admin.post(`/api/v1/cards/${without.id}/approval-status?action=approve`),
    );
    expect(approve.code).toBe('approval_blocked_mandatory_missing');
  });
});

describe('DELETE and restore', () => {
  it('asks before relations are deleted, and scores their cards once', async () => {
    const [source, target] = await pair();
    const key = await makeRelationType(admin, source, target, { source_mandatory: true });
    const card = await admin.card({ type: source });
    const { id } = await admin.relate(key, card.id, (await admin.card({ type: target })).id);
    const { body } = await admin.get(`${relationTypes}/${key}/instance-count`);
    expect(body).toEqual({ key, instance_count: 1 });
    await expectRefused(() => admin.delete(`${relationTypes}/${key}`), 409, 'instances_present', {
      key,
      instance_count: 1,
      message: expect.any(String),
    });
    expect((await storedCard(t, card.id)).data_quality).toBe(20);
    const { answer, kinds, events } = await eventsBy(t, () =>
      admin.delete(`${relationTypes}/${key}?force=true`),
    );
    expect(answer.body).toEqual({ status: 'deleted', key, removed_instances: 1 });
    expect(kinds).toEqual({ 'relation.deleted': 1, 'card.updated': 1, 'relation_type.deleted': 1 });
    expect(events[0]).toMatchObject({ event_type: 'relation.deleted', relation_id: id });
    expect((await storedCard(t, card.id)).data_quality).toBe(0);
    await expectProblem(admin.get(`${relationTypes}/${key}`), 404);
    await expectRefused(() => admin.delete(`${relationTypes}/${key}`), 404);
  });

  it('hides a built-in one, and restores it unless its place was taken', async () => {
    const key = 'relProviderToITC';
    const hidden = await admin.delete(`${relationTypes}/${key}`);
    expect(hidden.body).toEqual({ status: 'hidden', key, removed_instances: 0 });
    expect((await admin.get(`${relationTypes}?type_key=Provider&fields=key`)).text).not.toContain(key);
    const instead = await makeRelationType(admin, 'Provider', 'ITComponent');
    const restore = () => admin.post(`${relationTypes}/${key}/restore`);
    await expectRefused(restore, 409, 'pair_taken');
    await admin.delete(`${relationTypes}/${instead}`);
    const { answer, kinds } = await eventsBy(t, restore);
    expect([answer.status, answer.body.is_hidden]).toEqual([200, false]);
    expect(kinds).toEqual({ 'relation_type.updated': 1 });
    await expectRefused(restore, 409, 'wrong_state');
  });

  it('keeps a type of the workspace from going while a built-in relation type joins it', async () => {
    const type = await makeType(admin, [field('a', 'text')]);
    const key = 'relProviderToInitiative';
    await ok(patch(key, { target_type_key: type })());
    await expectRefused(() => admin.delete(`${types}/${type}`), 409, 'relation_types_present');
    await ok(patch(key, { target_type_key: 'Initiative' })());
    await ok(admin.delete(`${types}/${type}`));
  });
});
