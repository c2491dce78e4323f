import { ok, openApp, pluck, type TestClient } from '../../support/harness.ts';
import { card, writesOf } from '../../support/writes.ts';

const { t, admin, viewer } = await openApp(['admin', 'viewer']);
const { appoint } = writesOf(t);

const mine = (client: TestClient, query = '') => ok(client.get(`/api/v1/events/my-cards?${query}`));

it('tells what happened to the cards on which one holds a role, at either end of their relations', async () => {
  const [app, other] = [await admin.card(), await admin.card()];
  const component = await admin.card({ type: 'ITComponent' });
  expect(await mine(viewer)).toEqual({ items: [], total: 0, page: 1, page_size: 50 });
  await appoint(app.id, viewer, 'responsible');
  await appoint(component.id, viewer, 'observer');
  await admin.patch(card(app.id), { alias: 'Followed', attributes: { costTotalAnnual: 5 } });
  await admin.patch(card(other.id), { alias: 'Not followed' });
  await admin.relate('relAppToITC', other.id, component.id);
  await admin.relate('relAppToITC', app.id, component.id);

  const { items, total } = await mine(viewer, 'page_size=200');
  expect(pluck(items, 'event_type', 'card_id')).toEqual([
    ['relation.created', app.id],
    ['relation.created', component.id],
    ['card.updated', app.id],
    ['card.created', component.id],
    ['card.created', app.id],
  ]);
  expect(total).toBe(5);
  expect(items[2]).toMatchObject({ card_name: app.name, user_display_name: 'admin' });
  // a role on the card shows its costs
  expect(items[2].data.changes).toHaveProperty(['attributes.costTotalAnnual']);
  await viewer.post(`/api/v1/favorites/${other.id}`);
  expect(pluck((await mine(viewer)).items, 'card_id')).toContain(other.id);
  await viewer.delete(`/api/v1/favorites/${other.id}`);
  const first = await mine(viewer, 'cursor=&page_size=2&fields=event_type');
  expect(first.items).toEqual([{ event_type: 'relation.created' }, { event_type: 'relation.created' }]);
  expect(
    (await mine(viewer, `cursor=${first.next_cursor}&page_size=2&fields=event_type`)).items,
  ).toHaveLength(2);
});

it('tells no more than may be read', async () => {
  const app = await admin.card();
  const component = await admin.card({ type: 'ITComponent' });
  const reader = await t.holding('inventory.view');
  const nobody = await t.holding();
  for (const client of [reader, nobody]) await appoint(app.id, client, 'observer');
  await admin.relate('relAppToITC', app.id, component.id);
  await admin.post(card(app.id, '/comments'), { content: 'Hush' });
  for (const client of [reader, nobody])
    expect(pluck((await mine(client)).items, 'event_type')).toEqual(['card.created']);
  await admin.post(card(app.id, '/archive'));
  await admin.delete(card(app.id));
  expect((await mine(reader)).total).toBe(0);
});
