import { ok, openApp } from '../../support/harness.ts';
import { card, NOBODY, writesOf } from '../../support/writes.ts';

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);
const { appoint, eventsOf, expectRefused, idle } = writesOf(t);

const act = (id: string, action: string, client = member) =>
  client.post(card(id, `/approval-status?action=${action}`));
const metamodelChanged = () => db.raw(`select raise_topics(array['metamodel'])`);

it('approves, rejects and resets, with an event each, and writes nothing twice', async () => {
  const { id } = await member.card();
  let before = 'DRAFT';
  for (const [action, status] of [
    ['approve', 'APPROVED'],
    ['reject', 'REJECTED'],
    ['reset', 'DRAFT'],
  ] as const) {
    const { answer, events } = await eventsOf(() => act(id, action), 200);
    expect(answer.body).toEqual((await member.get(card(id))).body);
    expect(events).toMatchObject([{ event_type: `card.approval_status.${action}`, card_id: id }]);
    expect(events[0]!.data.changes).toEqual({ approval_status: { old: before, new: status } });
    await idle(() => act(id, action));
    before = status;
  }
});

it('refuses unknown actions, unknown and archived cards', async () => {
  const { id } = await member.card();
  for (const query of ['', '?action=x', '?action=approve&more=1'])
    await expectRefused(() => member.post(card(id, `/approval-status${query}`)), 422);
  await expectRefused(() => act(NOBODY, 'approve'), 404);
  await member.post(card(id, '/archive'));
  for (const action of ['approve', 'reject', 'reset'])
    await expectRefused(() => act(id, action), 409, 'wrong_state');
});

it('needs inventory.approval_status or the stakeholder right', async () => {
  const { id } = await member.card();
  await expectRefused(() => act(id, 'approve', viewer), 403, 'inventory.approval_status');
  await appoint(id, viewer, 'responsible');
  expect((await act(id, 'approve', viewer)).body.approval_status).toBe('APPROVED');
});

it('is blocked while mandatory relations and tags are missing; both count for the data quality', async () => {
  const [group] = await db('tag_groups')
    .insert({ name: 'Region', mandatory: true, restrict_to_types: JSON.stringify(['Application']) })
    .returning('id');
  const [tag] = await db('tags').insert({ tag_group_id: group.id, name: 'EU' }).returning('id');
  await db('relation_types').where({ key: 'relProviderToApp' }).update({ target_mandatory: true });
  await metamodelChanged();
  const { id, data_quality } = await member.card();
  const provider = await member.card({ type: 'Provider' });
  await expectRefused(() => act(id, 'approve'), 409, 'approval_blocked_mandatory_missing', {
    missing_relations: [{ type: 'relProviderToApp', side: 'target' }],
    missing_tag_groups: [{ id: group.id, name: 'Region' }],
  });
  await ok(act(id, 'reject'));

  await db('card_tags').insert({ card_id: id, tag_id: tag.id });
  const related = await eventsOf(() =>
    member.post('/api/v1/relations', { type: 'relProviderToApp', source_id: provider.id, target_id: id }),
  );
  // one of 20 slots by the relation, one by the tag that was set beside the service
  expect(related.events.map((event) => [event.event_type, event.data.changes])).toEqual([
    ['relation.created', {}],
    ['card.updated', { data_quality: { old: data_quality, new: 10 } }],
  ]);
  expect((await act(id, 'approve')).body).toMatchObject({ approval_status: 'APPROVED', data_quality: 10 });
  const gone = await eventsOf(() => member.delete(`/api/v1/relations/${related.answer.body.id}`));
  expect(gone.events[1]!.data.changes).toEqual({ data_quality: { old: 10, new: 5 } });
  expect((await member.get(card(id))).body).toMatchObject({ approval_status: 'APPROVED', data_quality: 5 });

  await member.relate('relProviderToApp', provider.id, id);
  const deleted = await eventsOf(() => admin.delete(card(provider.id)));
  expect(deleted.events.map((event) => [event.event_type, event.card_id])).toEqual([
    ['relation.deleted', provider.id],
    ['card.updated', id],
    ['card.deleted', provider.id],
  ]);
});
