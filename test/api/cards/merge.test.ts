import { eventKinds, expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { card, NOBODY, writesOf } from '../../support/writes.ts';
import { duplicates, inventory, merge, unit } from './merge.fixture.ts';

const { t, db, admin } = await openApp(['admin']);
const { appoint, eventsOf, expectRefused, idle, refused } = writesOf(t);

const read = async (id: string) => (await admin.get(card(id))).body;

it('gives the survivor all that the other has, and emits an event for every write', async () => {
  const d = await duplicates(t, admin);
  const dry = await idle(() => merge(admin, d.survivor.id, [d.other.id], { dry_run: true }));
  const { answer, events } = await eventsOf(
    () => merge(admin, d.survivor.id, [d.other.id.toUpperCase()]),
    200,
  );
  expect(answer.body).toMatchObject({
    dry_run: false,
    merged_card_ids: [d.other.id],
    moved: {
      child: 0,
      relation: 1,
      tag: 1,
      stakeholder: 0,
      comment: 2,
      todo: 1,
      document: 1,
      file: 0,
      favorite: 1,
    },
    folded_relations: [{ id: d.folded.id, type: 'relAppToITC', kept_id: d.kept.id }],
    dropped_relations: [],
    dropped_tags: [{ id: d.tags.second }],
  });
  const plain = ({ survivor, merge_id: _, dry_run: __, ...rest }: typeof dry.body) => ({
    ...rest,
    survivor: { ...survivor, updated_at: '' },
  });
  expect(plain(dry.body)).toEqual(plain(answer.body));
  expect(dry.body.merge_id).toBeNull();

  const after = await read(d.survivor.id);
  expect(after).toEqual(answer.body.survivor);
  expect(after).toMatchObject({
    name: d.survivor.name,
    external_id: d.survivor.external_id,
    alias: 'Lent',
    description: 'What the survivor lacks',
    lifecycle: { active: '2020-01-01' },
    attributes: { timeModel: 'invest', businessCriticality: 'missionCritical', costTotalAnnual: 7 },
  });
  expect(after.lifecycle).toMatchObject({ active: '2020-01-01', endOfLife: '2031-01-01' });
  expect(after.data_quality).toBeGreaterThan(d.survivor.data_quality);
  expect(pluck(after.tags, 'id').sort()).toEqual([d.tags.first, d.tags.third].sort());
  expect(after.stakeholders).toHaveLength(1);
  const relations = (await admin.get(`/api/v1/relations?card_id=${d.survivor.id}`)).body.items;
  expect(pluck(relations, 'id').sort()).toEqual([d.kept.id, d.moved.id].sort());
  expect((await admin.get(`/api/v1/relations/${d.kept.id}`)).body.description).toBe('Only here');
  expect((await admin.get(card(d.survivor.id, '/comments'))).body.total).toBe(2);

  expect(events.map(({ event_type }) => event_type).sort()).toEqual([
    ...Array(5).fill('attachment.moved'),
    'card.deleted',
    'card.merged',
    'card.updated',
    'favorite.deleted',
    'relation.deleted',
    'relation.updated',
    'relation.updated',
    'stakeholder.removed',
    'tag.added',
    'tag.removed',
    'tag.removed',
  ]);
  const moved = events.find(({ relation_id }) => relation_id === d.moved.id)!;
  expect(moved).toMatchObject({ card_id: d.survivor.id, peer_card_id: d.own.id });
  expect(moved.data.changes).toEqual({ source_id: { old: d.other.id, new: d.survivor.id } });
  const deleted = events.find(({ event_type }) => event_type === 'card.deleted')!;
  expect(deleted.data).toMatchObject({ merged_into: d.survivor.id, merge_id: answer.body.merge_id });
  // events of favorites are visible to their owner alone
  const starred = events.find(({ data }) => data.entity === 'favorite');
  expect(starred).toMatchObject({ scope: 'user', recipient_id: (await t.as('viewer')).userId });
  expect(events.at(-1)!.data).toMatchObject({
    merge_id: answer.body.merge_id,
    merged_cards: [{ id: d.other.id, name: d.other.name }],
  });
});

it('leads reads of the old id to the survivor, refuses writes, and shows both histories', async () => {
  const [survivor, middle, first] = [
    await admin.card(),
    await admin.card(),
    await admin.card({ alias: 'F' }),
  ];
  await merge(admin, middle.id, [first.id]);
  await merge(admin, survivor.id, [middle.id]);
  for (const [old, rest] of [
    [first.id, ''],
    [middle.id, ''],
    [first.id.toUpperCase(), '/hierarchy?page=1'],
    [first.id, '/comments'],
  ]) {
    const answer = await admin.get(card(old!, rest));
    expect(answer.status).toBe(308);
    expect(answer.headers.location).toBe(card(survivor.id, rest));
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body).toMatchObject({ code: 'merged', survivor_id: survivor.id });
  }
  for (const act of [
    () => admin.patch(card(first.id), { alias: 'X' }),
    () => admin.delete(card(first.id)),
    () => admin.post(card(first.id, '/archive')),
    () => admin.post(card(first.id, '/comments'), { content: 'X' }),
  ])
    await expectRefused(act, 409, 'merged_card', { survivor_id: survivor.id });
  expect(eventKinds((await admin.get(card(survivor.id, '/history'))).body.items, 'card')).toBe(
    'merged updated deleted merged updated deleted created created created',
  );
  // users who may not see the survivor do not learn of it
  await expectProblem((await t.holding()).get(card(first.id)), 403);
  await admin.delete(card(survivor.id));
  await expectProblem(admin.get(card(first.id)), 404);
});

it('takes values by choice, and checks them', async () => {
  const [a, b, c] = [
    await admin.card({ alias: 'A', attributes: { timeModel: 'invest' } }),
    await admin.card({ alias: 'B', attributes: { timeModel: 'migrate' }, external_id: 'CHOICE' }),
    await admin.card({ alias: 'C', lifecycle: { plan: '2020-01-01' } }),
  ];
  const bad: [Record<string, unknown>, string][] = [
    [{ nope: b.id }, 'fields.nope'],
    [{ status: { value: 'ARCHIVED' } }, 'fields.status'],
    [{ alias: NOBODY }, 'fields.alias'],
    [{ alias: { value: 5 } }, 'fields.alias'],
    [{ name: { value: null } }, 'fields.name'],
    [{ 'attributes.timeModel': { value: 'nope' } }, 'fields.attributes.timeModel'],
    [{ 'attributes.nope': { value: 1 } }, 'fields.attributes.nope'],
    [{ lifecycle: { value: { active: '2020-02-30' } } }, 'fields.lifecycle.active'],
    [{ parent_id: { value: 'x' } }, 'fields.parent_id'],
  ];
  for (const [fields, field] of bad) {
    const refusal = await refused(() => merge(admin, a.id, [b.id, c.id], { fields }));
    expect([refusal.status, refusal.fields]).toEqual([422, [field]]);
  }
  const fields = {
    name: b.id,
    alias: { value: 'Chosen' },
    'attributes.timeModel': b.id,
    'attributes.businessCriticality': { value: 'missionCritical' },
    lifecycle: { value: { active: '2021-01-01' } },
  };
  expect((await merge(admin, a.id, [b.id, c.id], { fields })).body.survivor).toMatchObject({
    name: b.name,
    alias: 'Chosen',
    external_id: 'CHOICE',
    lifecycle: { active: '2021-01-01' },
    attributes: { timeModel: 'migrate', businessCriticality: 'missionCritical' },
  });
});

it('moves children, with levels, whichever card lies above', async () => {
  const top = await admin.card({ ...unit, name: 'Merge top' });
  const left = await admin.card({ ...unit, name: 'Left', parent_id: top.id });
  const right = await admin.card({ ...unit, name: 'Right', parent_id: top.id });
  const child = await admin.card({ ...unit, name: 'Child', parent_id: right.id });
  const leaf = await admin.card({ ...unit, name: 'Leaf', parent_id: child.id });
  // the merged card is the parent of the survivor, whose other children follow
  await merge(admin, left.id, [top.id]);
  expect(await read(left.id)).toMatchObject({ parent_id: null, attributes: { capabilityLevel: 'L1' } });
  expect(await read(right.id)).toMatchObject({ parent_id: left.id, attributes: { capabilityLevel: 'L2' } });
  // the survivor lies two below: what lies between moves up
  await merge(admin, leaf.id, [right.id]);
  expect(await read(child.id)).toMatchObject({ parent_id: left.id, attributes: { capabilityLevel: 'L2' } });
  expect(await read(leaf.id)).toMatchObject({ parent_id: child.id, attributes: { capabilityLevel: 'L3' } });
  const fields = { parent_id: { value: leaf.id } };
  const other = await admin.card({ ...unit, name: 'Other', parent_id: leaf.id });
  await expectRefused(() => merge(admin, child.id, [other.id], { fields }), 422, 'parent_cycle', 'parent_id');
  const twin = await admin.card({ ...unit, name: 'Twin' });
  await admin.card({ ...unit, name: 'CHILD', parent_id: twin.id });
  await expectRefused(() => merge(admin, left.id, [twin.id]), 409, 'sibling_name_taken', {
    existing_id: child.id,
  });
});

it('drops relations between the cards, and refuses more than a type allows', async () => {
  await db('relation_types').where({ key: 'relOrgToApp' }).update({ cardinality: '1:n' });
  await db.raw(`select raise_topics(array['metamodel'])`);
  const [a, b] = [await admin.card(), await admin.card()];
  const [own, others] = [
    await admin.card({ type: 'Organization' }),
    await admin.card({ type: 'Organization' }),
  ];
  const held = await admin.relate('relOrgToApp', own.id, a.id);
  await admin.relate('relOrgToApp', others.id, b.id);
  await expectRefused(() => merge(admin, a.id, [b.id]), 409, 'cardinality_exceeded', {
    existing_id: held.id,
  });
  const [successor] = await db('relation_types')
    .whereRaw('source_type_key = target_type_key')
    .where({ is_hidden: false })
    .select('key', 'source_type_key');
  const type = successor.source_type_key;
  const [x, y] = [await admin.card({ type }), await admin.card({ type })];
  const between = await admin.relate(successor.key, x.id, y.id);
  const answer = await merge(admin, x.id, [y.id]);
  expect(answer.body.dropped_relations).toEqual([{ id: between.id, type: successor.key }]);
});

it('asks for the rights to edit and archive on each card, and cuts costs', async () => {
  const [a, b] = [await admin.card(), await admin.card({ attributes: { costTotalAnnual: 4711 } })];
  const editor = await t.holding('inventory.view', 'inventory.edit');
  await expectRefused(() => merge(editor, a.id, [b.id]), 403, 'inventory.archive');
  const keeper = await t.holding('inventory.view');
  await appoint(a.id, keeper, 'responsible');
  await expectRefused(() => merge(keeper, a.id, [b.id]), 403, 'inventory.edit', { card_ids: [b.id] });
  const blind = await t.holding('inventory.view', 'inventory.edit', 'inventory.archive');
  const fields = { 'attributes.costTotalAnnual': b.id };
  await expectRefused(() => merge(blind, a.id, [b.id], { fields }), 403, 'costs.view');
  // the keeper of one card would see the costs of the other
  await expectRefused(() => merge(blind, a.id, [b.id]), 403, 'costs.view');
  await appoint(b.id, keeper, 'technical_application_owner');
  const answer = await merge(blind, a.id, [b.id]);
  expect([answer.status, answer.text.includes('4711')]).toEqual([200, false]);
  expect((await read(a.id)).attributes.costTotalAnnual).toBe(4711);
});

it('does not show costs by a role on the other card', async () => {
  const [a, b] = [await admin.card(), await admin.card({ attributes: { costTotalAnnual: 4711 } })];
  const half = await t.holding('inventory.view', 'inventory.edit', 'inventory.archive');
  await appoint(a.id, half, 'responsible');
  for (const [survivor, merged] of [
    [a, b],
    [b, a],
  ] as const)
    await expectRefused(() => merge(half, survivor.id, [merged.id]), 403, 'costs.view');
  // nor by a token that shows no costs itself
  const scopes = ['inventory.view', 'inventory.edit', 'inventory.archive'];
  const blind = t.by((await half.post('/api/v1/tokens', { name: 'Blind', scopes })).body.token, half);
  for (const [survivor, merged] of [
    [a, b],
    [b, a],
  ] as const)
    await expectRefused(() => merge(blind, survivor.id, [merged.id]), 403, 'costs.view');
  // who only follows a card is shown no costs
  const follower = await t.holding('inventory.view');
  const [c, d] = [await admin.card(), await admin.card({ attributes: { costTotalAnnual: 4711 } })];
  await appoint(c.id, follower, 'observer');
  await ok(merge(half, c.id, [d.id]));
});

it('refuses what cannot be merged', async () => {
  const [a, part, gone] = [await admin.card(), await admin.card({ type: 'ITComponent' }), await admin.card()];
  await admin.post(card(gone.id, '/archive'));
  const cases: [string, string[], number, string][] = [
    [a.id, [a.id.toUpperCase()], 422, 'validation_failed'],
    [a.id, [part.id], 422, 'validation_failed'],
    [a.id, [NOBODY], 404, 'not_found'],
    [NOBODY, [a.id], 404, 'not_found'],
    [gone.id, [a.id], 409, 'wrong_state'],
    [a.id, [], 422, 'validation_failed'],
    [a.id, ['x'], 422, 'validation_failed'],
  ];
  for (const [survivor, merged, status, code] of cases)
    await expectRefused(() => merge(admin, survivor, merged), status, code);
  // an archived duplicate can be merged away
  await ok(merge(admin, a.id, [gone.id]));
});

it('lets one of several merges of the same cards through', async () => {
  const [a, b, c] = [await admin.card(), await admin.card(), await admin.card()];
  const before = await inventory(t);
  const answers = await Promise.all([
    merge(admin, a.id, [b.id]),
    merge(admin, b.id, [a.id]),
    merge(admin, c.id, [a.id]),
    merge(admin, b.id, [c.id]),
  ]);
  const refused = answers.filter(({ status }) => status !== 200);
  for (const { status, body } of refused) expect([status, body.code]).toEqual([409, 'merged_card']);
  const merged = answers.filter(({ status }) => status === 200).length;
  expect(((await inventory(t)).cards as unknown[]).length).toBe((before.cards as unknown[]).length - merged);
});
