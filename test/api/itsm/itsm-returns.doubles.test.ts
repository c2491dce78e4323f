import { afterAll, expect, it } from 'vitest';
import { pluck } from '../../support/harness.ts';
import { syncBase as base, connectTo, openSyncTest, runMapping, storeMapping } from '../../support/itsm.ts';

const TABLE = 'cmdb_ci_server';

const { t, admin, instance, close } = await openSyncTest();
const connectionId = await connectTo(admin, instance);
const more = { max_deletion_ratio: 1 };
const mapping = await storeMapping(t, { connectionId, cardType: 'ITComponent', table: TABLE, more });

afterAll(() => close());

const run = (query = '?complete=false') => runMapping(t, admin, mapping, 'run', query);
const cards = async (name: string): Promise<{ id: string; status: string }[]> =>
  await t.services.db('cards').where({ type: 'ITComponent', name }).select('id', 'status').orderBy('id');
const insert = (name: string, id?: string): string =>
  instance.store.insert(TABLE, { name }, 'admin', id).values.sys_id!;
const questions = async () => (await admin.get(`${base}/questions?mapping_id=${mapping}`)).body.items;

/** A card that was archived since its record was deleted. */
async function archived(name: string): Promise<{ id: string; card: string }> {
  const id = insert(name);
  await run();
  instance.elsewhere.remove(id);
  await run();
  await run();
  const [card] = await cards(name);
  expect(card).toMatchObject({ status: 'ARCHIVED' });
  return { id, card: card!.id };
}

it.each([
  ['its own key first', true],
  ['the other key first', false],
])('a record that comes back twice is a question, and no card is made (%s)', async (when, ownFirst) => {
  const name = `Back ${when}`;
  const { id, card } = await archived(name);
  if (ownFirst) insert(name, id);
  const double = insert(name);
  if (!ownFirst) insert(name, id);
  for (const query of ['?complete=false', '?complete=true', '?complete=false']) await run(query);
  expect(await cards(name)).toEqual([{ id: card, status: 'ACTIVE' }]);
  const asked = (await questions()).filter(({ remote_id }: { remote_id: string }) => remote_id === double);
  expect(asked).toMatchObject([{ kind: 'match', remote_id: double }]);
});

it('a restored card with two records under new keys becomes a review item with both', async () => {
  const name = 'Two others';
  const { card } = await archived(name);
  await admin.post(`/api/v1/cards/${card}/restore`);
  const both = [insert(name), insert(name)].sort();
  for (const query of ['?complete=false', '?complete=true']) await run(query);
  expect(await cards(name)).toEqual([{ id: card, status: 'ACTIVE' }]);
  const names = instance.store.of(TABLE).filter(({ values }) => values.name === name);
  expect(names.map(({ values }) => values.sys_id).sort()).toEqual(both);
  const asked = (await questions()).filter(({ kind }: { kind: string }) => kind === 'match');
  expect(pluck(asked, 'remote_id')).toEqual(expect.arrayContaining(both));
});

it('a record that matches a restored card and another one becomes a review item with both', async () => {
  const name = 'Two cards';
  const { card } = await archived(name);
  await admin.post(`/api/v1/cards/${card}/restore`);
  // of the same name below another card
  const parent = await admin.post('/api/v1/cards', { type: 'ITComponent', name: 'Above' });
  const input = { type: 'ITComponent', name, parent_id: parent.body.id };
  const { body: other } = await admin.post('/api/v1/cards', input);
  const id = insert(name);
  await run();
  expect((await cards(name)).map((one) => one.id).sort()).toEqual([card, other.id].sort());
  const asked = (await questions()).filter(({ remote_id }: { remote_id: string }) => remote_id === id);
  expect(asked).toHaveLength(1);
  const candidates = pluck(asked[0].candidates, 'card_id');
  expect(candidates.sort()).toEqual([card, other.id].sort());
});
