import { answered, expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { putCard, putRelation, putStakeholder } from './read.fixture.ts';

const NOBODY = '00000000-0000-4000-8000-000000000000';

const { t, db, admin, viewer } = await openApp(['admin', 'viewer']);

const problem = (answer: { status: number; body: { code: string } }) => [answer.status, answer.body.code];

describe('one card', () => {
  it('has every member, tags and stakeholders, and an ETag of its text', async () => {
    const id = await putCard(t, {
      name: 'Claims Desk',
      subtype: 'businessApplication',
      lifecycle: JSON.stringify({ active: '2021-04-01' }),
      attributes: { businessCriticality: 'missionCritical', costTotalAnnual: 1200.5 },
      data_quality: 33.3,
      created_by: admin.userId,
    });
    const [group] = await db('tag_groups').insert({ name: 'Region' }).returning('id');
    const [label] = await db('tags')
      .insert({ tag_group_id: group.id, name: 'North', color: '#112233' })
      .returning('id');
    await db('card_tags').insert({ card_id: id, tag_id: label.id });
    await putStakeholder(t, id, admin.userId, 'responsible');

    const answer = await answered(admin.get(`/api/v1/cards/${id}`));
    expect(Object.keys(answer.body).slice(0, 6)).toEqual([
      'id',
      'number',
      'type',
      'subtype',
      'name',
      'description',
    ]);
    expect(answer.body).toMatchObject({
      id,
      type: 'Application',
      attributes: { businessCriticality: 'missionCritical', costTotalAnnual: 1200.5 },
      lifecycle: { active: '2021-04-01' },
      status: 'ACTIVE',
      data_quality: 33.3,
      archived_at: null,
      tags: [{ id: label.id, name: 'North', color: '#112233', group_name: 'Region' }],
      stakeholders: [{ user_id: admin.userId, user_display_name: 'admin', role: 'responsible' }],
    });
    const again = await admin.get(`/api/v1/cards/${id}`, { 'if-none-match': answer.headers.etag! });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('leaves out costs without costs.view, but not for a stakeholder of the card', async () => {
    const attributes = { costTotalAnnual: 5, numberOfUsers: 7 };
    const id = await putCard(t, { name: 'Costly', attributes });
    expect((await viewer.get(`/api/v1/cards/${id}`)).body.attributes).toEqual({ numberOfUsers: 7 });
    expect((await admin.get(`/api/v1/cards/${id}`)).body.attributes).toEqual(attributes);
    // people become observers by themselves
    await putStakeholder(t, id, viewer.userId, 'observer');
    expect((await viewer.get(`/api/v1/cards/${id}`)).body.attributes).toEqual({ numberOfUsers: 7 });
    await putStakeholder(t, id, viewer.userId, 'responsible');
    expect((await viewer.get(`/api/v1/cards/${id}`)).body.attributes).toEqual(attributes);
    const listed = await viewer.get(`/api/v1/cards?search=Costly&fields=attributes`);
    expect(listed.body.items).toEqual([{ attributes }]);
  });

  it('is 404 when hidden, 422 for a malformed id and 403 without any right', async () => {
    expect(problem(await admin.get('/api/v1/cards/17'))).toEqual([422, 'validation_failed']);
    const id = await putCard(t, { name: 'Seen by few' });
    const outsider = await t.holding();
    await expectProblem(outsider.get(`/api/v1/cards/${id}`), 403, 'inventory.view');
    await putStakeholder(t, id, outsider.userId, 'observer');
    await ok(outsider.get(`/api/v1/cards/${id}`));
    await ok(outsider.get(`/api/v1/cards/${id}/history`));
    await expectProblem(outsider.get('/api/v1/cards'), 403);
  });

  it('tells my permissions and where they come from', async () => {
    const id = await putCard(t, { name: 'Mine to edit' });
    await putStakeholder(t, id, viewer.userId, 'responsible');
    const { body } = await viewer.get(`/api/v1/cards/${id}/my-permissions`);
    expect(body.app_level['inventory.edit']).toBe(false);
    expect(body.stakeholder_roles).toEqual(['responsible']);
    expect(body.card_level['card.edit']).toBe(true);
    const rights = body.effective;
    expect(rights).toMatchObject({ can_view: true, can_edit: true, can_delete: false, can_view_costs: true });
  });
});

it('hierarchy names all ancestors with the root first, the level and a page of children', async () => {
  const ids: string[] = [];
  for (const name of ['Root', 'Middle', 'Leaf'])
    ids.push(await putCard(t, { type: 'BusinessCapability', name, parent_id: ids.at(-1) ?? null }));
  await putCard(t, { type: 'BusinessCapability', name: 'Another', parent_id: ids[1] });
  await putCard(t, { type: 'BusinessCapability', name: 'Gone', parent_id: ids[1], status: 'ARCHIVED' });
  const leaf = await viewer.get(`/api/v1/cards/${ids[2]}/hierarchy`);
  expect(pluck(leaf.body.ancestors, 'name')).toEqual(['Root', 'Middle']);
  expect([leaf.body.level, leaf.body.children]).toEqual([3, []]);
  const middle = await viewer.get(`/api/v1/cards/${ids[1]}/hierarchy?page_size=1&page=2`);
  expect(middle.body).toMatchObject({ level: 2, children_total: 2, page: 2, children: [{ name: 'Leaf' }] });
});

it('history shows events of the card and its relations, newest first, without costs', async () => {
  const card = await putCard(t, { name: 'With a past' });
  const other = await putCard(t, { type: 'ITComponent', name: 'Other end' });
  const events = [
    {
      event_type: 'card.updated',
      card_id: card,
      card_type: 'Application',
      cost_keys: ['attributes.costTotalAnnual'],
      data: {
        id: card,
        changes: { name: { old: 'a', new: 'b' }, 'attributes.costTotalAnnual': { old: 1, new: 2 } },
      },
    },
    {
      event_type: 'relation.created',
      card_id: card,
      card_type: 'Application',
      peer_card_id: other,
      peer_card_type: 'ITComponent',
      relation_id: NOBODY,
      data: { changes: {} },
    },
  ];
  await db.raw("select record_events(?::jsonb, '{}')", [JSON.stringify(events)]);
  const { body } = await admin.get(`/api/v1/cards/${card}/history`);
  expect(pluck(body.items, 'event_type')).toEqual(['relation.created', 'card.updated']);
  expect(Object.keys(body.items[1].data.changes)).toEqual(['name', 'attributes.costTotalAnnual']);
  expect((await admin.get(`/api/v1/cards/${other}/history`)).body.total).toBe(1);
  const cut = await viewer.get(`/api/v1/cards/${card}/history?cursor=&page_size=1`);
  const rest = await viewer.get(`/api/v1/cards/${card}/history?cursor=${cut.body.next_cursor}&page_size=1`);
  expect(rest.body.items[0].data.changes).toEqual({ name: { old: 'a', new: 'b' } });
  expect(rest.body.next_cursor).toBeNull();

  await db('cards').where({ id: card }).delete();
  expect((await admin.get(`/api/v1/cards/${card}/history`)).body.total).toBe(2);
  expect(problem(await viewer.get(`/api/v1/cards/${card}/history`))).toEqual([404, 'not_found']);
});

it('previews archiving, restoring and the relations by type', async () => {
  const top = await putCard(t, { name: 'Top' });
  const card = await putCard(t, { name: 'Core', parent_id: top });
  const child = await putCard(t, { name: 'Core child', parent_id: card, approval_status: 'APPROVED' });
  await putCard(t, { name: 'Core grandchild', parent_id: child, approval_status: 'APPROVED' });
  const component = await putCard(t, { type: 'ITComponent', name: 'Runs on' });
  const relation = await putRelation(t, 'relAppToITC', card, component);
  const { body } = await viewer.get(`/api/v1/cards/${card}/archive-impact`);
  expect(body).toMatchObject({
    child_count: 1,
    descendant_count: 2,
    approved_descendant_count: 2,
    related_count: 1,
    grandparent: { id: top, name: 'Top' },
    children: [{ id: child, descendants_count: 1, approval_status: 'APPROVED' }],
    related_cards: [
      { id: component, relation_id: relation, relation_type_key: 'relAppToITC', direction: 'outgoing' },
    ],
  });
  expect((await viewer.get(`/api/v1/cards/${component}/relation-summary`)).body.by_type).toMatchObject([
    { direction: 'incoming', peer_type_key: 'Application', count: 1 },
  ]);
  const tree = (await viewer.get(`/api/v1/cards/${card}/relation-summary`)).body.hierarchy;
  expect(tree).toEqual({ children_count: 1, parent_id: top, parent_name: 'Top', parent_type: 'Application' });

  expect((await viewer.get(`/api/v1/cards/${card}/restore-impact`)).body).toEqual({ passengers: [] });
  await db('cards')
    .whereIn('id', [card, child, component])
    .update({ status: 'ARCHIVED', archive_batch_id: NOBODY });
  expect((await viewer.get(`/api/v1/cards/${card}/restore-impact`)).body.passengers).toMatchObject([
    { id: child, role: 'child' },
    { id: component, role: 'related' },
  ]);
});

it('counts active cards by type and lists created and entrusted ones', async () => {
  const maker = await t.as('member', 'maker');
  const before = (await maker.get('/api/v1/cards/counts')).body;
  const id = await putCard(t, { type: 'Provider', name: 'Maker & Sons', created_by: maker.userId });
  await putCard(t, { type: 'Provider', name: 'Old Maker', status: 'ARCHIVED', created_by: maker.userId });
  await putStakeholder(t, id, maker.userId, 'responsible');
  const after = (await maker.get('/api/v1/cards/counts')).body;
  expect(after.total).toBe(before.total + 1);
  expect(after.by_type).toHaveLength(13);
  const created = await maker.get('/api/v1/cards/my-created?fields=name');
  expect(created.body.items).toEqual([{ name: 'Maker & Sons' }, { name: 'Old Maker' }]);
  const held = await maker.get('/api/v1/cards/my-stakeholder');
  expect(held.body.total).toBe(1);
  expect(held.body.roles_by_card_id[id][0].key).toBe('responsible');
  const walked = await maker.get('/api/v1/cards/my-stakeholder?cursor=&fields=id,name');
  expect(walked.body.items).toEqual([{ id, name: expect.any(String) }]);
  expect(walked.body.roles_by_card_id).toEqual(held.body.roles_by_card_id);
});
