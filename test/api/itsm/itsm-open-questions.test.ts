import { expect, it } from 'vitest';
import { openSyncTest } from '../../support/itsm.ts';

const TABLE = 'cmdb_ci_server';

const { db, admin, instance, connect, storeMapping, runMapping, staged, questions } = await openSyncTest();
const connectionId = await connect();
const mapping = await storeMapping({ connectionId, cardType: 'ITComponent', table: TABLE });

const run = () => runMapping(mapping, 'run', '?complete=true');
const conflicts = (runId: string, more = '') => staged(runId, `&action=conflict${more}`);

/** A server of which both sides have changed the description. */
async function dispute(name: string): Promise<string> {
  const id = instance.elsewhere.insert(TABLE, { name, short_description: 'first' }).values.sys_id!;
  await run();
  const card = await db('cards').where({ name }).first('id');
  await admin.patch(`/api/v1/cards/${card.id}`, { description: 'here' });
  instance.elsewhere.update(id, { short_description: 'there' });
  return id;
}

it('a plan distinguishes review items that were open before from new ones', async () => {
  const first = await dispute('Disputed first');
  const one = await run();
  expect(one.stats.already_open).toBe(0);
  expect(await conflicts(one.id)).toMatchObject([{ remote_id: first, open_since: null }]);
  const [asked] = await questions(mapping);

  const second = await dispute('Disputed second');
  const two = await run();
  expect(two.stats).toMatchObject({ already_open: 1, planned: { conflict: 2 } });
  expect(await conflicts(two.id, '&already_open=false')).toMatchObject([
    { remote_id: second, open_since: null },
  ]);
  expect(await conflicts(two.id, '&already_open=true')).toMatchObject([
    { remote_id: first, open_since: asked.opened_at },
  ]);
  expect(await conflicts(two.id)).toHaveLength(2);

  // a question about other values is a new one
  instance.elsewhere.update(first, { short_description: 'there, and changed again' });
  const three = await run();
  expect(three.stats.already_open).toBe(1);
  expect(await conflicts(three.id, '&already_open=false')).toMatchObject([{ remote_id: first }]);
});
