import { randomUUID } from 'node:crypto';
import { populate } from '../../emulators/servicenow/landscape.ts';
import { expectProblem } from '../../support/harness.ts';
import { openSyncTest, storeRun, syncBase } from '../../support/itsm.ts';

const table = 'cmdb_ci_business_app';

const { t, db, admin, instance, connect, storeMapping, runMapping } = await openSyncTest();
populate(instance, { items: { [table]: 12 }, relations: 0 });
const mapping = await storeMapping({
  connectionId: await connect(),
  more: { max_deletions: 2, max_deletion_ratio: 1, quarantine_minutes: 60 },
});
await runMapping(mapping);

const url = () => `${syncBase}/mappings/${mapping}`;
const pairs = async (query = ''): Promise<{ remote_id: string; card_id: string; state: string }[]> =>
  (await admin.get(`${url()}/pairs?page_size=200${query}`)).body.items;

/** Gives every record another key, as on a cloned instance. */
function cloneInstance(): void {
  const { store } = instance;
  for (const { values } of [...store.of(table)]) {
    store.remove(store.rows.get(values.sys_id!)!, 'system');
    const { name, short_description } = values;
    store.insert(table, { name: name!, short_description: short_description! }, 'system');
  }
  for (const row of [...store.of('sys_audit_delete')]) store.remove(row, 'system');
}

it('pairs and review items can be filtered by the key of the record', async () => {
  const [one] = await pairs();
  expect(await pairs(`&remote_id=${one!.remote_id}`)).toEqual([one]);
  expect(await pairs('&remote_id=none')).toEqual([]);
  expect((await admin.get(`${syncBase}/questions?remote_id=none`)).body.items).toEqual([]);
});

it('pairs the cards of gone records with the records of the same identity, all together', async () => {
  const before = await pairs();
  cloneInstance();
  // two records claim one card: a user decides
  const [double] = instance.store.of(table);
  instance.store.insert(table, { name: double!.values.name! }, 'system');
  const stopped = await runMapping(mapping, 'run', '?complete=true');
  expect([stopped.status, stopped.stats.planned]).toEqual(['review', { quarantine: 12, stage: 13 }]);
  expect(stopped.stats.skipped).toBe(13);

  const tried = await admin.post(`${url()}/relink?dry_run=true`);
  expect([tried.status, tried.body]).toEqual([200, { relinked: 11, still_open: 2 }]);
  expect(await pairs()).toEqual(before);
  expect((await admin.post(`${url()}/relink`)).body).toEqual({ relinked: 11, still_open: 2 });
  expect((await admin.post(`${url()}/relink`)).body).toEqual({ relinked: 0, still_open: 2 });

  const run = await runMapping(mapping);
  expect(run.stats.applied).toEqual({ link: 11, quarantine: 1 });
  expect(run.stats.skipped).toBe(run.stats.outcomes.skipped);
  const now = new Map((await pairs('&state=linked')).map(({ card_id, remote_id }) => [card_id, remote_id]));
  const names = new Map(instance.store.of(table).map(({ values }) => [values.sys_id!, values.name]));
  const cards = await t.services
    .db('cards')
    .whereIn('id', [...now.keys()])
    .select('id', 'name');
  expect(cards).toHaveLength(11);
  for (const { id, name } of cards) expect(names.get(now.get(id)!)).toBe(name);
  expect(instance.writes.filter(({ kind }) => kind === 'insert')).toEqual([]);
  const rest = await runMapping(mapping, 'run', '?complete=true');
  expect([rest.stats.planned, rest.stats.skipped]).toEqual([{ skip: 1, stage: 2 }, 3]);
  expect(rest.stats.outcomes).toEqual({ skipped: 3 });
});

it('is refused while a run is active, and for unknown mappings', async () => {
  const id = await storeRun(db, mapping, { status: 'running' });
  const refused = await admin.post(`${url()}/relink`);
  expect([refused.status, refused.body.run_id]).toEqual([409, id]);
  await db('itsm_runs').where({ id }).delete();
  await expectProblem(admin.post(`${syncBase}/mappings/${randomUUID()}/relink`), 404);
});
