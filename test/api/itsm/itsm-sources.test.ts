import { ok } from '../../support/harness.ts';
import { openSyncTest } from '../../support/itsm.ts';

const TABLE = 'cmdb_ci_business_app';

const { admin, db, instance, connect, storeMapping, runMapping } = await openSyncTest();

test('fields of a card name the connection that synchronises them, which side wins, and when it last wrote', async () => {
  const connectionId = await connect();
  const { name } = await db('itsm_connections').where({ id: connectionId }).first('name');
  instance.elsewhere.insert(TABLE, { name: 'Harbour', short_description: 'Said outside' });
  const mapping = await storeMapping({ connectionId, direction: 'pull', rule: 'remote_leads' });
  const other = await admin.card({ name: 'Not synchronised' });
  await runMapping(mapping);
  const { card_id: card } = await db('itsm_pairs').where({ mapping_id: mapping, origin: 'pulled' }).first();
  const sourcesOf = async (id: string) => (await ok(admin.get(`/api/v1/cards/${id}/sources`))).items;
  const field = { source: name, direction: 'remote_leads', written_at: expect.stringMatching(/Z$/) };
  expect(await sourcesOf(card)).toEqual([
    { ...field, field: 'description' },
    { ...field, field: 'name' },
  ]);
  expect(await sourcesOf(other.id)).toEqual([]);
  // a mapping that is paused synchronises nothing
  await db('itsm_mappings').where({ id: mapping }).update({ is_active: false });
  expect(await sourcesOf(card)).toEqual([]);
});
