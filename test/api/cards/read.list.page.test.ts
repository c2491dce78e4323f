import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';

const { admin } = await openApp(['admin']);

const create = async (type: string, name: string, more: object = {}) =>
  (await admin.create('/api/v1/cards', { type, name, ...more })).id as string;
const root = await create('BusinessCapability', 'Root', { lifecycle: { active: '2000-01-01' } });
const middle = await create('BusinessCapability', 'Middle', {
  parent_id: root,
  lifecycle: { plan: '2999-01-01' },
});
const leaf = await create('BusinessCapability', 'Leaf', {
  parent_id: middle,
  lifecycle: { active: '2000-01-01', endOfLife: '2001-01-01' },
  description: 'A leaf',
});
const bare = await create('BusinessCapability', 'Bare', { description: 'Before a leaf' });
const app = await create('Application', 'Uses');
for (const target_id of [leaf, bare])
  await admin.create('/api/v1/relations', { type: 'relAppToBC', source_id: app, target_id });

const url = '/api/v1/cards?type=BusinessCapability';
const names = async (query: string) => pluck((await ok(admin.get(`${url}&${query}`))).items, 'name');

it('a page of cards has their paths, if asked for', async () => {
  const paths = [
    [],
    [
      { id: root, name: 'Root' },
      { id: middle, name: 'Middle' },
    ],
    [{ id: root, name: 'Root' }],
    [],
  ];
  for (const start of ['page=1', 'cursor=']) {
    const { items } = await ok(admin.get(`${url}&fields=name,path&${start}`));
    expect(pluck(items, 'name')).toEqual(['Bare', 'Leaf', 'Middle', 'Root']);
    expect(pluck(items, 'path')).toEqual(paths);
  }
  expect((await ok(admin.get(url))).items[0]).not.toHaveProperty('path');
});

it('is ordered by phase, description and users', async () => {
  expect(await names('sort_by=phase')).toEqual(['Middle', 'Root', 'Leaf', 'Bare']);
  expect(await names('sort_by=phase&sort_dir=desc')).toEqual(['Leaf', 'Root', 'Middle', 'Bare']);
  expect((await names('sort_by=description')).slice(0, 2)).toEqual(['Leaf', 'Bare']);
  expect(await names('sort_by=created_by')).toHaveLength(4);
  expect(await names('sort_by=updated_by&cursor=')).toHaveLength(4);
});

it('is ordered by path, tags and number of relations', async () => {
  expect(await names('sort_by=path')).toEqual(['Bare', 'Root', 'Middle', 'Leaf']);
  expect(await names('sort_by=path&sort_dir=desc&cursor=')).toEqual(['Leaf', 'Middle', 'Root', 'Bare']);
  const group = await admin.create('/api/v1/tag-groups', { name: 'Sorted' });
  const tags = `/api/v1/tag-groups/${group.id}/tags`;
  const [a, b] = [await admin.create(tags, { name: 'A' }), await admin.create(tags, { name: 'B' })];
  await ok(admin.post(`/api/v1/cards/${root}/tags`, [b.id]), 201);
  await ok(admin.post(`/api/v1/cards/${leaf}/tags`, [a.id]), 201);
  expect((await names('sort_by=tags')).slice(0, 2)).toEqual(['Leaf', 'Root']);
  expect((await names('sort_by=relations&sort_dir=desc')).slice(0, 2).sort()).toEqual(['Bare', 'Leaf']);
});

it("is filtered by today's phase", async () => {
  const filtered = (filter: string) => names(`filter=${encodeURIComponent(filter)}`);
  expect(await filtered('phase = active')).toEqual(['Root']);
  expect(await filtered('phase in (plan, endOfLife)')).toEqual(['Leaf', 'Middle']);
  expect(await filtered('phase is empty')).toEqual(['Bare']);
  expect(await filtered('phase != active')).toEqual(['Bare', 'Leaf', 'Middle']);
  const users = `/api/v1/cards?filter=${encodeURIComponent('relation.relAppToBC.target.phase = endOfLife')}`;
  expect(pluck((await ok(admin.get(users))).items, 'name')).toEqual(['Uses']);
  await expectProblem(admin.get(`${url}&filter=${encodeURIComponent('phase = gone')}`), 422);
});

it('a cursor starts at an offset', async () => {
  for (const sort of ['name', 'created_at']) {
    const all = await names(`sort_by=${sort}`);
    const { items, next_cursor } = await ok(admin.get(`${url}&sort_by=${sort}&cursor=&offset=1&page_size=2`));
    expect(pluck(items, 'name')).toEqual(all.slice(1, 3));
    const next = await ok(admin.get(`${url}&sort_by=${sort}&cursor=${next_cursor}&page_size=2`));
    expect(pluck(next.items, 'name')).toEqual(all.slice(3));
    expect(next.next_cursor).toBeNull();
    const beyond = await ok(admin.get(`${url}&sort_by=${sort}&cursor=&offset=9`));
    expect(beyond).toMatchObject({ items: [], next_cursor: null });
    await expectProblem(admin.get(`${url}&sort_by=${sort}&cursor=${next_cursor}&offset=1`), 422);
  }
  await expectProblem(admin.get(`${url}&offset=1`), 422);
  await expectProblem(admin.get(`${url}&cursor=&offset=-1`), 422);
});

it('relations of several cards come in one list, with what shows the other end', async () => {
  const { items } = await ok(
    admin.get(`/api/v1/relations?card_ids=${leaf}&card_ids=${bare}&card_ids=${root}`),
  );
  expect(items).toHaveLength(2);
  const end = items.find(({ target }: { target: { id: string } }) => target.id === leaf).target;
  expect(end).toMatchObject({
    name: 'Leaf',
    subtype: null,
    approval_status: 'DRAFT',
    lifecycle: { active: '2000-01-01' },
  });
  expect((await ok(admin.get(`/api/v1/relations?card_ids=${root}`))).items).toEqual([]);
  await expectProblem(admin.get('/api/v1/relations?card_ids=nonsense'), 422);
});
