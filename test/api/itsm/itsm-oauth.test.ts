import { authority, clientCertificate, serverCertificate } from '../../emulators/certificates.ts';
import { ok } from '../../support/harness.ts';
import { syncBase as base, openSyncTest } from '../../support/itsm.ts';

const TABLE = 'cmdb_ci_business_app';
const client = { client_id: 'estate-client', client_secret: 'client secret' };

// clients without a certificate of the authority are rejected
const tls = { ...serverCertificate, ca: authority, requestCert: true, rejectUnauthorized: true };
const { admin, instance, connectKind, storeMapping, runMapping } = await openSyncTest({ tls });
instance.elsewhere.insert(TABLE, { name: 'Payroll' });

const certificate = { client_certificate: clientCertificate.cert, client_key: clientCertificate.key };
const connectBy = (more: object): Promise<string> =>
  connectKind('servicenow', instance.base, { auth_type: 'oauth2', ...client, ...certificate, ...more });
const test = async (id: string) => (await admin.post(`${base}/connections/${id}/test`)).body;

it.each([
  ['client_credentials', () => ({})],
  ['password', () => ({ username: 'estate', password: 'secret' })],
  ['refresh_token', () => ({ refresh_token: instance.oauth.grant('estate') })],
] as const)(
  'by %s a connection is set up, tested and run, and its token renewed in mid-run',
  async (grant_type, more) => {
    const id = await connectBy({ grant_type, ...more() });
    expect(await test(id)).toMatchObject({ success: true, failure: null });
    const mapping = await storeMapping({ connectionId: id, direction: 'bidirectional' });
    expect(await runMapping(mapping)).toMatchObject({ status: 'completed', stats: { errors: 0 } });
    await admin.card({ name: `Made for ${grant_type}` });
    instance.oauth.expireAll();
    const tokens = instance.count('token');
    instance.faults.arm({ fault: 'token_expired', kinds: ['list'], nth: 2, times: 1 });
    instance.faults.arm({ fault: 'token_expired', kinds: ['create'], times: 1 });
    const run = await runMapping(mapping, 'run', '?complete=true');
    expect(run).toMatchObject({ status: 'completed', stats: { created: 1, errors: 0 } });
    expect(instance.count('token') - tokens).toBeGreaterThanOrEqual(3);
    const names = [...instance.store.of(TABLE)].map(({ values }) => values.name);
    expect(names.filter((name) => name === `Made for ${grant_type}`)).toHaveLength(1);
  },
);

it('a refresh token that is valid once is replaced, whichever process uses it', async () => {
  instance.oauth.rotates = true;
  const refresh_token = instance.oauth.grant('estate');
  const id = await connectBy({ grant_type: 'refresh_token', refresh_token });
  const { body: before } = await admin.get(`${base}/connections/${id}`);
  for (let times = 0; times < 3; times += 1) {
    instance.oauth.expireAll();
    expect(await test(id)).toMatchObject({ success: true });
  }
  const tested = await Promise.all([1, 2, 3].map(() => test(id)));
  expect(tested.map(({ failure }) => failure)).toEqual([null, null, null]);
  const { body: after } = await admin.get(`${base}/connections/${id}`);
  expect(after.updated_at).toBe(before.updated_at);
  // an expired one has to be replaced by a user
  instance.oauth.expireAll(true);
  expect(await test(id)).toMatchObject({ success: false, failure: 'credentials_refused' });
  await ok(admin.patch(`${base}/connections/${id}`, { refresh_token: instance.oauth.grant('estate') }));
  expect(await test(id)).toMatchObject({ success: true });
});

it('without the authority or the client certificate the remote is unreachable', async () => {
  const plain = { grant_type: 'client_credentials' };
  const stranger = await connectBy({ ...plain, client_certificate: null, client_key: null });
  expect(await test(stranger)).toMatchObject({ success: false, failure: 'unreachable' });
  expect(await test(await connectBy({ ...plain, ca: null }))).toMatchObject({ failure: 'unreachable' });
});
