import { ok } from '../../support/harness.ts';
import { openSyncTest } from '../../support/itsm.ts';

const TABLE = 'cmdb_ci_server';

const { db, admin, instance, connect, storeMapping, runMapping, undoRun, insert } = await openSyncTest();
const mapping = await storeMapping({
  connectionId: await connect(),
  cardType: 'ITComponent',
  table: TABLE,
  rule: 'newest_wins',
});

const run = () => runMapping(mapping);
const undo = async (id: string) => {
  expect(await undoRun(id)).toMatchObject({ status: 'completed', stats: { errors: 0 } });
};

/** A pair, and the description on both sides. */
async function paired(name: string) {
  const remote = insert(TABLE, { name });
  await run();
  const { card_id } = await db('itsm_pairs').where({ remote_id: remote }).first('card_id');
  const held = async () => {
    const { description } = await db('cards').where({ id: card_id }).first('description');
    return [description, instance.store.rows.get(remote)!.values.short_description];
  };
  const change = (description: string) => ok(admin.patch(`/api/v1/cards/${card_id}`, { description }));
  return { remote, held, change };
}

/** Moves the time of the record's last change, which has a precision of one second. */
function age(remote: string, seconds: number): void {
  const { values } = instance.store.rows.get(remote)!;
  const at = Date.parse(`${values.sys_updated_on!.replace(' ', 'T')}Z`) + seconds * 1_000;
  values.sys_updated_on = new Date(at).toISOString().slice(0, 19).replace('T', ' ');
}

it('proposes the newer value of the remote again', async () => {
  const { remote, held, change } = await paired('Newer there');
  await change('older');
  instance.elsewhere.update(remote, { short_description: 'newer' });
  age(remote, 2);
  const { id } = await run();
  expect(await held()).toEqual(['newer', 'newer']);
  // the undo is later than the change of the record
  age(remote, -2);
  await undo(id);
  expect(await held()).toEqual(['older', 'newer']);
  age(remote, -60);
  await run();
  expect(await held()).toEqual(['newer', 'newer']);
  // a run has written the field since: times decide again
  await change('newest');
  instance.elsewhere.update(remote, { short_description: 'second' });
  age(remote, -30);
  await run();
  expect(await held()).toEqual(['newest', 'newest']);
});

it('proposes the newer value of the inventory again, and lets a later change win', async () => {
  const { remote, held, change } = await paired('Newer here');
  instance.elsewhere.update(remote, { short_description: 'older' });
  age(remote, -30);
  await change('newer');
  const { id } = await run();
  expect(await held()).toEqual(['newer', 'newer']);
  await undo(id);
  expect(await held()).toEqual(['newer', 'older']);
  age(remote, 5);
  const again = await run();
  expect(await held()).toEqual(['newer', 'newer']);
  await undo(again.id);
  instance.elsewhere.update(remote, { short_description: 'newest' });
  age(remote, 5);
  await run();
  expect(await held()).toEqual(['newest', 'newest']);
});
