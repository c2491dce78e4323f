import { expect, it } from 'vitest';
import { pluck } from '../../support/harness.ts';
import { openSyncTest } from '../../support/itsm.ts';

const TABLE = 'cmdb_ci_server';

const { db, admin, instance, connect, storeMapping, runMapping, questions, insert } = await openSyncTest();
const connectionId = await connect();
const more = { max_deletion_ratio: 1 };
const mapping = await storeMapping({ connectionId, cardType: 'ITComponent', table: TABLE, more });

const run = (query = '?complete=false') => runMapping(mapping, 'run', query);
const cards = async (name: string): Promise<{ id: string; status: string }[]> =>
  await db('cards').where({ type: 'ITComponent', name }).select('id', 'status').orderBy('id');
const add = (name: string, id?: string): string => insert(TABLE, { name }, id);

/** A card that was archived since its record was deleted. */
async function archived(name: string): Promise<{ id: string; card: string }> {
  const id = add(name);
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
  if (ownFirst) add(name, id);
  const double = add(name);
  if (!ownFirst) add(name, id);
  for (const query of ['?complete=false', '?complete=true', '?complete=false']) await run(query);
  expect(await cards(name)).toEqual([{ id: card, status: 'ACTIVE' }]);
  const asked = (await questions(mapping)).filter(({ remote_id }) => remote_id === double);
  expect(asked).toMatchObject([{ kind: 'match', remote_id: double }]);
});

it('a restored card with two records under new keys becomes a review item with both', async () => {
  const name = 'Two others';
  const { card } = await archived(name);
  await admin.post(`/api/v1/cards/${card}/restore`);
  const both = [add(name), add(name)].sort();
  for (const query of ['?complete=false', '?complete=true']) await run(query);
  expect(await cards(name)).toEqual([{ id: card, status: 'ACTIVE' }]);
  const names = instance.store.of(TABLE).filter(({ values }) => values.name === name);
  expect(names.map(({ values }) => values.sys_id).sort()).toEqual(both);
  const asked = (await questions(mapping)).filter(({ kind }) => kind === 'match');
  expect(pluck(asked, 'remote_id')).toEqual(expect.arrayContaining(both));
});

it('a record that matches a restored card and another one becomes a review item with both', async () => {
  const name = 'Two cards';
  const { card } = await archived(name);
  await admin.post(`/api/v1/cards/${card}/restore`);
  // of the same name below another card
  const parent = await admin.card({ type: 'ITComponent', name: 'Above' });
  const input = { type: 'ITComponent', name, parent_id: parent.id };
  const other = await admin.card(input);
  const id = add(name);
  await run();
  expect((await cards(name)).map((one) => one.id).sort()).toEqual([card, other.id].sort());
  const asked = (await questions(mapping)).filter(({ remote_id }) => remote_id === id);
  expect(asked).toHaveLength(1);
  const candidates = pluck(asked[0].candidates, 'card_id');
  expect(candidates.sort()).toEqual([card, other.id].sort());
});
