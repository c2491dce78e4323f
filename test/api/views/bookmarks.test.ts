import { randomUUID } from 'node:crypto';
import { expectInvalid, expectProblem, ok, openApp, pluck, type TestClient } from '../../support/harness.ts';

const { admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);

const url = '/api/v1/bookmarks';
const made = (client: TestClient, body: object = {}) =>
  client.create(url, { name: `View ${randomUUID()}`, ...body });
const card = async (more: object = {}) => {
  const body = { type: 'Application', name: `Card ${randomUUID()}`, ...more };
  return (await admin.create('/api/v1/cards', body)).id as string;
};
const ids = (answer: { body: { items: { id: string }[] } }) => answer.body.items.map(({ id }) => id);
const told = async (client: TestClient, id: string) =>
  pluck(
    (
      await client.get(`/api/v1/changes?event_type=bookmark.created,bookmark.updated,bookmark.deleted`)
    ).body.items.filter((event: { data: { id: string } }) => event.data.id === id),
    'event_type',
  );

describe('a saved view', () => {
  it('is made, changed and deleted, told to its owner alone', async () => {
    const view = await made(member, { sort: { field: 'name' }, columns: ['name'] });
    expect(view).toMatchObject({ is_owner: true, visibility: 'private', sort: { direction: 'asc' } });
    const one = `${url}/${view.id}`;
    expect((await member.patch(one, { name: 'Mine', columns: null })).body.name).toBe('Mine');
    expect(ids(await admin.get(`${url}?page_size=200`))).not.toContain(view.id);
    await expectProblem(admin.patch(one, { name: 'x' }), 404);
    await expectProblem(admin.delete(one), 404);
    await ok(member.delete(one), 204);
    await expectProblem(member.delete(one), 404);
    expect(await told(member, view.id)).toEqual(['bookmark.created', 'bookmark.updated', 'bookmark.deleted']);
    expect(await told(admin, view.id)).toEqual([]);
  });

  it('has an expression, own cards, further sort members and a layout', async () => {
    const own = await card({ name: `Own ${randomUUID()}` });
    await admin.create(`/api/v1/cards/${own}/stakeholders`, { user_id: admin.userId, role: 'responsible' });
    const view = await made(admin, {
      filters: { types: ['Application'], expression: 'subtype is empty', mine: true },
      sort: { field: 'subtype', further: [{ field: 'name', direction: 'desc' }] },
      layout: { group_by: 'attributes.timeModel', widths: { name: 240 }, density: 'compact' },
      odata_enabled: true,
    });
    expect(view).toMatchObject({
      sort: { direction: 'asc', further: [{ field: 'name', direction: 'desc' }] },
      layout: { group_by: 'attributes.timeModel', widths: { name: 240 } },
    });
    expect(pluck((await admin.get(`${url}/${view.id}/odata`)).body.value, 'id')).toEqual([own]);
    await expectInvalid(
      admin.post(url, { name: 'x', filters: { expression: 'nope =' } }),
      'filters.expression',
    );
    await expectProblem(admin.post(url, { name: 'x', layout: { widths: { name: 1 } } }), 422);
    const long = { widths: { ['x'.repeat(121)]: 100 } };
    await expectProblem(admin.post(url, { name: 'x', layout: long }), 422);
  });

  it('is shared for reading or for editing', async () => {
    const shared_with = [{ user_id: viewer.userId, can_edit: true }, { user_id: admin.userId }];
    const view = await made(member, { visibility: 'shared', shared_with });
    const one = `${url}/${view.id}`;
    expect(ids(await viewer.get(`${url}?filter=shared`))).toEqual([view.id]);
    await expectProblem(admin.patch(one, { name: 'x' }), 403);
    const edited = await viewer.patch(one, { name: 'Edited' });
    expect(edited.body).toMatchObject({ name: 'Edited', can_edit: true, is_owner: false });
    expect(edited.body.shared_with).toHaveLength(1);
    await expectProblem(viewer.patch(one, { visibility: 'private' }), 403);
    await expectProblem(viewer.delete(one), 403);
    await member.patch(one, { visibility: 'private' });
    await expectProblem(viewer.patch(one, { name: 'x' }), 404);
    await expectProblem(viewer.post(url, { name: 'x', visibility: 'public' }), 403, 'bookmarks.share');
  });

  it('is the only default of its type', async () => {
    const first = await made(member, { card_type: 'Provider', is_default: true });
    const second = await made(member, { card_type: 'Provider', is_default: true });
    const other = await made(member, { card_type: 'Application', is_default: true });
    const { items } = (await member.get(`${url}?filter=my&page_size=200`)).body;
    const defaults = items.filter((item: { is_default: boolean }) => item.is_default);
    expect(ids({ body: { items: defaults } }).sort()).toEqual([second.id, other.id].sort());
    expect(await told(member, first.id)).toEqual(['bookmark.created', 'bookmark.updated']);
  });

  it('is refused where it does not fit the metamodel', async () => {
    const refused = (body: object, field: string) =>
      expectInvalid(member.post(url, { name: 'x', ...body }), field);
    await refused({ card_type: 'Nothing' }, 'card_type');
    await refused({ filters: { types: ['Nothing'] } }, 'filters.types.0');
    await refused({ filters: { tagIds: [randomUUID()] } }, 'filters.tagIds.0');
    await refused({ filters: { attributes: { nothing: 1 } } }, 'filters.attributes.nothing');
    await refused({ filters: { relations: { nothing: true } } }, 'filters.relations.nothing');
    await refused(
      { visibility: 'shared', shared_with: [{ user_id: randomUUID() }] },
      'shared_with.0.user_id',
    );
    const costs = { filters: { attributes: { costTotalAnnual: 5 } } };
    await expectProblem(viewer.post(url, { name: 'x', ...costs }), 403, 'costs.view');
  });
});

describe('the feed of a view', () => {
  const feed = async (filters: object, query = '') => {
    const view = await made(member, { filters, odata_enabled: true, visibility: 'public' });
    return await ok(viewer.get(`${view.odata_url}${query}`));
  };
  const found = async (filters: object) =>
    pluck((await feed({ types: ['Application'], ...filters }, '?page_size=10000')).value, 'id');

  it('holds the active cards that every filter selects, without costs for those who may not see them', async () => {
    const one = await card({
      attributes: { businessCriticality: 'missionCritical', costTotalAnnual: 7 },
      lifecycle: { active: '2020-01-01', endOfLife: '2999-01-01' },
    });
    const two = await card();
    const component = await card({ type: 'ITComponent' });
    await admin.create('/api/v1/relations', { type: 'relAppToITC', source_id: one, target_id: component });
    const group = await admin.post('/api/v1/tag-groups', { name: randomUUID() });
    const tag = await admin.post(`/api/v1/tag-groups/${group.body.id}/tags`, { name: 'T' });
    await admin.post(`/api/v1/cards/${one}/tags`, [tag.body.id]);
    const selecting = [
      { attributes: { businessCriticality: 'missionCritical' } },
      { attributes: { businessCriticality: ['missionCritical'] } },
      { lifecyclePhases: ['active'] },
      { relations: { relAppToITC: [component] } },
      { relations: { relAppToITC: true } },
      { tagIds: [tag.body.id] },
    ];
    for (const filters of selecting) {
      const selected = await found(filters);
      expect([filters, selected.includes(one), selected.includes(two)]).toEqual([filters, true, false]);
    }
    expect(await found({ lifecyclePhases: ['endOfLife'] })).not.toContain(one);
    const planned = await card({ lifecycle: { active: '2999-01-01' } });
    expect(await found({ lifecyclePhases: ['plan'] })).toContain(planned);
    expect(await found({ attributes: { businessCriticality: null } })).toContain(two);
    expect(await found({ approvalStatuses: ['DRAFT'], dataQualityMin: 0 })).toContain(two);
    const { value } = await feed({ tagIds: [tag.body.id] });
    expect(value[0].attributes).toEqual({ businessCriticality: 'missionCritical' });
    await admin.post(`/api/v1/cards/${one}/archive`);
    expect(await found({ tagIds: [tag.body.id] })).toEqual([]);
  });

  it('finds by words, and goes on by pages', async () => {
    const word = `w${randomUUID().slice(0, 8)}`;
    for (const n of [1, 2, 3]) await card({ name: `${word} ${n}` });
    const first = await feed({ search: word }, '?page_size=2');
    expect([first['@odata.count'], first.value.length]).toEqual([3, 2]);
    const last = await viewer.get(first['@odata.nextLink']);
    expect([last.body.value.length, last.body['@odata.nextLink']]).toEqual([1, undefined]);
  });

  it('is there for those who see the view, once it is opened', async () => {
    const view = await made(member, { visibility: 'private' });
    await expectProblem(member.get(`${url}/${view.id}/odata`), 403);
    await expectProblem(viewer.get(`${url}/${view.id}/odata`), 404);
    await expectProblem(viewer.get(`${url}/${view.id}/odata?page_size=10001`), 422);
    await expectProblem(viewer.post(url, { name: 'x', odata_enabled: true }), 403, 'bookmarks.odata');
  });
});
