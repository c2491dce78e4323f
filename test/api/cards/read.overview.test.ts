import { randomUUID } from 'node:crypto';
import { expectProblem, ok, openApp } from '../../support/harness.ts';

const { t, admin, viewer } = await openApp(['admin', 'viewer']);

const create = async (type: string, name: string, more: object = {}) =>
  (await admin.create('/api/v1/cards', { type, name, ...more })).id as string;
const relate = (type: string, source_id: string, target_id: string) =>
  admin.create('/api/v1/relations', { type, source_id, target_id });

const root = await create('BusinessCapability', 'Root');
const card = await create('BusinessCapability', 'Middle', { parent_id: root });
await create('BusinessCapability', 'Leaf', { parent_id: card });
const [first, second] = [await create('Application', 'Beta'), await create('Application', 'Alpha')];
for (const app of [first, second]) await relate('relAppToBC', app, card);
await admin.create(`/api/v1/cards/${card}/comments`, { content: 'Said' });

const url = `/api/v1/cards/${card}/overview`;

it('returns in one response what single reads return', async () => {
  const { body } = await admin.get(url);
  for (const [part, path] of Object.entries({
    card: '',
    hierarchy: '/hierarchy?page_size=20',
    permissions: '/my-permissions',
  }))
    expect(body[part]).toEqual(await ok(admin.get(`/api/v1/cards/${card}${path}`)));
  expect(body.relations).toMatchObject([
    {
      relation_type_key: 'relAppToBC',
      direction: 'incoming',
      count: 2,
      items: [
        { card: { id: second, name: 'Alpha', type: 'Application', subtype: null, approval_status: 'DRAFT' } },
        { card: { id: first, name: 'Beta' } },
      ],
    },
  ]);
  expect(body.counts).toMatchObject({
    comments: 1,
    todos: 0,
    documents: 0,
    risks: 0,
    diagrams: 0,
    decisions: 0,
  });
});

it('lists the first relations of each kind, and counts all', async () => {
  const { relations } = await ok(admin.get(`${url}?include=relations&relations=1`));
  expect(relations[0]).toMatchObject({ count: 2, items: [{ card: { name: 'Alpha' } }] });
});

it('names what raises the data quality, and by how much', async () => {
  const of = async () => (await ok(admin.get(`${url}?include=quality`))).quality;
  const before = await of();
  const gap = before.gaps.find(({ kind }: { kind: string }) => kind === 'description');
  await ok(admin.patch(`/api/v1/cards/${card}`, { description: 'What it does' }));
  const after = await of();
  expect(after.data_quality - before.data_quality).toBeCloseTo(gap.points, 0);
  expect(after.gaps).not.toContainEqual(gap);
  const sum = after.gaps.reduce((total: number, { points }: { points: number }) => total + points, 0);
  expect(after.data_quality + sum).toBeGreaterThan(99);
  expect(after.data_quality + sum).toBeLessThan(101);
});

it('leaves out parts that are not asked for, and those that the caller may not see', async () => {
  expect(Object.keys(await ok(admin.get(`${url}?include=counts`)))).toEqual(['card', 'counts']);
  const blind = await t.holding('inventory.view');
  const { relations, counts } = await ok(blind.get(url));
  expect(relations).toBeNull();
  expect(counts).toMatchObject({ comments: null, risks: null, diagrams: null });
  const costly = await create('Application', 'Costly');
  const gapsFor = async (client: typeof admin) =>
    (await ok(client.get(`/api/v1/cards/${costly}/overview?include=quality`))).quality.gaps.map(
      ({ key }: { key: string }) => key,
    );
  expect(await gapsFor(admin)).toContain('costTotalAnnual');
  expect(await gapsFor(viewer)).not.toContain('costTotalAnnual');
});

it('refuses unknown parts and cards', async () => {
  for (const query of ['include=nothing', 'relations=0', 'children=201'])
    await expectProblem(admin.get(`${url}?${query}`), 422);
  await expectProblem(admin.get(`/api/v1/cards/${randomUUID()}/overview`), 404);
});
