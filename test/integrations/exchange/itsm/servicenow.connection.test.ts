import { connectServiceNow } from '../../../../integrations/exchange/itsm/connectors/servicenow/servicenow.ts';
import { authority, clientCertificate, serverCertificate } from '../../../emulators/certificates.ts';
import { populate } from '../../../emulators/servicenow/landscape.ts';
import type { Options, ServiceNowEmulator } from '../../../emulators/servicenow/server.ts';
import { startServiceNow } from '../../../emulators/servicenow/server.ts';
import { createVirtualClock } from '../../../emulators/virtual-clock.ts';
import { memoryLimiterStore } from '../../../support/memory-limiter.ts';
import { connect, expectError, failure } from './remote.ts';

const table = 'cmdb_ci_linux_server';
const request = { table, fields: ['name'], limit: 10, cursor: null };
const oauth = {
  kind: 'oauth',
  grant: 'password',
  clientId: 'estate-client',
  clientSecret: 'client secret',
  username: 'estate',
  password: 'secret',
} as const;

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function start(options: Options = {}): Promise<ServiceNowEmulator> {
  const instance = await startServiceNow({ clock: createVirtualClock(), ...options });
  open.push(instance);
  populate(instance, { items: { [table]: 5 }, relations: 0 });
  return instance;
}

test('a connection can have its own CA and client certificate', async () => {
  const instance = await start({
    tls: { ...serverCertificate, ca: authority, requestCert: true, rejectUnauthorized: true },
  });
  const remotes = [{}, { ca: authority }, { ca: authority, ...clientCertificate }].map((tls) =>
    connect(instance, { tls }),
  );
  open.push(...remotes);
  const [stranger, halfKnown, known] = remotes;
  expect([(await failure(stranger!.readPage(request))).code, stranger!.calls()]).toEqual(['unreachable', 1]);
  await expectError(halfKnown!.readPage(request), 'unreachable');
  expect((await known!.readPage(request)).records).toHaveLength(5);
});

test('an aborted connection stops waiting, with an error', async () => {
  const instance = await start();
  const stop = new AbortController();
  const remote = connect(instance, {}, { signal: stop.signal });
  open.push(remote);
  instance.faults.arm({ fault: 'limited_with_wait', times: 99 });
  const reading = failure(remote.readPage(request));
  stop.abort(new Error('cancelled'));
  expect((await reading).code).toBe('aborted');
  await expectError(remote.create(table, { name: 'x' }, 'x'), 'aborted');
});

test('an aborted write may have been executed', async () => {
  const instance = await start({ latency: { write: 100 } });
  const stop = new AbortController();
  const remote = connectServiceNow({
    config: { url: instance.base, auth: { kind: 'basic', username: 'estate', password: 'secret' } },
    outboundAllow: ['127.0.0.1:*'],
    limits: memoryLimiterStore(),
    clock: instance.clock,
    signal: stop.signal,
  });
  open.push(remote);
  instance.watch = () => stop.abort(new Error('cancelled'));
  await expectError(remote.create(table, { name: 'x' }, 'x'), 'response_lost');
});

test('all users of an account share its limits; another account has its own', async () => {
  const instance = await start({
    accounts: [
      { userName: 'estate', password: 'secret' },
      { userName: 'second', password: 'secret' },
    ],
  });
  const limits = memoryLimiterStore();
  const one = connect(instance, {}, { limits });
  const same = connect(instance, {}, { limits });
  const other = connect(
    instance,
    { auth: { kind: 'basic', username: 'second', password: 'secret' } },
    { limits },
  );
  open.push(one, same, other);
  await one.limiter.recordOutcome({ kind: 'rate_limited', retryAfterMs: 600_000 });
  const fault = await failure(same.readPage(request));
  expect(fault).toMatchObject({ code: 'rate_limited', retryAfterMs: 600_000 });
  await other.readPage(request);
});

test("the remote's clock is known from its responses, however wrong it is", async () => {
  const instance = await start();
  instance.impose('clock_skew');
  const remote = connect(instance);
  open.push(remote);
  expect(remote.clockAheadMs()).toBeNull();
  await remote.readPage(request);
  expect(remote.clockAheadMs()).toBe(7 * 60_000);
});

test('a rejected token is renewed; invalid credentials are not tried repeatedly', async () => {
  const instance = await start();
  const wrong = connect(instance, { auth: { ...oauth, password: 'wrong' } });
  const failed = await failure(wrong.readPage(request));
  expect([failed.code, failed.status, failed.where]).toEqual([
    'credentials_refused',
    401,
    `${instance.base}/oauth_token.do`,
  ]);
  expect(JSON.stringify(failed)).not.toMatch(/client secret|wrong/);
  expect(instance.count('token')).toBe(1);
  await wrong.close();
  for (const auth of [
    oauth,
    {
      kind: 'oauth',
      grant: 'client_credentials',
      clientId: oauth.clientId,
      clientSecret: oauth.clientSecret,
    } as const,
  ]) {
    const remote = connect(instance, { auth });
    await remote.readPage(request);
    instance.oauth.expireAll(true);
    await remote.readPage(request);
    await remote.close();
  }
});

test('addresses that are not allowed, or do not respond', async () => {
  const instance = await start();
  const refused = connect(instance, {}, { outboundAllow: [] });
  await expectError(refused.readPage(request), 'address_refused');
  const blocked = connect(instance, { url: 'http://127.0.0.1:9' });
  await expectError(blocked.create(table, { name: 'x' }, 'x'), 'address_refused');
  const closed = await startServiceNow({ clock: instance.clock });
  await closed.close();
  const nobody = connect(closed);
  await expectError(nobody.create(table, { name: 'x' }, 'x'), 'unreachable');
  const elsewhere = connect(instance, {});
  await expectError(elsewhere.readPage({ ...request, table: 'nothing' }), 'not_found');
  for (const remote of [refused, blocked, nobody, elsewhere]) await remote.close();
});
