import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import type { ApiKeyPlace, OAuthClient } from '../../../../domain/exchange/itsm/connections.auth.ts';
import type { HttpSource } from '../../../../domain/exchange/itsm/http-sources.input.ts';
import type { HttpAuth } from '../../../../integrations/exchange/itsm/connectors/http/authentication.ts';
import { connectHttp } from '../../../../integrations/exchange/itsm/connectors/http/http.ts';
import { authority, clientCertificate, serverCertificate } from '../../../emulators/certificates.ts';
import { type Lists, startLists } from '../../../emulators/http-lists.ts';
import { startTokenEndpoint, type TokenEndpoint } from '../../../emulators/token-endpoint.ts';
import { createVirtualClock, type VirtualClock } from '../../../emulators/virtual-clock.ts';
import { failure, partsOn } from './remote.ts';

const id = 'estate client';
const secret = 'geheim: "+&/ü';
const apps: HttpSource = { name: 'apps', path: 'apps', format: 'json', key: 'id' };

let clock: VirtualClock;
let lists: Lists;
let endpoint: TokenEndpoint;

beforeEach(async () => {
  clock = createVirtualClock();
  lists = await startLists({ clock });
});
afterEach(async () => {
  await endpoint?.close();
  await lists.close();
});

/** The list for whoever has the last token. */
const guard = () =>
  lists.places.set('/apps', (_, { headers }) =>
    endpoint.accepts((headers.authorization ?? '').replace(/^Bearer /, ''))
      ? { body: [{ id: 1 }] }
      : { status: 401, body: { message: `invalid: ${headers.authorization}` } },
  );

const connect = (auth: HttpAuth) =>
  connectHttp({ config: { url: lists.base, auth, sources: [apps] }, ...partsOn(clock) });
const read = async (remote: ReturnType<typeof connect>) =>
  (await remote.readPage({ table: 'apps', fields: [], limit: 9, cursor: null })).records.length;
const oauth = (client: Partial<OAuthClient>, key = secret): HttpAuth => ({
  kind: 'oauth',
  client: { token_url: endpoint.url, client_auth: 'client_secret_basic', ...client },
  clientId: id,
  secret: key,
});

test.each([
  ['client_secret_basic', { isBasic: true }],
  ['client_secret_post', {}],
] as const)('%s: a token is kept until it expires, also for other connections', async (client_auth, how) => {
  endpoint = await startTokenEndpoint({ id, secret, ...how }, { now: () => clock.now(), seconds: 600 });
  guard();
  const auth = oauth({ client_auth, scope: 'read write', parameters: { audience: 'https://api' } });
  const [one, other] = [connect(auth), connect(auth)];
  expect([await read(one), await read(other), await read(one)]).toEqual([1, 1, 1]);
  expect(endpoint.requests).toHaveLength(1);
  expect(endpoint.requests[0]).toMatchObject({ scope: 'read write', audience: 'https://api' });
  clock.advance(580_000);
  expect([await read(one), await read(other)]).toEqual([1, 1]);
  expect(endpoint.requests.length).toBeLessThanOrEqual(3);
  for (const remote of [one, other]) await remote.close();
});

const keys = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
} as const;

test.each(Object.keys(keys) as (keyof typeof keys)[])('an assertion is signed by %s', async (algorithm) => {
  const { privateKey, publicKey } = keys[algorithm]();
  endpoint = await startTokenEndpoint({ id, secret: '', key: publicKey }, { now: () => clock.now() });
  guard();
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const client = {
    client_auth: 'private_key_jwt',
    key_id: 'k1',
    ...(algorithm === 'PS256' ? { algorithm } : {}),
  } as const;
  const remote = connect(oauth(client, pem));
  expect(await read(remote)).toBe(1);
  const [header] = endpoint.requests[0]!.client_assertion!.split('.');
  expect(JSON.parse(Buffer.from(header!, 'base64url').toString())).toEqual({
    alg: algorithm,
    typ: 'JWT',
    kid: 'k1',
  });
  await remote.close();
});

test('an assertion names its certificate, as Microsoft Entra ID needs', async () => {
  const { cert, key } = clientCertificate;
  endpoint = await startTokenEndpoint(
    { id, secret: '', key: createPublicKey(cert) },
    { now: () => clock.now() },
  );
  guard();
  const remote = connect(oauth({ client_auth: 'private_key_jwt', certificate: cert }, key));
  expect(await read(remote)).toBe(1);
  const header = JSON.parse(
    Buffer.from(endpoint.requests[0]!.client_assertion!.split('.')[0]!, 'base64url').toString(),
  );
  // the thumbprint in hexadecimal, as OpenSSL shows it
  const shown = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase();
  expect(Buffer.from(header['x5t#S256'], 'base64url').toString('hex')).toBe(shown);
  await remote.close();
});

test('a refused token is renewed once; a new one that is refused too ends the call', async () => {
  endpoint = await startTokenEndpoint({ id, secret, isBasic: true }, { now: () => clock.now() });
  guard();
  const remote = connect(oauth({}));
  expect(await read(remote)).toBe(1);
  lists.instead.push({ status: 401 });
  expect(await read(remote)).toBe(1);
  expect(endpoint.requests).toHaveLength(2);
  lists.instead.push({ status: 401 }, { status: 401 });
  expect((await failure(read(remote))).code).toBe('credentials_refused');
  expect(endpoint.requests).toHaveLength(3);
  await remote.close();
});

test.each([
  [
    { status: 400, body: { error: 'invalid_scope', error_description: `no scope for ${secret}` } },
    'credentials_refused',
    '(invalid_scope)',
  ],
  [{ status: 200, body: { token_type: 'Bearer' } }, 'unreadable_response', 'no token'],
  [{ status: 200, body: '<html>' }, 'unreadable_response', ''],
  [{ status: 200, body: { access_token: 'geheim\r\nx: 1' } }, 'unreadable_response', 'in a header'],
  [{ status: 200, body: { access_token: 'geheim\u20ac' } }, 'unreadable_response', 'in a header'],
  [{ status: 503, body: secret }, 'unavailable', '503'],
] as const)('a token endpoint that answers %j', async (fault, code, words) => {
  endpoint = await startTokenEndpoint({ id, secret, isBasic: true }, { now: () => clock.now() });
  endpoint.fault = fault;
  const remote = connect(oauth({}));
  const error = await failure(read(remote));
  expect([error.code, error.message]).toEqual([code, expect.stringContaining(words)]);
  expect(error.message).not.toContain('geheim');
  await remote.close();
});

test('the outbound guard checks the token endpoint too', async () => {
  endpoint = await startTokenEndpoint({ id, secret, isBasic: true });
  const remote = connect(oauth({ token_url: 'https://169.254.169.254/token' }));
  expect((await failure(read(remote))).code).toBe('address_refused');
  expect(lists.requests).toEqual([]);
  await remote.close();
});

describe('an API key', () => {
  const key = 'k 4711/+&';
  test.each([
    [{ in: 'header', name: 'X-Api-Key' }, { 'x-api-key': key }],
    [{ in: 'header', name: 'Authorization', prefix: 'SSWS' }, { authorization: `SSWS ${key}` }],
  ] as [ApiKeyPlace, Record<string, string>][])('is sent at %j', async (place, headers) => {
    lists.places.set('/apps', () => ({ body: [{ id: 1 }] }));
    const remote = connect({ kind: 'api_key', key, place });
    expect(await read(remote)).toBe(1);
    expect(lists.requests[0]!.headers).toMatchObject(headers);
    await remote.close();
  });

  test('is sent as a parameter, and is in no message and no cursor', async () => {
    const logged: unknown[] = [];
    const source: HttpSource = {
      ...apps,
      path: 'apps?x=1',
      rows: 'items',
      paging: { by: 'link', next: 'next' },
    };
    const remote = connectHttp({
      config: {
        url: lists.base,
        auth: { kind: 'api_key', key, place: { in: 'query', name: 'key' } },
        sources: [source],
      },
      ...partsOn(clock),
      log: { info: (details) => void logged.push(details) },
    });
    lists.places.set('/apps', (query) => ({
      body: {
        items: [{ id: query.get('page') ?? '1' }],
        next: query.has('page') ? null : `${lists.base}/apps?${query}&page=2`,
      },
    }));
    const request = { table: 'apps', fields: [], limit: 9 };
    const first = await remote.readPage({ ...request, cursor: null });
    await remote.readPage({ ...request, cursor: first.next });
    expect(first.next).not.toContain('4711');
    expect(lists.requests.map(({ query }) => [query.get('key'), query.getAll('key').length])).toEqual([
      [key, 1],
      [key, 1],
    ]);
    lists.places.set('/apps', (query) => ({ status: 400, body: { message: `bad key ${query.get('key')}` } }));
    const refused = await failure(remote.readPage({ ...request, cursor: null }));
    await lists.close();
    const lost = await failure(remote.readPage({ ...request, cursor: null }));
    for (const text of [refused.message, lost.message, JSON.stringify(logged)])
      expect(text).not.toContain('4711');
    await remote.close();
    lists = await startLists({ clock });
  });
});

test('a client certificate is used for the lists and the token endpoint', async () => {
  const tls = { ...serverCertificate, ca: authority, requestCert: true, rejectUnauthorized: true };
  await lists.close();
  lists = await startLists({ clock, tls });
  endpoint = await startTokenEndpoint({ id, secret, isBasic: true }, { tls, now: () => clock.now() });
  guard();
  const secure = (more: object) =>
    connectHttp({
      config: {
        url: lists.base,
        auth: oauth({}),
        sources: [apps],
        attempts: 1,
        tls: { ca: authority, ...more },
      },
      ...partsOn(clock),
    });
  const [known, stranger] = [secure(clientCertificate), secure({})];
  expect((await failure(read(stranger))).code).toBe('unreachable');
  expect(await read(known)).toBe(1);
  for (const remote of [known, stranger]) await remote.close();
});
