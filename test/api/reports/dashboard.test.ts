// @redis
import { takeKpiSnapshot } from '../../../reports/inventory/kpis/kpis.snapshots.ts';
import { expectProblem, ok, openApp } from '../../support/harness.ts';
import { storeInventory } from '../../support/inventory.ts';

const { t, db, admin, member, viewer } = await openApp(['viewer', 'admin', 'member']);

const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);

it('counts active cards of visible types by type, approval, quality and phase', async () => {
  const running = { plan: day(-9), phaseIn: day(-5), active: day(-1), endOfLife: day(9) };
  await storeInventory(t, {
    Application: {
      a: { data_quality: 0, lifecycle: { plan: day(10) } },
      b: { data_quality: 24.9, lifecycle: running },
      c: { data_quality: 25, approval_status: 'APPROVED', lifecycle: { active: day(-9), endOfLife: day(0) } },
      d: { data_quality: 75, approval_status: 'BROKEN', lifecycle: {} },
      f: { data_quality: 100, status: 'ARCHIVED' },
    },
    Provider: { e: { data_quality: 100 } },
  });
  const body = await ok(viewer.get('/api/v1/reports/dashboard'));
  expect(body).toMatchObject({
    total_cards: 5,
    avg_data_quality: 45,
    approval_statuses: { DRAFT: 3, APPROVED: 1, BROKEN: 1 },
    data_quality_distribution: { '0-25': 2, '25-50': 1, '50-75': 0, '75-100': 2 },
    lifecycle_distribution: { plan: 1, phaseIn: 0, active: 1, phaseOut: 0, endOfLife: 1, none: 2 },
    trends: { snapshot_available: false, total_cards: { current: 5, previous: null, delta_pct: null } },
  });
  expect(body.by_type).toMatchObject({ Application: 4, Provider: 1, Objective: 0 });
});

it('answers 304 while nothing changed, and shows a change at once', async () => {
  const first = await viewer.get('/api/v1/reports/dashboard');
  await ok(viewer.get('/api/v1/reports/dashboard', { 'if-none-match': first.headers.etag! }), 304);
  await storeInventory(t, { Application: { g: {} } });
  const after = await viewer.get('/api/v1/reports/dashboard', { 'if-none-match': first.headers.etag! });
  expect([after.status, after.body.total_cards]).toEqual([200, first.body.total_cards + 1]);
});

it('is refused without the permission', async () =>
  await expectProblem((await t.holding()).get('/api/v1/reports/dashboard'), 403, 'reports.ea_dashboard'));

it('compares with the snapshot of 30 days ago and serves the series', async () => {
  const ctx = await t.ctx();
  const slot = new Date(Date.now() - 31 * 86_400_000);
  expect(await takeKpiSnapshot(ctx, slot)).toBe(true);
  expect(await takeKpiSnapshot(ctx, slot)).toBe(false);
  await db('cards').where({ name: 'g' }).update({ approval_status: 'APPROVED' });
  await storeInventory(t, { Application: { h: {}, i: {} } });
  const { body } = await viewer.get('/api/v1/reports/dashboard');
  expect(body.trends).toMatchObject({
    comparison_days: 31,
    snapshot_available: true,
    total_cards: { current: 8, previous: 6, delta_abs: 2, delta_pct: 33.3 },
    approved_count: { current: 2, previous: 1, delta_abs: 1, delta_pct: 100 },
    broken_count: { current: 1, previous: 1, delta_abs: 0, delta_pct: 0 },
  });
  const series = await viewer.get('/api/v1/reports/kpis');
  expect(series.body.items).toMatchObject([{ slot: slot.toISOString(), metrics: { total_cards: 6 } }]);
  expect((await viewer.get(`/api/v1/reports/kpis?to=${slot.toISOString()}`)).body.total).toBe(0);
});

it('shows whoever sees a few cards alone nothing of the others', async () => {
  const involved = await t.holding('reports.ea_dashboard', 'relations.view');
  const card = async (name: string) =>
    (await admin.post('/api/v1/cards', { type: 'Application', name })).body.id;
  const own = await card('Own');
  const unseen = await card('Not to be named');
  const role = { user_id: involved.userId, role: 'responsible' };
  await admin.create(`/api/v1/cards/${own}/stakeholders`, role);
  await admin.create('/api/v1/relations', { type: 'relAppSuccessor', source_id: own, target_id: unseen });
  const { body, text } = await involved.get('/api/v1/reports/dashboard');
  expect(body).toMatchObject({ total_cards: 1, trends: { snapshot_available: false } });
  const events: { card_id: string; event_type: string }[] = body.recent_events;
  expect(events.map(({ card_id }) => card_id)).toEqual(events.map(() => own));
  expect(events.map(({ event_type }) => event_type)).toContain('card.created');
  expect(text).not.toContain('Not to be named');
  for (const accept of ['application/json', 'text/csv', 'image/svg+xml'])
    await expectProblem(involved.get('/api/v1/reports/kpis', { accept }), 403, 'inventory.view');
});

it('is shown as it was, narrowed or not', async () => {
  const made: string[] = [];
  for (const name of ['kept', 'renamed', 'archived', 'described'])
    made.push((await member.card({ name, lifecycle: { active: day(-9) } })).id);
  const [, renamed, archived, described] = made;
  const shown = async (query: string) => {
    const { position: _, ...answer } = await ok(member.get(`/api/v1/reports/dashboard?${query}`));
    return answer;
  };
  const filters = ['', 'name != c', 'attributes.numberOfUsers is empty', 'tags is empty'].map((text) =>
    text === '' ? '' : `filter=${encodeURIComponent(text)}`,
  );
  const before = await Promise.all(filters.map(shown));
  const { rows } = await db.raw('select utc(max(at)) as at from events');
  const patches: [string, object][] = [
    [renamed!, { name: 'another', lifecycle: { active: day(-9), endOfLife: day(-1) } }],
    [described!, { description: 'Told now', attributes: { numberOfUsers: 7 } }],
  ];
  for (const [id, patch] of patches) await ok(member.patch(`/api/v1/cards/${id}`, patch));
  await ok(member.post(`/api/v1/cards/${archived}/archive`, {}));
  for (const [n, filter] of filters.entries()) {
    const as = `as_of=${rows[0].at}`;
    expect(await shown(filter), filter).not.toEqual(before[n]);
    expect(await shown(filter === '' ? as : `${filter}&${as}`), filter).toEqual(before[n]);
  }
});
