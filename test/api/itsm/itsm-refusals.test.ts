import { ok, pluck } from '../../support/harness.ts';
import { syncBase as base, openSyncTest } from '../../support/itsm.ts';

const TABLE = 'cmdb_ci_server';
const TYPE = 'BusinessCapability';

const {
  t,
  admin,
  instance,
  connect,
  storeMapping,
  runMapping,
  applyPlan,
  staged,
  questions,
  insert,
  recordOf,
} = await openSyncTest();
instance.changeField(TABLE, { name: 'u_parent', label: 'Parent', type: 'reference', reference: TABLE });
const mapping = await storeMapping({
  connectionId: await connect(),
  cardType: TYPE,
  table: TABLE,
  more: { max_deletion_ratio: 1 },
  fields: [
    { card_field: 'name', remote_field: 'name', is_identity: true },
    { card_field: 'description', remote_field: 'short_description' },
    {
      card_field: 'parent_id',
      remote_field: 'u_parent',
      transform_type: 'reference',
      transform_config: { mapping_id: null },
    },
  ],
});

const run = (query = '?complete=false') => runMapping(mapping, 'run', query);
const add = (name: string): string => insert(TABLE, { name });
const pairedCard = async (remote_id: string) =>
  await t.services
    .db('itsm_pairs as p')
    .join('cards as c', 'c.id', 'p.card_id')
    .where({ 'p.mapping_id': mapping, 'p.remote_id': remote_id })
    .first('c.id', 'c.description', 'c.parent_id', 'c.status');
const answer = async (remote_id: string, winner: string) => {
  const one = (await questions(mapping)).find((question) => question.remote_id === remote_id)!;
  await ok(admin.post(`${base}/questions/${one.id}/answer`, { winner }), 204);
};

/** Records with cards. */
async function pairs(...names: string[]): Promise<string[]> {
  const ids = names.map(add);
  await run();
  return ids;
}

describe('a value that a side refuses', () => {
  it('becomes a review item with the reason, and the rest of the row is written', async () => {
    const [child, parent] = await pairs('Child', 'Parent');
    const { id } = await pairedCard(parent!);
    // the card is archived while the plan waits, so that the plan knows nothing of it
    instance.elsewhere.update(child!, { u_parent: parent!, short_description: 'told' });
    const planned = await run('?complete=false&auto_apply=false');
    await admin.post(`/api/v1/cards/${id}/archive`);
    expect(await applyPlan(planned.id)).toMatchObject({ status: 'completed' });
    expect(await pairedCard(child!)).toMatchObject({ description: 'told', parent_id: null });
    const open = { kind: 'conflict', remote_id: child, path: 'parent_id', remote: parent, local: null };
    expect(await questions(mapping)).toMatchObject([
      { ...open, reason: expect.stringContaining('archived') },
    ]);
    // it is not written in vain by each run
    expect(await run()).toMatchObject({ stats: { errors: 0 } });
    expect(await questions(mapping)).toMatchObject([open]);
    // when the cause is removed, the user's decision is written
    await admin.post(`/api/v1/cards/${id}/restore`);
    await answer(child!, 'remote');
    await run();
    expect(await pairedCard(child!)).toMatchObject({ parent_id: id });
    expect(await questions(mapping)).toEqual([]);
  });

  it('is tried again after a full read, and does not prevent a new card', async () => {
    const [parent] = await pairs('Archived later');
    const { id } = await pairedCard(parent!);
    const child = add('Made below');
    instance.elsewhere.update(child, { u_parent: parent!, short_description: 'new' });
    const planned = await run('?complete=false&auto_apply=false');
    await admin.post(`/api/v1/cards/${id}/archive`);
    expect(await applyPlan(planned.id)).toMatchObject({ status: 'completed' });
    expect(await pairedCard(child)).toMatchObject({ description: 'new', parent_id: null });
    await admin.post(`/api/v1/cards/${id}/restore`);
    await run('?complete=true');
    expect(await pairedCard(child)).toMatchObject({ parent_id: id });
    expect(await questions(mapping)).toEqual([]);
  });
});

describe('parents of both sides that would form a cycle', () => {
  it('are written to neither side, and a user decides', async () => {
    const [one, two] = await pairs('One', 'Two');
    const [here, there] = [await pairedCard(one!), await pairedCard(two!)];
    await admin.patch(`/api/v1/cards/${here.id}`, { parent_id: there.id, description: 'one' });
    instance.elsewhere.update(two!, { u_parent: one!, short_description: 'two' });
    expect(await run()).toMatchObject({ status: 'completed', stats: { errors: 0 } });
    expect([recordOf(one!).u_parent ?? '', recordOf(one!).short_description]).toEqual(['', 'one']);
    expect(await pairedCard(two!)).toMatchObject({ parent_id: null, description: 'two' });
    expect((await questions(mapping)).map(({ remote_id, path }) => [remote_id, path]).sort()).toEqual(
      [
        [one, 'parent_id'],
        [two, 'parent_id'],
      ].sort(),
    );
    await answer(two!, 'local');
    await run();
    await run();
    expect([recordOf(one!).u_parent, recordOf(two!).u_parent ?? '']).toEqual([two, '']);
    expect(await questions(mapping)).toEqual([]);
  });

  it('are no cycle if two cards change places', async () => {
    const [upper, lower] = await pairs('Upper', 'Lower');
    const [up, low] = [await pairedCard(upper!), await pairedCard(lower!)];
    await admin.patch(`/api/v1/cards/${low.id}`, { parent_id: up.id });
    await run();
    expect(recordOf(lower!).u_parent).toBe(upper);
    await admin.patch(`/api/v1/cards/${low.id}`, { parent_id: null });
    await admin.patch(`/api/v1/cards/${up.id}`, { parent_id: low.id });
    await run();
    await run();
    expect([recordOf(upper!).u_parent, recordOf(lower!).u_parent ?? '']).toEqual([lower, '']);
    expect(await questions(mapping)).toEqual([]);
  });
});

it('a reference to a record that is known to be gone is deferred', async () => {
  const [child, gone] = await pairs('Refers', 'Goes');
  const [referring, target] = [await pairedCard(child!), await pairedCard(gone!)];
  instance.elsewhere.remove(gone!);
  await admin.patch(`/api/v1/cards/${referring.id}`, { parent_id: target.id, description: 'pushed' });
  const first = await run();
  expect(recordOf(child!).u_parent ?? '').toBe('');
  expect(recordOf(child!).short_description).toBe('pushed');
  const reasons = pluck(await staged(first.id, '&action=skip'), 'reason');
  expect(reasons).toContainEqual(expect.stringContaining('parent_id'));
});

it('a card that the inventory refuses becomes a review item, and is not tried again by each run', async () => {
  const table = 'cmdb_ci_appl';
  const hosts = await storeMapping({
    connectionId: await connect(),
    cardType: 'Application',
    table,
    more: { max_deletion_ratio: 1 },
    fields: [
      { card_field: 'external_id', remote_field: 'short_description' },
      { card_field: 'name', remote_field: 'name', is_identity: true },
    ],
  });
  const add = (name: string, short_description: string) => insert(table, { name, short_description });
  const pull = (query = '?complete=false') => runMapping(hosts, 'run', query);
  const open = () => questions(hosts);
  add('Payroll', 'S-1');
  await pull();
  const double = add('Ledger of 2019', 'S-1');
  expect(await pull()).toMatchObject({ stats: { planned: { create: 1 }, errors: 1 } });
  const [asked] = await open();
  expect(asked).toMatchObject({
    kind: 'match',
    remote_id: double,
    record_name: 'Ledger of 2019',
    remote: { external_id: 'S-1' },
    reason: expect.stringContaining('No card can be created'),
  });
  expect(await pull()).toMatchObject({ stats: { planned: { stage: 1 }, already_open: 1, errors: 0 } });
  expect(await open()).toMatchObject([{ id: asked.id, reason: asked.reason }]);
  // a complete reading tries again, as an answer does
  expect(await pull('?complete=true')).toMatchObject({ stats: { planned: { create: 1 }, errors: 1 } });
  const [{ id }] = await open();
  await ok(admin.post(`${base}/questions/${id}/answer`, { card_id: null }), 204);
  expect(await pull()).toMatchObject({ stats: { planned: { create: 1 }, errors: 1 } });
  // once the record has another number it gets its card
  instance.elsewhere.update(double, { short_description: 'S-2' });
  expect(await pull()).toMatchObject({ stats: { created: 1, errors: 0 } });
  expect(await open()).toEqual([]);
});
