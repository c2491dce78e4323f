import { randomUUID } from 'node:crypto';
import {
  createLimiterState,
  databaseLimiterStore,
} from '../../../integrations/exchange/itsm/limiter/limiter.ts';
import { authority, clientCertificate, serverCertificate } from '../../emulators/certificates.ts';
import { startServiceNow } from '../../emulators/servicenow/server.ts';
import {
  answered,
  closeAfterAll,
  eventKinds,
  expectInvalid,
  expectProblem,
  faults,
  ok,
  openApp,
  pluck,
} from '../../support/harness.ts';
import { connectionInput } from '../../support/itsm.ts';

const base = '/api/v1/itsm-sync/connections';
const MASK = '********';

const { t, db, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const instance = closeAfterAll(
  await startServiceNow({
    tls: { ...serverCertificate, ca: authority, requestCert: true, rejectUnauthorized: true },
    accounts: [
      { userName: 'estate', password: 'secret' },
      { userName: 'reader', password: 'secret', roles: new Set(['cmdb_read', 'personalize_dictionary']) },
      { userName: 'nobody', password: 'secret', roles: new Set() },
    ],
  }),
);

const input = (more: object = {}) =>
  connectionInput('servicenow', instance.base, {
    ...{ username: 'estate', password: 'secret' },
    ...{ client_certificate: clientCertificate.cert, client_key: clientCertificate.key },
    ...more,
  });
const create = async (more: object = {}): Promise<string> => (await admin.create(base, input(more))).id;
const eventsOf = (id: string) => db('events').whereRaw(`data ->> 'id' = ?`, [id]).orderBy('position');

describe('a connection', () => {
  it('is created, read, listed, changed and deleted, without revealing a secret', async () => {
    const made = await answered(admin.post(base, input({ name: 'Production', password: 'p-4711' })), 201);
    expect(made.body).toMatchObject({
      kind: 'servicenow',
      auth_type: 'basic',
      grant_type: null,
      password: MASK,
      client_secret: null,
      client_key: MASK,
      is_active: true,
      last_tested_at: null,
      test_status: null,
      mapping_count: 0,
    });
    const id = made.body.id as string;
    const one = await admin.get(`${base}/${id}`);
    expect([one.text, one.headers.etag]).toEqual([made.text, made.headers.etag]);
    const listed = await admin.get(`${base}?search=produc&is_active=true&fields=id,name`);
    expect(listed.body.items).toEqual([{ id, name: 'Production' }]);
    expect(pluck((await admin.get(`${base}?cursor=&page_size=200`)).body.items, 'id')).toContain(id);

    const headers = { 'if-match': one.headers.etag as string };
    const change = { name: 'Main', password: 'p-4712', client_key: MASK, is_active: false };
    const changed = await answered(admin.patch(`${base}/${id}`, change, headers));
    expect(changed.body).toMatchObject({ name: 'Main', is_active: false, password: MASK });
    await expectProblem(admin.patch(`${base}/${id}`, { name: 'Other' }, headers), 412);
    // nothing is changed, and no event is recorded
    await ok(admin.patch(`${base}/${id}`, { name: 'Main', password: 'p-4712' }));
    await expectProblem(admin.delete(`${base}/${id}`, undefined, headers), 412);
    await ok(admin.delete(`${base}/${id}`), 204);
    await expectProblem(admin.get(`${base}/${id}`), 404);

    const events = await eventsOf(id);
    expect(eventKinds(events, 'itsm_connection')).toBe('created updated deleted');
    expect(events[1].data).toMatchObject({
      changes: { name: { old: 'Production', new: 'Main' }, is_active: { old: true, new: false } },
      secrets_changed: true,
    });
    for (const text of [made.text, listed.text, changed.text, JSON.stringify(events)])
      expect(text).not.toMatch(/p-471[12]|PRIVATE KEY/);
    const rollback = admin.post(`/api/v1/mutation-batches/${events[1].batch_id}/rollback`, {
      dry_run: false,
    });
    await expectProblem(rollback, 409, 'rollback_unsupported');
  });

  it('is stored with encrypted secrets', async () => {
    const id = await create({ password: 'p-4713' });
    const { secrets } = await db('itsm_connections').where({ id }).first('secrets');
    expect(secrets).not.toContain('4713');
    expect(t.services.secrets.open(secrets, `itsm_connection.${id}`)).toContain('p-4713');
  });

  it.each([
    [{ instance_url: 'http://example.com' }, 'instance_url', 'refused_address'],
    [{ instance_url: 'https://10.0.0.1' }, 'instance_url', 'refused_address'],
    [{ instance_url: 'https://example.com/path' }, 'instance_url', 'format'],
    [{ name: '  ' }, 'name', 'required'],
    [{ username: '' }, 'username', 'required'],
    [{ password: MASK }, 'password', 'required'],
    [{ client_id: 'x' }, 'client_id', 'not_offered'],
    [{ auth_type: 'oauth2', client_id: 'x', client_secret: 'y' }, 'username', 'not_offered'],
    [{ grant_type: 'password' }, 'grant_type', 'not_offered'],
    [{ auth_type: 'token', token: 'x' }, 'auth_type', 'not_offered'],
    [{ token: 'x' }, 'token', 'not_offered'],
    [{ ca: 'no certificate' }, 'ca', 'format'],
    [{ client_certificate: 'none' }, 'client_certificate', 'format'],
    [{ client_certificate: null }, 'client_certificate', 'required'],
    [{ client_key: null }, 'client_key', 'required'],
    [{ client_key: 'none' }, 'client_key', 'format'],
    [{ client_key: serverCertificate.key }, 'client_key', 'format'],
  ])('is refused with %j', async (more, field, code) => {
    const [status, , first] = await faults(admin.post(base, input(more)));
    expect([status, first]).toEqual([422, `${field} ${code}`]);
  });

  it('has a unique name', async () => {
    const [first, second] = [await create({ name: 'Twin' }), await create()];
    await expectProblem(admin.post(base, input({ name: 'TWIN' })), 409, 'name_taken');
    await expectProblem(admin.patch(`${base}/${second}`, { name: 'twin' }), 409, 'name_taken');
    await ok(admin.patch(`${base}/${first}`, { name: 'TWIN' }));
  });

  it('requires its secrets again before its address is changed', async () => {
    const id = await create();
    const moved = { instance_url: 'https://example.com' };
    const refused = admin.patch(`${base}/${id}`, { ...moved, client_key: MASK });
    await expectInvalid(refused, 'password secret_needed', 'client_key secret_needed');
    const renewed = { ...moved, password: 'another', client_certificate: null };
    expect((await ok(admin.patch(`${base}/${id}`, renewed))).client_key).toBeNull();
  });

  it('deletes the secrets of the previous authentication type', async () => {
    const id = await create();
    const oauth = { auth_type: 'oauth2', client_id: 'estate-client', client_secret: 'client secret' };
    expect((await admin.patch(`${base}/${id}`, oauth)).body).toMatchObject({
      grant_type: 'client_credentials',
      username: null,
      password: null,
      client_secret: MASK,
    });
    expect((await admin.post(`${base}/${id}/test`)).body).toMatchObject({ success: true, failure: null });
    await expectInvalid(admin.patch(`${base}/${id}`, { auth_type: 'basic' }), 'username', 'password');
  });

  it('that does not exist, or has an invalid id', async () => {
    const none = `${base}/${randomUUID()}`;
    for (const call of [
      admin.get(none),
      admin.patch(none, { name: 'X' }),
      admin.delete(none),
      admin.post(`${none}/test`),
      admin.get(`${none}/tables`),
      admin.get(`${none}/tables/cmdb_ci/fields`),
    ])
      await expectProblem(call, 404, 'not_found');
    await expectProblem(admin.get(`${base}/x`), 422);
  });
});

describe('a connection test', () => {
  it('reports the rights of the account by table, and is stored', async () => {
    const id = await create();
    const answer = await ok(admin.post(`${base}/${id}/test`));
    expect(answer).toMatchObject({ success: true, failure: null });
    const about = (table: string, right: string) =>
      answer.rights.find((one: Record<string, string>) => one.table === table && one.right === right);
    expect(about('cmdb_ci', 'read')).toMatchObject({ granted: true, needed: true });
    expect(about('cmdb_ci', 'delete')).toMatchObject({ needed: false });
    const { body } = await admin.get(`${base}/${id}`);
    expect([body.test_status, body.test_message]).toEqual(['passed', answer.message]);
    expect(body.last_tested_at).not.toBeNull();
    expect((await eventsOf(id)).at(-1)).toMatchObject({
      event_type: 'itsm_connection.tested',
      data: { changes: { test_status: { old: null, new: 'passed' } } },
    });
    // the test result is no longer valid
    const changed = await admin.patch(`${base}/${id}`, { username: 'reader' });
    expect([changed.body.test_status, changed.body.last_tested_at]).toEqual([null, null]);
  });

  it('names the missing rights', async () => {
    const id = await create({ username: 'nobody' });
    const { body } = await admin.post(`${base}/${id}/test`);
    expect(body).toMatchObject({ success: false, failure: null });
    expect(body.message).toContain('read cmdb_ci');
    expect((await admin.get(`${base}/${id}`)).body.test_status).toBe('failed');
  });

  it('advises what to do if the credentials or certificates are refused', async () => {
    const wrong = await ok(admin.post(`${base}/${await create({ password: 'wrong' })}/test`));
    expect(wrong).toMatchObject({ success: false, failure: 'credentials_refused' });
    expect(wrong.message).toContain('Renew the password');
    const unknown = await create({ username: 'reader', client_certificate: null, client_key: null });
    const tested = await admin.post(`${base}/${unknown}/test`);
    expect([tested.body.success, tested.body.failure]).toEqual([false, 'unreachable']);
    expect(tested.text).not.toContain('secret');
  });
});

describe('the tables and columns of the remote', () => {
  it('are listed in pages and searched', async () => {
    const id = await create();
    const found = await ok(admin.get(`${base}/${id}/tables?search=cmdb_ci_linux`));
    expect(found.items[0]).toMatchObject({ name: 'cmdb_ci_linux_server', parent: 'cmdb_ci_server' });
    const first = await admin.get(`${base}/${id}/tables?cursor=&page_size=2&fields=name`);
    const next = await admin.get(
      `${base}/${id}/tables?page_size=2&fields=name&cursor=${encodeURIComponent(first.body.next_cursor)}`,
    );
    expect(new Set(pluck([...first.body.items, ...next.body.items], 'name')).size).toBe(4);
    const fields = await admin.get(`${base}/${id}/tables/cmdb_ci_linux_server/fields?page_size=200`);
    expect(fields.body.total).toBe(fields.body.items.length);
    expect(fields.body.items.find(({ name }: { name: string }) => name === 'name')).toMatchObject({
      type: 'text',
      remote_type: 'string',
    });
    await expectProblem(admin.get(`${base}/${id}/tables/cmdb_ci_no_such/fields`), 404, 'not_found');
    await expectProblem(admin.get(`${base}/${id}/tables/A^B/fields`), 422);
  });

  it('are not read through a paused connection', async () => {
    const id = await create({ is_active: false });
    for (const rest of ['tables', 'tables/cmdb_ci/fields'])
      await expectProblem(admin.get(`${base}/${id}/${rest}`), 409, 'wrong_state');
  });

  it('return 502 with advice if the remote fails', async () => {
    const answer = await ok(admin.get(`${base}/${await create({ password: 'wrong' })}/tables`), 502);
    expect(answer).toMatchObject({ code: 'upstream_failed', failure: 'credentials_refused' });
    expect(answer.detail).toContain('Renew the password');
  });
});

it('is visible with itsm_sync.view; only itsm_sync.manage may change it and call the remote', async () => {
  const watcher = await t.holding('itsm_sync.view');
  const id = await create();
  await ok(watcher.get(`${base}/${id}`));
  await ok(watcher.get(base));
  for (const call of [
    watcher.post(base, input()),
    watcher.patch(`${base}/${id}`, { name: 'X' }),
    watcher.delete(`${base}/${id}`),
    watcher.post(`${base}/${id}/test`),
    watcher.get(`${base}/${id}/tables`),
    watcher.get(`${base}/${id}/tables/cmdb_ci/fields`),
  ])
    await expectProblem(call, 403, 'itsm_sync.manage');
});

it('all processes share the rate limiter of an account, and no update is lost', async () => {
  const stores = [databaseLimiterStore(db), databaseLimiterStore(db)];
  const account = 'host account';
  const fresh = createLimiterState(0);
  const step = (store = stores[0]!) =>
    store.update(account, (known = fresh) => ({
      state: { ...known, goodPages: known.goodPages + 1 },
      result: known.goodPages,
    }));
  const seen = await Promise.all(Array.from({ length: 12 }, (_, n) => step(stores[n % 2])));
  expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, n) => n));
  const { state } = await db('itsm_account_limits').where({ account }).first('state');
  expect(state).toEqual({ ...fresh, goodPages: 12 });
});
