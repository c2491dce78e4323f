/** A column that refers to a record, as a relation. */

import { serverCertificate } from '../../emulators/certificates.ts';
import { startLists } from '../../emulators/http-lists.ts';
import { populate as populateItop } from '../../emulators/itop/landscape.ts';
import { startItop } from '../../emulators/itop/server.ts';
import { populate as populateNetBox } from '../../emulators/netbox/landscape.ts';
import { startNetBox } from '../../emulators/netbox/server.ts';
import { closeAfterAll, expectInvalid, ok } from '../../support/harness.ts';
import { itopAccess, openSyncTest, syncBase } from '../../support/itsm.ts';

const { db, admin, instance, connect, connectKind, map, validate, runMapping } = await openSyncTest();
const itop = closeAfterAll(await startItop({ tls: serverCertificate }));
const netbox = closeAfterAll(await startNetBox({ tls: serverCertificate }));
const lists = closeAfterAll(await startLists({ tls: serverCertificate }));

const name = { card_field: 'name', remote_field: 'name', is_identity: true };
const reference = (card_field: string, remote_field: string, mapping_id: string) => ({
  card_field,
  remote_field,
  transform_type: 'reference',
  transform_config: { mapping_id },
});

const cardsOf = async (mapping: string): Promise<Map<string, string>> => {
  const rows = await db('itsm_pairs').where({ mapping_id: mapping }).select('remote_id', 'card_id');
  return new Map(rows.map(({ remote_id, card_id }) => [remote_id, card_id]));
};

/** A mapping whose column refers to records of another one, and the column as people on the other side see it. */
interface Referring {
  holders: string;
  targets: string;
  relationType: string;
  /** The mapped cards are the targets of the relations. */
  reversed?: boolean;
  read: (holder: string) => string | null;
  write: (holder: string, target: string | null) => void;
  /** Beyond leading and clearing it from both sides. */
  whole?: boolean;
}

/** Leads one reference from both sides to where it is wanted, and expects the other side to follow. */
async function walk({
  holders,
  targets,
  relationType,
  reversed = false,
  whole = false,
  read,
  write,
}: Referring) {
  const run = async () => {
    const { status, stats } = await runMapping(holders);
    expect(status).toBe('completed');
    return stats;
  };
  const [holder, card] = [...(await cardsOf(holders))][0]!;
  const others = await cardsOf(targets);
  const [[one, oneCard], [other, otherCard]] = [...others] as [[string, string], [string, string]];
  const [own, far] = reversed ? ['target_id', 'source_id'] : ['source_id', 'target_id'];
  const related = async () =>
    (await db('relations').where({ type: relationType, [own]: card })).map((row) => row[far]);
  const relate = (to: string) =>
    admin.create('/api/v1/relations', { type: relationType, [own]: card, [far]: to });
  const unrelate = async () => {
    const [{ id }] = await db('relations').where({ type: relationType, [own]: card });
    await ok(admin.delete(`/api/v1/relations/${id}`), 204);
  };

  write(holder, one);
  await run();
  expect(await related()).toEqual([oneCard]);

  await unrelate();
  await relate(otherCard);
  expect(await run()).toMatchObject({ planned: { update: 1 }, errors: 0 });
  expect(read(holder)).toBe(other);

  write(holder, null);
  expect(await run()).toMatchObject({ planned: { update: 1 }, errors: 0 });
  expect(await related()).toEqual([]);
  await relate(otherCard);
  await run();
  expect(read(holder)).toBe(other);
  await unrelate();
  expect(await run()).toMatchObject({ planned: { update: 1 }, errors: 0 });
  expect(read(holder)).toBeNull();
  if (!whole) return;

  // a column contains one reference: with several relations the record is unchanged, and the run reports it
  write(holder, one);
  await run();
  await relate(otherCard);
  expect((await run()).planned).toEqual({ skip: 1 });
  expect([read(holder), (await related()).length]).toEqual([one, 2]);
  // the column leads where both have moved
  write(holder, other);
  await run();
  expect([read(holder), await related()]).toEqual([other, [otherCard]]);
  expect((await run()).planned).toEqual({});
}

it('is synchronised in both directions with ServiceNow, and written with new records', async () => {
  const column = { name: 'u_server', label: 'Server', type: 'reference', reference: 'cmdb_ci_server' };
  instance.changeField('cmdb_ci_business_app', column);
  const servers = ['a', 'b'].map((one) => instance.elsewhere.insert('cmdb_ci_server', { name: one }));
  const app = instance.elsewhere.insert('cmdb_ci_business_app', {
    name: 'app',
    u_server: servers[0]!.values.sys_id!,
  });
  const connection_id = await connect();
  const targets = await map(connection_id, 'ITComponent', 'cmdb_ci_server');
  const holders = await map(connection_id, 'Application', 'cmdb_ci_business_app', {
    sync_direction: 'bidirectional',
    fields: [reference('relations.relAppToITC', 'u_server', targets)],
  });
  // its other end is not known before: it follows once it is
  expect((await runMapping(holders)).stats).toMatchObject({ created: 1 });
  expect(await db('relations').where({ type: 'relAppToITC' })).toHaveLength(0);
  await runMapping(targets, 'pull');
  expect(await validate(holders)).toEqual([]);
  await walk({
    holders,
    targets,
    relationType: 'relAppToITC',
    whole: true,
    read: (id) => instance.store.rows.get(id)!.values.u_server || null,
    write: (id, to) => instance.elsewhere.update(id, { u_server: to ?? '' }),
  });
  expect(app.values.name).toBe('app');

  const [record, server] = [...(await cardsOf(targets))][0]!;
  const made = await admin.card({ type: 'Application', name: 'made here' });
  const ends = { source_id: made.id, target_id: server };
  await admin.post('/api/v1/relations', { type: 'relAppToITC', ...ends });
  expect((await runMapping(holders)).stats).toMatchObject({ created: 1, errors: 0 });
  const rows = [...instance.store.of('cmdb_ci_business_app')].map(({ values }) => values);
  expect(rows.find((row) => row.name === 'made here')).toMatchObject({ u_server: record });
});

it('is synchronised in both directions with iTop', async () => {
  const { org, servers } = populateItop(itop, { servers: 1 });
  itop.elsewhere.insert('Location', { name: 'Lyon', org_id: org.id });
  const connection_id = await connectKind('itop', itop.base, itopAccess);
  const targets = await map(connection_id, 'Platform', 'Location');
  const holders = await map(connection_id, 'ITComponent', 'Server', {
    card_filter: 'name ~ "Server"',
    sync_direction: 'bidirectional',
    fields: [reference('relations.relITCToPlatform', 'location_id', targets)],
  });
  await runMapping(targets, 'pull');
  await runMapping(holders, 'pull');
  expect(await validate(holders)).toEqual([]);
  const key = (id: string) => Number(id.split('::')[1]);
  await walk({
    holders,
    targets,
    relationType: 'relITCToPlatform',
    read: () => {
      const { location_id: at } = servers[0]!.values;
      return Number(at) === 0 ? null : `Location::${at}`;
    },
    write: (_, to) => itop.elsewhere.update(servers[0]!, { location_id: to === null ? 0 : key(to) }),
  });
});

it('is synchronised in both directions with NetBox, where the mapped cards are the targets', async () => {
  populateNetBox(netbox, 1);
  netbox.store.insert('tenancy/tenants', { name: 'Fabrikam', slug: 'fabrikam' });
  const connection_id = await connectKind('netbox', netbox.base, { token: 'nbt_estate.secret' });
  const targets = await map(connection_id, 'Platform', 'tenancy/tenants');
  const holders = await map(connection_id, 'ITComponent', 'dcim/devices', {
    card_filter: 'name ~ "host"',
    sync_direction: 'bidirectional',
    fields: [reference('reverse_relations.relPlatformToITC', 'tenant', targets)],
  });
  await runMapping(targets, 'pull');
  await runMapping(holders, 'pull');
  const key = (id: string) => Number(id.split('/').at(-1));
  const device = () => netbox.store.rows('dcim/devices')[0]!;
  await walk({
    holders,
    targets,
    relationType: 'relPlatformToITC',
    reversed: true,
    read: () => (device().tenant === null ? null : `tenancy/tenants/${device().tenant}`),
    write: (_, to) =>
      netbox.store.update('dcim/devices', device().id as number, { tenant: to === null ? null : key(to) }),
  });
  expect(await validate(holders)).toEqual([]);
});

it('is read from HTTP lists', async () => {
  const put = (server: string) =>
    lists.places.set('/x/apps.csv', { body: `code,name,server\nL1,Listed,${server}\n` });
  put('S1');
  lists.places.set('/x/servers.csv', { body: 'code,name\nS1,Listed one\nS2,Listed two\n' });
  const source = { format: 'csv', key: 'code' };
  const connection_id = await connectKind('http', `${lists.base}/x`, {
    sources: [
      { ...source, name: 'apps', path: 'apps.csv', references: { server: 'servers' } },
      { ...source, name: 'servers', path: 'servers.csv' },
    ],
  });
  const targets = await map(connection_id, 'ITComponent', 'servers');
  const holders = await map(connection_id, 'Application', 'apps', {
    fields: [reference('relations.relAppToITC', 'server', targets)],
  });
  await runMapping(targets, 'pull');
  await runMapping(holders, 'pull');
  const [first, second] = [...(await cardsOf(targets))].sort().map(([, card]) => card);
  const [source_id] = [...(await cardsOf(holders)).values()];
  const related = async () => (await db('relations').where({ source_id })).map(({ target_id }) => target_id);
  expect(await related()).toEqual([first]);
  put('S2');
  await runMapping(holders, 'pull', '?complete=true');
  expect(await related()).toEqual([second]);
  expect(await validate(holders)).toEqual([]);
});

it('must match the metamodel, the mapping referred to, and its table', async () => {
  const connection_id = await connect();
  const servers = await map(connection_id, 'ITComponent', 'cmdb_ci_service');
  const apps = { connection_id, card_type_key: 'Application', remote_table: 'cmdb_ci_business_app' };
  const refused = (body: object, error: string) =>
    expectInvalid(admin.post(`${syncBase}/mappings`, body), error);
  const related = (path: string) => ({
    ...apps,
    field_mappings: [name, reference(path, 'u_server', servers)],
  });
  const at = 'field_mappings.1.';
  await refused(related('relations.relNone'), `${at}card_field unknown_field`);
  await refused(related('reverse_relations.relAppToITC'), `${at}card_field unknown_field`);
  await refused(related('relations.relAppToDataObj'), `${at}transform_config.mapping_id bad_mapping`);
  const twice = { relation_type_key: 'relAppToITC', remote_type: 'x', target_mapping_id: servers };
  const mappedTwice = { ...related('relations.relAppToITC'), relation_mappings: [twice] };
  await refused(mappedTwice, `${at}card_field bad_mapping`);
  const column = reference('relations.relAppToITC', 'u_server', servers);
  const astray = await map(connection_id, 'Application', 'cmdb_ci_business_app', { fields: [column] });
  expect((await validate(astray)).map(({ field, code }) => `${field} ${code}`)).toContain(
    `${at}transform_config.mapping_id wrong_table`,
  );
});
