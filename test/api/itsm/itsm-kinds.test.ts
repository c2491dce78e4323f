import { generateKeyPairSync } from 'node:crypto';
import { serverCertificate } from '../../emulators/certificates.ts';
import { startLists } from '../../emulators/http-lists.ts';
import { populate } from '../../emulators/netbox/landscape.ts';
import { startNetBox } from '../../emulators/netbox/server.ts';
import { closeAfterAll, expectInvalid, faults, ok, openApp, pluck } from '../../support/harness.ts';
import { connectionInput } from '../../support/itsm.ts';

const base = '/api/v1/itsm-sync/connections';
const MASK = '********';

const { db, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const netbox = closeAfterAll(await startNetBox({ tls: serverCertificate }));
populate(netbox, 5);
const lists = closeAfterAll(await startLists({ tls: serverCertificate }));
lists.places.set('/exports/servers.csv', { body: 'id,name\nS1,web\nS2,mail\n' });

const toNetBox = (more: object = {}) =>
  connectionInput('netbox', netbox.base, { token: 'nbt_estate.secret', ...more });
const source = { name: 'servers', path: 'servers.csv', format: 'csv', key: 'id' };
const toLists = (more: object = {}) =>
  connectionInput('http', `${lists.base}/exports`, { sources: [source], ...more });
const json = { name: 'rows', path: 'rows', format: 'json', key: 'id' };
/** The members of a connection whose OAuth client authenticates with a secret, unless given. */
const byClient = (client: object, more: object = { client_secret: 'b' }) => ({
  auth_type: 'oauth2',
  client_id: 'a',
  oauth: { token_url: `${lists.base}/token`, client_auth: 'client_secret_basic', ...client },
  ...more,
});
const create = async (input: object): Promise<string> => (await admin.create(base, input)).id;

it('a connection to NetBox uses a token, and lists tables and columns', async () => {
  const id = await create(toNetBox());
  const { body } = await admin.get(`${base}/${id}`);
  expect(body).toMatchObject({ kind: 'netbox', auth_type: 'token', token: MASK, sources: null });
  netbox.denied.add('view core/object-changes');
  expect((await admin.post(`${base}/${id}/test`)).body).toMatchObject({
    success: true,
    message: 'The account can read. It lacks other rights: read core/object-changes.',
  });
  const tables = await admin.get(`${base}/${id}/tables?search=sites`);
  expect(tables.body.items).toEqual([{ name: 'dcim/sites', label: 'Sites', parent: null }]);
  const columns = await admin.get(`${base}/${id}/tables/dcim%2Fdevices/fields?page_size=200`);
  expect(columns.body.items).toContainEqual(
    expect.objectContaining({ name: 'site', type: 'reference', reference: 'dcim/sites' }),
  );
  const wrong = await create(toNetBox({ token: 'nbt_other.secret' }));
  expect((await admin.post(`${base}/${wrong}/test`)).body).toMatchObject({
    success: false,
    failure: 'credentials_refused',
  });
});

it('a connection to HTTP lists names its sources', async () => {
  const id = await create(toLists());
  const { body } = await admin.get(`${base}/${id}`);
  expect(body).toMatchObject({ kind: 'http', auth_type: 'none', sources: [source], token: null });
  expect((await admin.post(`${base}/${id}/test`)).body).toMatchObject({
    success: true,
    rights: [{ table: 'servers', right: 'read', granted: true, needed: true }],
  });
  const columns = await admin.get(`${base}/${id}/tables/servers/fields`);
  expect(pluck(columns.body.items, 'name')).toEqual(['id', 'name']);
  expect((await admin.patch(`${base}/${id}`, { sources: [source] })).body.test_status).toBe('passed');
  const sources = [source, { ...source, name: 'others', references: { id: 'servers' } }];
  const changed = await admin.patch(`${base}/${id}`, { sources, auth_type: 'token', token: 'abc' });
  expect(changed.body).toMatchObject({ sources, auth_type: 'token', token: MASK, test_status: null });
  expect((await db('events').whereRaw(`data ->> 'id' = ?`, [id]).orderBy('position')).at(-1)).toMatchObject({
    event_type: 'itsm_connection.updated',
    data: { changes: { sources: { old: [source], new: sources } }, secrets_changed: true },
  });
});

it('a list that responds with 204 is an unexpected response, not a missing right', async () => {
  const id = await create(toLists());
  lists.instead.push({ status: 204, body: '' });
  expect((await admin.post(`${base}/${id}/test`)).body).toMatchObject({
    success: false,
    failure: 'unexpected_response',
  });
});

it('a connection to HTTP lists uses an OAuth client or an API key, which are never shown', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const id = await create(toLists(byClient({ scope: 'read' })));
  expect((await admin.get(`${base}/${id}`)).body).toMatchObject({
    auth_type: 'oauth2',
    grant_type: 'client_credentials',
    client_secret: MASK,
    private_key: null,
    oauth: { scope: 'read', client_auth: 'client_secret_basic' },
  });
  // the secret would be sent to another server
  const elsewhere = { oauth: byClient({ token_url: 'https://example.com/token' }).oauth };
  await expectInvalid(admin.patch(`${base}/${id}`, elsewhere), 'client_secret secret_needed');
  const signing = byClient({ client_auth: 'private_key_jwt', key_id: 'k' }, { private_key });
  const signed = await ok(admin.patch(`${base}/${id}`, signing));
  expect(signed).toMatchObject({ client_secret: null, private_key: MASK, oauth: { key_id: 'k' } });
  await expectInvalid(
    admin.patch(`${base}/${id}`, byClient({ client_auth: 'private_key_jwt', algorithm: 'RS256' }, {})),
    'oauth.algorithm not_offered',
  );
  const api_key = { in: 'header', name: 'Authorization', prefix: 'SSWS' };
  const keyed = await ok(admin.patch(`${base}/${id}`, { auth_type: 'api_key', api_key, token: 'k-4711' }));
  expect(keyed).toMatchObject({ token: MASK, private_key: null, oauth: null, client_id: null, api_key });
  const events = await db('events').whereRaw(`data ->> 'id' = ?`, [id]);
  expect(JSON.stringify(events)).not.toMatch(/4711|PRIVATE KEY/);
  expect(await ok(admin.patch(`${base}/${id}`, { auth_type: 'none' }))).toMatchObject({
    api_key: null,
    token: null,
  });
});

it.each([
  ['netbox', { token: undefined }, 'token', 'required'],
  ['netbox', { auth_type: 'basic', username: 'a', password: 'b' }, 'auth_type', 'not_offered'],
  ['netbox', { sources: [source] }, 'sources', 'not_offered'],
  ['netbox', { instance_url: 'https://10.0.0.1/netbox' }, 'instance_url', 'refused_address'],
  ['http', { sources: undefined }, 'sources', 'required'],
  ['http', { sources: [] }, 'sources', ''],
  ['http', { instance_url: 'http://files.example.com/exports' }, 'instance_url', 'refused_address'],
  ['http', { sources: [source, source] }, 'sources.1.name', 'duplicate'],
  ['http', { sources: [{ ...source, path: 'https://example.com/x' }] }, 'sources.0.path', 'format'],
  ['http', { sources: [{ ...source, path: 'a/../../x' }] }, 'sources.0.path', 'format'],
  ['http', { sources: [{ ...source, path: '%2e%2e/x' }] }, 'sources.0.path', 'format'],
  ['http', { sources: [{ ...source, path: 'a/..%2fx' }] }, 'sources.0.path', 'format'],
  ['http', { sources: [{ ...source, path: 'a%2F..%5Cx' }] }, 'sources.0.path', 'format'],
  ['http', { sources: [{ ...source, path: 'a/.%2E/%2E%2e/x' }] }, 'sources.0.path', 'format'],
  ['http', { sources: [{ ...source, rows: 'items' }] }, 'sources.0.rows', 'not_offered'],
  ['http', { sources: [{ ...source, paging: { by: 'link' } }] }, 'sources.0.paging', 'not_offered'],
  [
    'http',
    { sources: [{ ...source, references: { id: 'x' } }] },
    'sources.0.references.id',
    'unknown_source',
  ],
  ['http', { auth_type: 'oauth2', client_id: 'a', client_secret: 'b' }, 'oauth', 'required'],
  ['http', byClient({ token_url: 'https://10.0.0.1/token' }), 'oauth.token_url', 'refused_address'],
  ['http', byClient({ parameters: { client_secret: 'x' } }), 'oauth.parameters.client_secret', 'not_offered'],
  ['http', byClient({ key_id: 'x' }), 'oauth.key_id', 'not_offered'],
  ['http', byClient({ client_auth: 'private_key_jwt' }), 'private_key', 'required'],
  ['http', byClient({ client_auth: 'private_key_jwt' }, { private_key: 'x' }), 'private_key', 'format'],
  ['http', { ...byClient({}), grant_type: 'password' }, 'grant_type', 'not_offered'],
  ['http', { ...byClient({}), auth_type: 'none' }, 'oauth', 'not_offered'],
  ['http', { auth_type: 'api_key', token: 'x' }, 'api_key', 'required'],
  ['http', { auth_type: 'api_key', api_key: { in: 'header', name: 'X-Key' } }, 'token', 'required'],
  [
    'http',
    { auth_type: 'api_key', token: 'x', api_key: { in: 'header', name: 'Host' } },
    'api_key.name',
    'not_offered',
  ],
  [
    'http',
    { auth_type: 'api_key', token: 'x', api_key: { in: 'query', name: 'k', prefix: 'p' } },
    'api_key.prefix',
    'not_offered',
  ],
  ['netbox', { oauth: { token_url: lists.base, client_auth: 'client_secret_post' } }, 'oauth', 'not_offered'],
  ['http', { sources: [{ ...source, body: {} }] }, 'sources.0.body', 'not_offered'],
  [
    'http',
    { sources: [{ ...json, body: {}, graphql: { query: '{a}' } }] },
    'sources.0.graphql',
    'not_offered',
  ],
  ['http', { sources: [{ ...source, expand: { rows: 'a', key: 'b' } }] }, 'sources.0.expand', 'not_offered'],
  [
    'http',
    { sources: [{ ...json, headers: { Authorization: 'x' } }] },
    'sources.0.headers.Authorization',
    'not_offered',
  ],
  ['http', { sources: [{ ...json, delta: { next: 'd' } }] }, 'sources.0.delta', 'not_offered'],
  [
    'http',
    { sources: [{ ...json, paging: { by: 'cursor', parameter: 'c' } }] },
    'sources.0.paging.next',
    'required',
  ],
  [
    'http',
    { sources: [{ ...json, paging: { by: 'link', since_parameter: 'q', since_value: 'x' } }] },
    'sources.0.paging.since_value',
    'format',
  ],
] as const)('%s is refused with %j', async (kind, more, field, code) => {
  const input = kind === 'netbox' ? toNetBox(more) : toLists(more);
  const [status, , ...found] = await faults(admin.post(base, input));
  expect([status, found]).toEqual([
    422,
    expect.arrayContaining([expect.stringContaining(`${field} ${code}`)]),
  ]);
});

it('takes only tokens that a header can carry, and any key for a parameter', async () => {
  const header = { auth_type: 'api_key', api_key: { in: 'header', name: 'X-Key' } };
  const query = { auth_type: 'api_key', api_key: { in: 'query', name: 'key' } };
  const id = await create(toLists({ auth_type: 'token', token: 'ey.a b.-_~+/=' }));
  for (const token of [
    'KEY\r\nX-Other: 1',
    'KEY\n',
    ' KEY',
    'K\tEY',
    'K\u001b',
    'Schl\u00fcssel',
    'K\u200b',
  ]) {
    await expectInvalid(admin.post(base, toLists({ auth_type: 'token', token })), 'token format');
    await expectInvalid(admin.post(base, toLists({ ...header, token })), 'token format');
    await expectInvalid(admin.post(base, toNetBox({ token })), 'token format');
    await expectInvalid(admin.patch(`${base}/${id}`, { token }), 'token format');
  }
  await ok(admin.patch(`${base}/${id}`, { ...query, token: 'Schl\u00fcssel' }));
  await expectInvalid(admin.patch(`${base}/${id}`, header), 'token format');
  // whatever is stored, a connection can be paused
  await db('itsm_connections')
    .where({ id })
    .update({ api_key: JSON.stringify(header.api_key) });
  await ok(admin.patch(`${base}/${id}`, { is_active: false }));
});

it('refuses a mapping that would write to an HTTP list', async () => {
  const mapping = {
    connection_id: await create(toLists()),
    card_type_key: 'ITComponent',
    remote_table: 'servers',
    field_mappings: [{ card_field: 'name', remote_field: 'name', is_identity: true }],
  };
  const mappings = '/api/v1/itsm-sync/mappings';
  const twoWay = admin.post(mappings, { ...mapping, sync_direction: 'bidirectional' });
  await expectInvalid(twoWay, 'sync_direction not_offered');
  const made = await admin.create(mappings, { ...mapping, sync_direction: 'pull' });
  await expectInvalid(admin.patch(`${mappings}/${made.id}`, { sync_direction: 'push' }), 'sync_direction');
});
