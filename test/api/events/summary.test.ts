import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';

const { t, admin, viewer } = await openApp(['admin', 'viewer']);

const position = async () => (await ok(admin.get('/api/v1/changes?after=now'))).next as string;
const create = (name: string, more: object = {}) =>
  admin.create('/api/v1/cards', { type: 'Application', name, ...more });

it('the summary counts what changed after a position', async () => {
  const after = await position();
  const card = await create('One');
  await admin.create('/api/v1/cards', { type: 'ITComponent', name: 'Two' });
  await ok(admin.patch(`/api/v1/cards/${card.id}`, { alias: 'A' }));
  const summary = await ok(viewer.get(`/api/v1/changes/summary?after=${after}`));
  expect(summary).toEqual({
    next: await position(),
    total: 3,
    card_count: 2,
    own_count: 0,
    by_event_type: [
      { event_type: 'card.created', count: 2 },
      { event_type: 'card.updated', count: 1 },
    ],
    by_card_type: [
      { card_type: 'Application', count: 2 },
      { card_type: 'ITComponent', count: 1 },
    ],
    is_truncated: false,
  });
  expect((await ok(admin.get(`/api/v1/changes/summary?after=${after}`))).own_count).toBe(3);
  expect((await ok(viewer.get(`/api/v1/changes/summary?after=${summary.next}`))).total).toBe(0);
  for (const text of ['', 'now', '99999999', 'x'])
    await expectProblem(viewer.get(`/api/v1/changes/summary?after=${text}`), 422);
});

it('the activity is for everyone who sees the inventory, newest first, with names', async () => {
  const card = await create('Active', { attributes: { costTotalAnnual: 4711 } });
  await ok(admin.patch(`/api/v1/cards/${card.id}`, { alias: 'A' }));
  const read = async (query: string) => (await ok(viewer.get(`/api/v1/events/activity?${query}`))).items;
  const items = await read(`card_id=${card.id}`);
  expect(pluck(items, 'event_type')).toEqual(['card.updated', 'card.created']);
  expect(items[0]).toMatchObject({
    card_name: 'Active',
    card_type: 'Application',
    user_display_name: 'admin',
  });
  expect(JSON.stringify(items)).not.toContain('4711');
  expect(pluck(await read(`card_id=${card.id}&event_type=card.created`), 'event_type')).toEqual([
    'card.created',
  ]);
  expect(await read('card_type=BusinessProcess')).toEqual([]);
  const all = await read('page_size=200');
  expect(new Set(pluck(all, 'event_type').map((type: string) => type.split('.')[0]))).toEqual(
    new Set(['card']),
  );
  await expectProblem(viewer.get('/api/v1/events/activity?event_type=nothing'), 422);
  await expectProblem(
    (await t.holding('comments.view')).get('/api/v1/events/activity'),
    403,
    'inventory.view',
  );
});
