import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { card, NOBODY, writesOf } from '../../support/writes.ts';

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);
const { appoint, eventsOf, expectRefused } = writesOf(t);

const remove = (id: string, body?: unknown, client = admin) => client.delete(card(id), body);

it('leaves a tombstone with the last values and a readable history', async () => {
  const made = await admin.card({
    name: 'Gone',
    external_id: 'G-1',
    lifecycle: { active: '2020-01-01' },
    attributes: { costTotalAnnual: 9 },
  });
  const [group] = await db('tag_groups').insert({ name: 'Region' }).returning('id');
  const [tag] = await db('tags').insert({ tag_group_id: group.id, name: 'EU' }).returning('id');
  await db('card_tags').insert({ card_id: made.id, tag_id: tag.id });
  const { answer, events } = await eventsOf(() => remove(made.id));
  expect(answer).toMatchObject({
    status: 200,
    body: { deleted_card_ids: [made.id], affected_children_ids: [], affected_related_card_ids: [] },
  });
  expect(events.map(({ event_type }) => event_type)).toEqual(['tag.removed', 'card.deleted']);
  expect(events[1]).toMatchObject({
    event_type: 'card.deleted',
    card_id: made.id,
    cost_keys: ['attributes.costTotalAnnual'],
    data: { id: made.id, type: 'Application', name: 'Gone' },
  });
  expect(events[1]!.data.changes).toEqual({
    number: { old: made.number, new: null },
    name: { old: 'Gone', new: null },
    external_id: { old: 'G-1', new: null },
    status: { old: 'ACTIVE', new: null },
    approval_status: { old: 'DRAFT', new: null },
    data_quality: { old: made.data_quality, new: null },
    'lifecycle.active': { old: '2020-01-01', new: null },
    'attributes.costTotalAnnual': { old: 9, new: null },
  });
  await expectProblem(admin.get(card(made.id)), 404);
  const history = await admin.get(card(made.id, '/history'));
  expect(pluck(history.body.items, 'event_type')).toEqual(['card.deleted', 'tag.removed', 'card.created']);
  await expectRefused(() => remove(made.id), 404);
  await admin.card({ name: 'Gone', external_id: 'G-1' });
});

it('deletes relations with an event each, before the card', async () => {
  const app = await admin.card();
  const one = await admin.card({ type: 'ITComponent' });
  const two = await admin.card({ type: 'ITComponent' });
  const first = await admin.relate('relAppToITC', app.id, one.id);
  const second = await admin.relate('relAppToITC', app.id, two.id);
  const { events } = await eventsOf(() => remove(app.id));
  expect(events.map((event) => [event.event_type, event.relation_id, event.peer_card_id])).toEqual([
    ['relation.deleted', first.id, one.id],
    ['relation.deleted', second.id, two.id],
    ['card.deleted', null, null],
  ]);
  expect(events[0]!.data).toMatchObject({ source_name: app.name, target_name: one.name });
  expect(new Set(events.map((event) => event.batch_id)).size).toBe(1);
  expect((await admin.get(card(one.id, '/history'))).body.items[0].event_type).toBe('relation.deleted');
});

it('asks what becomes of active children, and parts archived ones from the card', async () => {
  const parent = await admin.card();
  const child = await admin.card({ parent_id: parent.id });
  await expectRefused(() => remove(parent.id), 409, 'children_present', { child_count: 1 });
  await admin.post(card(child.id, '/archive'));
  const answer = await remove(parent.id);
  expect(answer.body).toMatchObject({ deleted_card_ids: [parent.id], affected_children_ids: [child.id] });
  expect((await admin.get(card(child.id))).body).toMatchObject({ status: 'ARCHIVED', parent_id: null });
});

it('cascades to all below, archived ones too', async () => {
  const parent = await admin.card();
  const child = await admin.card({ parent_id: parent.id });
  const below = await admin.card({ parent_id: child.id });
  await admin.post(card(below.id, '/archive'));
  const { answer, events } = await eventsOf(() => remove(parent.id, { child_strategy: 'cascade' }));
  expect(new Set(answer.body.deleted_card_ids)).toEqual(new Set([parent.id, child.id, below.id]));
  expect(answer.body.deleted_card_ids[0]).toBe(parent.id);
  expect(events.map((event) => event.event_type)).toEqual(Array(3).fill('card.deleted'));
});

it.each(['disconnect', 'reparent'])('moves children by %s, with levels and broken approvals', async (way) => {
  const type = 'BusinessCapability';
  const top = await admin.card({ type });
  const parent = await admin.card({ type, parent_id: top.id });
  const child = await admin.card({ type, name: `Child ${way}`, parent_id: parent.id });
  const below = await admin.card({ type, parent_id: child.id });
  await admin.post(card(child.id, '/approval-status?action=approve'));
  const { events } = await eventsOf(() => remove(parent.id, { child_strategy: way }));
  expect(events.map((event) => [event.event_type, event.card_id])).toEqual([
    ['card.deleted', parent.id],
    ['card.updated', child.id],
    ['card.updated', below.id],
  ]);
  const [level, lower] = way === 'disconnect' ? ['L1', 'L2'] : ['L2', 'L3'];
  expect((await admin.get(card(child.id))).body).toMatchObject({
    parent_id: way === 'disconnect' ? null : top.id,
    approval_status: 'BROKEN',
    attributes: { capabilityLevel: level },
  });
  expect((await admin.get(card(below.id))).body.attributes.capabilityLevel).toBe(lower);
});

it('takes related cards along, whose children are disconnected', async () => {
  const app = await admin.card();
  const component = await admin.card({ type: 'ITComponent' });
  const below = await admin.card({ type: 'ITComponent', parent_id: component.id });
  await admin.relate('relAppToITC', app.id, component.id);
  expect((await remove(app.id, { cascade_all_related: true })).body).toEqual({
    deleted_card_ids: [app.id, component.id],
    affected_children_ids: [below.id],
    affected_related_card_ids: [component.id],
  });
  expect((await admin.get(card(below.id))).body.parent_id).toBeNull();
});

it('needs inventory.delete or card.delete on each', async () => {
  const { id } = await admin.card();
  for (const client of [viewer, member])
    await expectRefused(() => remove(id, undefined, client), 403, 'inventory.delete');
  await expectRefused(() => remove(NOBODY), 404);
  await db.raw(`update stakeholder_role_definitions set permissions = permissions || '{"card.delete": true}'
       where card_type_key = 'Application' and key = 'responsible'`);
  await db.raw(`select raise_topics(array['metamodel'])`);
  await appoint(id, viewer, 'responsible');
  const child = await admin.card({ parent_id: id });
  await expectRefused(() => remove(id, { child_strategy: 'cascade' }, viewer), 403);
  await appoint(child.id, viewer, 'responsible');
  await ok(remove(id, { child_strategy: 'cascade' }, viewer));
});
