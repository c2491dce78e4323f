import { serverCertificate } from '../../emulators/certificates.ts';
import { startLists } from '../../emulators/http-lists.ts';
import { populate as populateItop } from '../../emulators/itop/landscape.ts';
import { startItop } from '../../emulators/itop/server.ts';
import { populate as populateNetBox } from '../../emulators/netbox/landscape.ts';
import { startNetBox } from '../../emulators/netbox/server.ts';
import { closeAfterAll, expectProblem } from '../../support/harness.ts';
import { itopAccess, openSyncService, syncBase } from '../../support/itsm.ts';

const { db, admin, connectKind, map, validate, runMapping, undoRun, pairs } = await openSyncService();
const itop = closeAfterAll(await startItop({ tls: serverCertificate }));
const netbox = closeAfterAll(await startNetBox({ tls: serverCertificate }));
const lists = closeAfterAll(await startLists({ tls: serverCertificate }));

const readCard = async (id: string) => (await admin.get(`/api/v1/cards/${id}`)).body;

it('synchronises iTop in both directions, with relations', async () => {
  const { servers } = populateItop(itop, { servers: 6, applications: 3 });
  const connection_id = await connectKind('itop', itop.base, itopAccess);
  const hosts = await map(connection_id, 'ITComponent', 'Server', {
    sync_direction: 'bidirectional',
    record_defaults: { org_id: 'Demo' },
    fields: [{ card_field: 'description', remote_field: 'description' }],
  });
  const kinds = await admin.get(`${syncBase}/connections/${connection_id}/relation-types?page_size=200`);
  const link = kinds.body.items.find(({ id }: { id: string }) =>
    id.startsWith('lnkApplicationSolutionToFunctionalCI'),
  );
  const applications = await map(connection_id, 'Application', 'ApplicationSolution', {
    sync_direction: 'pull',
    relation_mappings: [{ relation_type_key: 'relAppToITC', remote_type: link.id, target_mapping_id: hosts }],
  });
  expect(await validate(hosts)).toEqual([]);
  expect(await validate(applications)).toEqual([]);
  expect(await runMapping(hosts)).toMatchObject({ status: 'completed', stats: { created: 6, errors: 0 } });
  const related = await runMapping(applications, 'pull');
  expect(related.stats).toMatchObject({ planned: { create: 3, relate: 3 }, errors: 0 });

  const [mine, theirs] = await pairs(hosts);
  await admin.patch(`/api/v1/cards/${mine.card_id}`, { description: 'changed here' });
  const outside = servers.find(({ id }) => theirs.remote_id === `Server::${id}`)!;
  itop.elsewhere.update(outside, { description: 'changed there' });
  await admin.card({ type: 'ITComponent', name: 'Made here' });
  expect((await runMapping(hosts)).stats).toMatchObject({ created: 1, updated: 2, errors: 0 });
  expect((await readCard(theirs.card_id)).description).toBe('changed there');
  expect(itop.writes.length).toBeGreaterThanOrEqual(2);
  expect((await runMapping(hosts)).stats.planned).toEqual({});

  // an object that appears while the run is under way is found by its reconciliation keys, and stays one that was not made here
  const way = { new_records: { through: 'reconciliation', keys: { Server: ['name', 'org_id'] } } };
  const patched = await admin.patch(`${syncBase}/connections/${connection_id}`, way);
  expect([patched.status, patched.body.new_records]).toEqual([200, way.new_records]);
  const named = () => itop.store.of('Server').filter(({ values }) => values.name === 'Reading room');
  itop.watch = ({ operation, key }) => {
    if (operation === 'core/get' && String(key).includes("name = 'Reading room'") && named().length === 0)
      itop.elsewhere.insert('Server', { name: 'Reading room', org_id: servers[0]!.values.org_id! });
  };
  await admin.card({ type: 'ITComponent', name: 'Reading room' });
  const run = await runMapping(hosts);
  itop.watch = undefined;
  expect(run.stats).toMatchObject({ created: 1, errors: 0 });
  await undoRun(run.id);
  expect(named()).toHaveLength(1);
});

it('synchronises NetBox in both directions', async () => {
  populateNetBox(netbox, 5);
  const connection_id = await connectKind('netbox', netbox.base, { token: 'nbt_estate.secret' });
  const devices = await map(connection_id, 'ITComponent', 'dcim/devices', {
    sync_direction: 'bidirectional',
    card_filter: 'name ~ "host"',
    fields: [
      { card_field: 'description', remote_field: 'serial' },
      { card_field: 'alias', remote_field: 'custom_fields.owner' },
    ],
  });
  // a column that is not shown any more while a run is about to read empties nothing
  expect((await runMapping(devices)).stats).toMatchObject({ created: 5, errors: 0 });
  const aliases = async () =>
    (await db('cards').where({ type: 'ITComponent', alias: 'ops' }).count())[0]!.count;
  const known = await aliases();
  const shown = netbox.store.rows('dcim/devices').map((row) => [row, row.custom_fields] as const);
  for (const [row] of shown) row.custom_fields = {};
  const hidden = await runMapping(devices, 'run', '?complete=true');
  expect(hidden.stats).toMatchObject({ planned: {}, errors: 0 });
  expect([Number(known) > 0, await aliases()]).toEqual([true, known]);
  for (const [row, custom] of shown) row.custom_fields = custom;
  expect(await validate(devices)).toEqual([]);
  const [mine, theirs] = await pairs(devices);
  await admin.patch(`/api/v1/cards/${mine.card_id}`, { description: 'changed here' });
  const number = (id: string) => Number(id.split('/').at(-1));
  netbox.store.update('dcim/devices', number(theirs.remote_id), { serial: 'changed there' });
  expect((await runMapping(devices)).stats).toMatchObject({ updated: 2, errors: 0 });
  const row = netbox.store.rows('dcim/devices').find(({ id }) => id === number(mine.remote_id))!;
  expect(row.serial).toBe('changed here');
  expect((await readCard(theirs.card_id)).description).toBe('changed there');
  expect((await runMapping(devices)).stats.planned).toEqual({});
});

it('archives the cards of rows that are missing in a file, after full reads and within the deletion limit', async () => {
  const rows = Array.from({ length: 20 }, (_, at) => `R${at},Rack ${at}\n`);
  const serve = (kept: string[]) => {
    lists.places.set('/racks/racks.csv', { body: `code,name\n${kept.join('')}` });
  };
  serve(rows);
  const source = { name: 'racks', path: 'racks.csv', format: 'csv', key: 'code' };
  const connection_id = await connectKind('http', `${lists.base}/racks`, { sources: [source] });
  const racks = await map(connection_id, 'ITComponent', 'racks', {
    sync_direction: 'pull',
    sync_mode: 'conservative',
    complete_reads: 2,
    max_deletion_ratio: 0.2,
    fields: [{ card_field: 'external_id', remote_field: 'code' }],
  });
  const pull = async () => {
    const { status, stats } = await runMapping(racks, 'pull', '?complete=true');
    return [status, stats.planned];
  };
  const left = async () =>
    (await db('cards').where({ type: 'ITComponent', status: 'ACTIVE' }).pluck('external_id'))
      .filter((id: string | null) => id?.startsWith('R'))
      .sort();
  expect(await pull()).toEqual(['completed', { create: 20 }]);
  serve(rows.slice(2));
  expect(await pull()).toEqual(['completed', { skip: 2 }]);
  expect(await pull()).toEqual(['completed', { quarantine: 2 }]);
  expect(await left()).toHaveLength(20);
  expect(await pull()).toEqual(['completed', { delete: 2 }]);
  const kept = rows.slice(2).map((row) => row.split(',')[0]!);
  expect(await left()).toEqual(kept.sort());

  // one returns before the quarantine ends; more removals than the limit need a user's approval
  serve(rows.slice(10));
  expect(await pull()).toEqual(['completed', { skip: 8 }]);
  serve(rows.slice(9));
  const stopped = await runMapping(racks, 'pull', '?complete=true');
  expect(stopped).toMatchObject({ status: 'review', stats: { planned: { quarantine: 7 } } });
  expect(stopped.stopped).not.toBeNull();
  expect(await left()).toEqual(kept);
});

it('pulls HTTP lists with their references', async () => {
  lists.places.set('/x/apps.csv', { body: 'code,name,part_of\nA1,Payroll,\nA2,=SUM(1),A1\n' });
  const source = { name: 'apps', path: 'apps.csv', format: 'csv', key: 'code' };
  const connection_id = await connectKind('http', `${lists.base}/x`, {
    sources: [{ ...source, references: { part_of: 'apps' } }],
  });
  const apps = await map(connection_id, 'BusinessCapability', 'apps', {
    sync_direction: 'pull',
    fields: [
      { card_field: 'external_id', remote_field: 'code' },
      { card_field: 'parent_id', remote_field: 'part_of', transform_type: 'reference' },
    ],
  });
  expect(await validate(apps)).toEqual([]);
  const run = await runMapping(apps, 'pull');
  expect(run).toMatchObject({ status: 'completed', stats: { created: 2, errors: 0 } });
  expect((await runMapping(apps, 'pull', '?complete=true')).stats.errors).toBe(0);
  const [parent, child] = await pairs(apps);
  expect(await readCard(child.card_id)).toMatchObject({ name: '=SUM(1)', parent_id: parent.card_id });
  expect((await runMapping(apps, 'pull', '?complete=true')).stats.planned).toEqual({});
  await expectProblem(admin.post(`${syncBase}/sync/push/${apps}`), 409, 'wrong_state');
});
