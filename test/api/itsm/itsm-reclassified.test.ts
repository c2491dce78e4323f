import { ok } from '../../support/harness.ts';
import { syncBase as base, openSyncTest } from '../../support/itsm.ts';

const TABLE = 'cmdb_ci_server';
const OTHER = 'cmdb_ci_business_app';

const { db, admin, instance, connect, storeMapping, runMapping, staged, questions } = await openSyncTest();
const connectionId = await connect();
const mapping = await storeMapping({
  connectionId,
  cardType: 'ITComponent',
  table: TABLE,
  more: { max_deletion_ratio: 1 },
});

const run = (complete = true) => runMapping(mapping, 'run', `?complete=${complete}`);
const statusOf = async (name: string): Promise<string> =>
  (await db('cards').where({ name }).first('status')).status;

/** Changes the class of a record, as an administrator would; its key remains. */
function reclassify(id: string, table: string): void {
  instance.store.reclassify(instance.store.rows.get(id)!, table, 'abel.tuter');
}

async function pulled(name: string, more: Record<string, string> = {}): Promise<string> {
  const id = instance.elsewhere.insert(TABLE, { name, ...more }).values.sys_id!;
  await run();
  return id;
}

it('a record that was reclassified out of its table becomes a review item, and its card remains until it is decided', async () => {
  const id = await pulled('Reclassified');
  reclassify(id, OTHER);
  for (const complete of [true, false, true])
    expect((await run(complete)).stats.planned).toEqual({ conflict: 1 });
  expect(await statusOf('Reclassified')).toBe('ACTIVE');
  const [question] = await questions(mapping);
  expect(question).toMatchObject({ remote_id: id, kind: 'conflict', path: null, remote: OTHER });
  expect(question.reason).toContain(`reclassified to ${OTHER}`);

  await ok(admin.post(`${base}/questions/${question.id}/answer`, { winner: 'remote' }), 204);
  await run(false);
  await run(false);
  expect(await statusOf('Reclassified')).toBe('ARCHIVED');
  expect(await questions(mapping)).toEqual([]);
});

it('the card is retained if a user decides so, and is linked again when the record returns to its table', async () => {
  const id = await pulled('Kept');
  reclassify(id, OTHER);
  await run();
  const [question] = await questions(mapping);
  await admin.post(`${base}/questions/${question.id}/answer`, { winner: 'local' });
  for (const complete of [false, true]) await run(complete);
  expect(await statusOf('Kept')).toBe('ACTIVE');
  expect(await questions(mapping)).toEqual([]);
  expect(instance.store.of(TABLE).filter(({ values }) => values.name === 'Kept')).toEqual([]);

  reclassify(id, TABLE);
  await run();
  const pair = (await admin.get(`${base}/mappings/${mapping}/pairs?remote_id=${id}`)).body.items[0];
  expect(pair).toMatchObject({ state: 'linked' });
});

it('the review item is closed when the record returns to its table', async () => {
  const id = await pulled('Returned');
  reclassify(id, OTHER);
  await run();
  expect(await questions(mapping)).toHaveLength(1);
  reclassify(id, TABLE);
  await run();
  expect(await questions(mapping)).toEqual([]);
  expect(await statusOf('Returned')).toBe('ACTIVE');
});

const conflicts = (runId: string, more = '') => staged(runId, `&action=conflict${more}`);

/** A server of which both sides have changed the description. */
async function dispute(name: string): Promise<string> {
  const id = await pulled(name, { short_description: 'first' });
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
