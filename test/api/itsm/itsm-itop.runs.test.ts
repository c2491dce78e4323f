import { serverCertificate } from '../../emulators/certificates.ts';
import { populate } from '../../emulators/itop/landscape.ts';
import { startItop } from '../../emulators/itop/server.ts';
import { closeAfterAll, pluck } from '../../support/harness.ts';
import { itopAccess, openSyncService, syncBase } from '../../support/itsm.ts';

const { db, admin, connectKind, map, runMapping, questions, pairs } = await openSyncService();
const instance = closeAfterAll(
  await startItop({
    tls: serverCertificate,
    // what stock profiles allow, without that of docs/integrations/itop/history-reader.delta.xml
    accounts: [
      { login: 'estate' },
      { login: 'stock', denied: new Set(['read CMDBChangeOp', 'read CMDBChangeOpDelete']) },
    ],
  }),
);
const { servers } = populate(instance, { servers: 4, applications: 3 });

/** A mapping of servers, through an account, with a time zone. */
async function mapServers(username: string, time_zone: string, more: object = {}) {
  const connection_id = await connectKind('itop', instance.base, { ...itopAccess, username, time_zone });
  const fields = [{ card_field: 'description', remote_field: 'description' }];
  const mapping = await map(connection_id, 'ITComponent', 'Server', { fields, ...more });
  const test = async () => (await admin.post(`${syncBase}/connections/${connection_id}/test`)).body;
  return { mapping, test };
}

it('previews records of a class whose first keys belong to objects of other classes', async () => {
  const of = { card_type_key: 'Application', remote_table: 'ApplicationSolution' };
  const { mapping } = await mapServers('estate', 'Europe/Paris', of);
  const { body } = await admin.post(`${syncBase}/mappings/${mapping}/preview?limit=2`);
  expect(body.records.map((record: { remote_id: string }) => record.remote_id)).toHaveLength(2);
});

const warnings = async (run: string): Promise<string> => {
  const { body } = await admin.get(`${syncBase}/sync/runs/${run}/log?page_size=200`);
  const told = body.items.filter(({ level }: { level: string }) => level === 'warning');
  return pluck(told, 'message').join('\n');
};
const described = async (name: unknown) =>
  (await db('cards').where({ type: 'ITComponent', name }).first('description')).description;

it('uses the zone in which iTop writes, regardless of its database, and misses no change', async () => {
  const { mapping, test } = await mapServers('estate', 'Europe/Paris');
  const history = (body: { rights: { table: string; granted: boolean | null; how: string }[] }) =>
    body.rights.find(({ table }) => table === 'CMDBChangeOp')!;
  const right = await test();
  expect([right.success, history(right).granted]).toEqual([true, true]);
  await runMapping(mapping, 'pull');
  instance.elsewhere.update(servers[0]!, { description: 'in Paris' });
  const run = await runMapping(mapping, 'pull');
  expect([run.complete, run.stats.updated, await warnings(run.id)]).toEqual([false, 1, '']);
  // that of the database is ahead of what iTop writes
  const wrong = await (await mapServers('estate', 'UTC')).test();
  expect([wrong.success, history(wrong).granted]).toEqual([false, false]);
  for (const text of [wrong.message, history(wrong).how]) expect(text).toContain('correct time_zone');
});

it('misses no change with a zone in which the history lags behind, and reports the lag', async () => {
  const { mapping, test } = await mapServers('estate', 'Asia/Tokyo');
  const found = await test();
  const { granted, how } = found.rights.find(({ table }: { table: string }) => table === 'CMDBChangeOp');
  expect([found.success, granted, how]).toEqual([true, null, expect.stringContaining('time_zone')]);
  await runMapping(mapping, 'pull');
  instance.elsewhere.update(servers[1]!, { description: 'in Tokyo' });
  const run = await runMapping(mapping, 'pull');
  expect([run.complete, run.stats.updated]).toEqual([false, 1]);
  expect(await described(servers[1]!.values.name)).toBe('in Tokyo');
  expect(await warnings(run.id)).toContain('1 change with an earlier time was missing in the last read');
});

it('reads everything if the account may not read the history, and reports the consequences', async () => {
  const { mapping, test } = await mapServers('stock', 'Europe/Paris', {
    sync_direction: 'bidirectional',
    record_defaults: { org_id: 'Demo' },
  });
  const found = await test();
  expect([found.success, found.message]).toEqual([true, expect.stringContaining('read CMDBChangeOp')]);
  await runMapping(mapping);
  instance.elsewhere.update(servers[2]!, { description: 'untold' });
  instance.elsewhere.remove(servers[3]!);
  const card = await admin.card({ type: 'ITComponent', name: 'Made here' });
  const run = await runMapping(mapping);
  expect(run).toMatchObject({ status: 'completed', complete: true, stats: { errors: 0 } });
  expect(await warnings(run.id)).toContain('each run reads everything');
  expect(await described(servers[2]!.values.name)).toBe('untold');
  const paired = await pairs(mapping);
  expect(pluck(paired, 'card_id')).toContain(card.id);
  // only the history says that an object is gone, and not hidden from the account
  expect(paired.find(({ remote_id }) => remote_id === `Server::${servers[3]!.id}`).state).toBe('linked');
});

it('sends a refused new object again only when its card has changed or everything is read', async () => {
  const { mapping } = await mapServers('estate', 'Europe/Paris', { sync_direction: 'bidirectional' });
  const card = await admin.card({ type: 'ITComponent', name: 'Without organisation' });
  const run = async (complete: boolean) => (await runMapping(mapping, 'run', `?complete=${complete}`)).stats;
  await run(true);
  const asked = await questions(mapping);
  const open = asked.length;
  expect(pluck(asked, 'card_id')).toContain(card.id);
  expect(await run(false)).toMatchObject({ planned: { stage: open }, already_open: open, errors: 0 });
  instance.elsewhere.update(servers[0]!, { description: 'changed meanwhile' });
  const planned = { stage: open, update: 1 };
  expect(await run(false)).toMatchObject({ planned, already_open: open, errors: 0 });
  expect(pluck(await questions(mapping), 'id', 'record_name')).toEqual(pluck(asked, 'id', 'record_name'));
  await admin.patch(`/api/v1/cards/${card.id}`, { description: 'still none' });
  expect(await run(false)).toMatchObject({ planned: { create: 1 }, errors: 1 });
  expect(await run(true)).toMatchObject({ planned: { create: open }, errors: open });
  await admin.post(`/api/v1/cards/${card.id}/archive`);
});

it('waits for the database of iTop, and resumes', async () => {
  const { mapping } = await mapServers('estate', 'Europe/Paris');
  instance.faults.arm({ fault: 'database_error', nth: 2, times: 2 });
  expect((await runMapping(mapping, 'pull')).status).toBe('completed');
  expect(instance.faults.fired.get('database_error')).toBe(2);
});
