import { formatTime } from '../../emulators/servicenow/store.ts';
import { pluck } from '../../support/harness.ts';
import { syncBase as base, openSyncTest } from '../../support/itsm.ts';

const TABLE = 'cmdb_ci_server';

const {
  db,
  admin,
  instance,
  connect,
  storeMapping,
  runMapping,
  undoRun,
  staged,
  questions,
  insert,
  recordOf,
} = await openSyncTest();
const connectionId = await connect();
const more = { max_deletion_ratio: 1, record_defaults: { os: 'By default' } };
const mapping = await storeMapping({ connectionId, cardType: 'ITComponent', table: TABLE, more });

const run = (query = '') => runMapping(mapping, 'run', query);
const cards = async (name: string): Promise<{ id: string; status: string }[]> =>
  await db('cards').where({ type: 'ITComponent', name }).select('id', 'status').orderBy('id');
const records = (name: string): string[] =>
  instance.store.of(TABLE).flatMap(({ values }) => (values.name === name ? [values.sys_id!] : []));
const add = (name: string): string => insert(TABLE, { name });

/** A record whose card was archived after it: removed, put into quarantine, and archived by the next run. */
async function archived(name: string): Promise<{ id: string; card: string }> {
  const id = add(name);
  await run();
  const [card] = await cards(name);
  instance.elsewhere.remove(id);
  await run();
  await run();
  expect(await cards(name)).toEqual([{ id: card!.id, status: 'ARCHIVED' }]);
  return { id, card: card!.id };
}

/** Restores a record under its own id, as the remote's administrators can. */
const comeBack = (id: string, name: string) => instance.store.insert(TABLE, { name }, 'admin', id);

/** Expects that the card is active and the record the only one of the name. */
const expectPaired = async (name: string, id: string, card: string) =>
  expect([await cards(name), records(name)]).toEqual([[{ id: card, status: 'ACTIVE' }], [id]]);

/** Has all tombstones lie further back than a reading reaches. */
const age = () => {
  for (const { values } of instance.store.of('sys_audit_delete'))
    values.sys_created_on = formatTime(instance.clock.now() - 180_000);
};

describe('a record that returns under its own key', () => {
  it.each([
    ['within a minute', () => {}],
    ['after two minutes', age],
  ])('%s gets its archived card back, with its relations', async (when, pass) => {
    const name = `Back ${when}`;
    const { id, card } = await archived(name);
    const other = await admin.card({ type: 'Application', name: `Uses ${name}` });
    await admin.post(`/api/v1/cards/${card}/restore`);
    const relation = { type: 'relAppToITC', source_id: other.id, target_id: card };
    await admin.create('/api/v1/relations', relation);
    await admin.post(`/api/v1/cards/${card}/archive`);
    comeBack(id, name);
    pass();
    const back = await run('?complete=false');
    expect(back).toMatchObject({ complete: false, stats: { planned: { restore: 1 }, errors: 0 } });
    expect(await cards(name)).toEqual([{ id: card, status: 'ACTIVE' }]);
    expect(await db('relations').where(relation)).toHaveLength(1);
    // both are synchronised again
    instance.elsewhere.update(id, { short_description: 'since then' });
    await run();
    expect(await db('cards').where({ id: card }).first()).toMatchObject({ description: 'since then' });
    expect(records(name)).toEqual([id]);
    expect(await run('?complete=true')).toMatchObject({ stats: { applied: {} } });
  });

  it('is paired with its card again if a user has restored the card', async () => {
    const { id, card } = await archived('Both back');
    comeBack(id, 'Both back');
    await admin.post(`/api/v1/cards/${card}/restore`);
    await run('?complete=false');
    await run('?complete=true');
    await expectPaired('Both back', id, card);
  });

  it('is paired with its card even if a delta does not contain it, since its time of change is unchanged', async () => {
    const { id, card } = await archived('Unchanged');
    comeBack(id, 'Unchanged').values.sys_updated_on = '2020-01-01 00:00:00';
    age();
    await admin.post(`/api/v1/cards/${card}/restore`);
    await run('?complete=false');
    await run('?complete=true');
    await expectPaired('Unchanged', id, card);
  });

  it('does not count as gone by the tombstone of its first deletion', async () => {
    const { id, card } = await archived('Old tombstone');
    comeBack(id, 'Old tombstone').values.sys_updated_on = '2020-01-01 00:00:00';
    await run('?complete=true');
    expect(await cards('Old tombstone')).toEqual([{ id: card, status: 'ACTIVE' }]);
    expect((await run('?complete=false')).stats.planned).toEqual({});
    expect(await run('?complete=false')).toMatchObject({ stats: { planned: {} } });
  });

  it('gets a card if it never had one', async () => {
    const id = add('Never seen');
    instance.elsewhere.remove(id);
    comeBack(id, 'Never seen');
    await run('?complete=false');
    expect(await cards('Never seen')).toHaveLength(1);
  });

  it('is archived again when the run is undone, and restored by the next run', async () => {
    const { id, card } = await archived('To and fro');
    comeBack(id, 'To and fro');
    await undoRun((await run('?complete=false')).id);
    expect(await cards('To and fro')).toEqual([{ id: card, status: 'ARCHIVED' }]);
    expect(await run('?complete=false')).toMatchObject({ stats: { planned: { restore: 1 } } });
    expect(await cards('To and fro')).toEqual([{ id: card, status: 'ACTIVE' }]);
  });
});

it('a card that a user restores while its record is gone gets one new record', async () => {
  const { id, card } = await archived('Only here');
  await admin.post(`/api/v1/cards/${card}/restore`);
  await run('?complete=false');
  await run('?complete=true');
  expect(records('Only here')).toHaveLength(1);
  expect(records('Only here')).not.toEqual([id]);
  expect(await cards('Only here')).toEqual([{ id: card, status: 'ACTIVE' }]);
});

it.each([
  ['its own key first', true],
  ['the other key first', false],
])('a record that comes back twice is a question, and no card is made (%s)', async (when, ownFirst) => {
  const name = `Twice, ${when}`;
  const { id, card } = await archived(name);
  if (ownFirst) comeBack(id, name);
  const double = add(name);
  if (!ownFirst) comeBack(id, name);
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
  expect(records(name).sort()).toEqual(both);
  const asked = (await questions(mapping)).filter(({ kind }) => kind === 'match');
  expect(pluck(asked, 'remote_id')).toEqual(expect.arrayContaining(both));
});

it('a record that matches a restored card and another one becomes a review item with both', async () => {
  const name = 'Two cards';
  const { card } = await archived(name);
  await admin.post(`/api/v1/cards/${card}/restore`);
  // of the same name below another card
  const parent = await admin.card({ type: 'ITComponent', name: 'Above' });
  const other = await admin.card({ type: 'ITComponent', name, parent_id: parent.id });
  const id = add(name);
  await run();
  expect((await cards(name)).map((one) => one.id).sort()).toEqual([card, other.id].sort());
  const asked = (await questions(mapping)).filter(({ remote_id }) => remote_id === id);
  expect(asked).toHaveLength(1);
  expect(pluck(asked[0].candidates, 'card_id').sort()).toEqual([card, other.id].sort());
});

describe('an undone deletion in the remote', () => {
  it('creates the record again with its values and relations, reports that, and is proposed again', async () => {
    const held = { serial_number: 'S-1', os: 'Linux', short_description: 'kept' };
    const kind = insert('cmdb_rel_type', { name: 'Runs on::Runs' });
    const id = insert(TABLE, { name: 'Deleted', ...held });
    const other = add('Other end');
    insert('cmdb_rel_ci', { type: kind, parent: other, child: id });
    await run();
    const [card] = await cards('Deleted');
    await admin.post(`/api/v1/cards/${card!.id}/archive`);
    await run();
    const deleting = await run();
    expect(records('Deleted')).toEqual([]);
    const undone = await undoRun(deleting.id);
    expect(undone).toMatchObject({ status: 'completed', stats: { errors: 0 } });
    const [back] = records('Deleted');
    expect(recordOf(back!)).toMatchObject(held);
    const related = instance.store.of('cmdb_rel_ci').map(({ values }) => [values.parent, values.child]);
    expect(related).toEqual([[other, back]]);
    expect(await staged(undone.id, '&action=create')).toMatchObject([
      { outcome: 'applied', note: expect.stringMatching(/^Created again .* 1 relation\.$/) },
    ]);
    const next = await run('?complete=false&auto_apply=false');
    expect(next).toMatchObject({ stats: { planned: { delete: 1 } } });
    await admin.post(`${base}/sync/runs/${next.id}/cancel`);
  });

  it('is refused if nothing was stored, and creates nothing', async () => {
    const id = add('Not kept');
    await run('?complete=false&auto_apply=true');
    const [card] = await cards('Not kept');
    await admin.post(`/api/v1/cards/${card!.id}/archive`);
    await run('?complete=false&auto_apply=true');
    const deleting = await run('?complete=false&auto_apply=true');
    expect(instance.store.rows.has(id)).toBe(false);
    await db('itsm_plan_rows').where({ run_id: deleting.id }).update({ removed: null });
    const refused = await staged((await undoRun(deleting.id)).id, '&action=create&status=error');
    expect(refused.at(-1)).toMatchObject({ outcome: 'refused' });
    expect(records('Not kept')).toEqual([]);
  });
});
