import { existsSync } from 'node:fs';
import path from 'node:path';
import { Value } from 'typebox/value';
import { applyPreset, PresetItem, presets } from '../../../../domain/exchange/itsm/presets/presets.ts';
import type { Connector } from '../../../../integrations/exchange/itsm/connectors/connector.ts';
import type { HttpAuth } from '../../../../integrations/exchange/itsm/connectors/http/authentication.ts';
import { connectHttp } from '../../../../integrations/exchange/itsm/connectors/http/http.ts';
import { startLists } from '../../../emulators/http-lists.ts';
import { startBackstage } from '../../../emulators/sources/backstage.ts';
import { startGitHub } from '../../../emulators/sources/github.ts';
import { startGraph } from '../../../emulators/sources/graph.ts';
import { startOkta } from '../../../emulators/sources/okta.ts';
import { cycloneDx, spdx } from '../../../emulators/sources/sbom.ts';
import type { SourceApi } from '../../../emulators/sources/serve.ts';
import { startTokenEndpoint } from '../../../emulators/token-endpoint.ts';
import { createVirtualClock } from '../../../emulators/virtual-clock.ts';
import { allPages, failure, partsOn, readAll } from './remote.ts';

const COUNT = 10_000;
const root = path.resolve(import.meta.dirname, '../../../..');
const closing: { close(): Promise<void> }[] = [];
const close = <T extends { close(): Promise<void> }>(one: T): T => {
  closing.push(one);
  return one;
};
afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one.close();
});

const clock = createVirtualClock();
const now = () => clock.now();
const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, at) => from + at);
const at = (minute: number) => new Date(Date.UTC(2026, 0, 1) + minute * 60_000).toISOString();

const presetOf = (key: string) => presets.find((one) => one.key === key)!;
const examplesOf = (key: string): Record<string, string> =>
  Object.fromEntries(presetOf(key).parameters.map(({ name, example }) => [name, example]));

/** A connection as the preset describes it, at another address. */
function open(
  key: string,
  url: string,
  auth: (oauth: object | undefined) => HttpAuth,
  parameters = {},
): Connector {
  const preset_parameters = { ...examplesOf(key), ...parameters };
  const { sources, oauth } = applyPreset({ name: 'x', preset: key, preset_parameters });
  return close(
    connectHttp({ config: { url, auth: auth(oauth ?? undefined), sources: sources! }, ...partsOn(clock) }),
  );
}
/** Columns that the mapping of a preset reads. */
const columnsOf = (key: string) =>
  presetOf(key).mappings.flatMap(({ field_mappings = [] }) =>
    field_mappings.map(({ remote_field }) => remote_field),
  );

test.each(presets.map((preset) => [preset.key, preset] as const))(
  '%s has its form and its pages',
  (key, preset) => {
    expect([...Value.Errors(PresetItem, preset)]).toEqual([]);
    expect(existsSync(path.join(root, preset.documentation)), preset.documentation).toBe(true);
    const { instance_url, oauth, sources } = applyPreset({
      name: 'x',
      preset: key,
      preset_parameters: examplesOf(key),
    });
    expect(JSON.stringify([instance_url, oauth])).not.toMatch(/[{](tenant|domain|host|file|organization)[}]/);
    const names = sources!.map(({ name }) => name);
    for (const { remote_table } of preset.mappings) expect(names).toContain(remote_table);
  },
);

/** What every API does: it limits the rate, tokens expire, and columns vanish. */
async function expectResilience(
  remote: Connector,
  api: SourceApi,
  key: string,
  table: string,
  count: number,
) {
  const fields = columnsOf(key);
  api.instead.push({ status: 429, headers: { 'retry-after': '30' } });
  const before = clock.waited();
  const { records, hasHiddenRows } = await readAll(remote, table, 1_000, { fields });
  expect([records.length, new Set(records.map(({ id }) => id)).size, hasHiddenRows]).toEqual([
    count,
    count,
    false,
  ]);
  expect(clock.waited() - before).toBeGreaterThanOrEqual(30_000);
  const known = new Set((await remote.describeFields(table)).map(({ name }) => name));
  expect(fields.filter((name) => !known.has(name))).toEqual([]);
  expect(await remote.findHiddenColumns(table, fields)).toEqual([]);
  return records;
}

test('Microsoft Entra ID: 10,000 applications with sign-ins, deltas, and a token that expires', async () => {
  const endpoint = close(await startTokenEndpoint({ id: 'estate', secret: 's' }, { now, seconds: 3_599 }));
  const accepts = (header: string) => endpoint.accepts(header.replace('Bearer ', ''));
  const graph = close(await startGraph({ now, accepts }));
  const application = (n: number) => ({
    id: `o${n}`,
    appId: `a${n}`,
    displayName: `Application ${n}`,
    description: null,
    createdDateTime: at(n),
  });
  for (const n of numbers(COUNT)) graph.put(application(n));
  graph.signIns = numbers(500).map((n) => ({
    appId: `a${n}`,
    lastSignInActivity: { lastSignInDateTime: at(n) },
  }));
  const key = 'entra-applications';
  const remote = open(key, graph.base, (oauth) => ({
    kind: 'oauth',
    client: { ...(oauth as { client_auth: 'client_secret_post' }), token_url: endpoint.url },
    clientId: 'estate',
    secret: 's',
  }));
  const records = await expectResilience(remote, graph, key, 'applications', COUNT);
  const signIn = 'signIns.lastSignInActivity.lastSignInDateTime';
  expect([0, 499, 500].map((n) => records[n]!.fields[signIn]!.value)).toEqual([at(0), at(499), null]);
  expect(endpoint.requests[0]).toMatchObject({ scope: 'https://graph.microsoft.com/.default' });

  const request = { table: 'applications', fields: columnsOf(key), limit: 1_000 };
  const pages = await allPages((cursor) => remote.readPage({ ...request, cursor }));
  const token = pages.at(-1)!.deltaToken!;
  graph.put({ ...application(7), displayName: 'Renamed' });
  graph.put(application(COUNT));
  graph.remove('o9');
  clock.advance(4_000_000);
  const delta = () => allPages((cursor) => remote.readSince({ ...request, cursor, since: at(0), token }));
  const [changes] = await delta();
  expect(changes!.records.map(({ id, fields }) => [id, fields.displayName!.value])).toEqual([
    ['applications:o7', 'Renamed'],
    [`applications:o${COUNT}`, `Application ${COUNT}`],
  ]);
  expect(changes!.removed!.map(({ id }) => id)).toEqual(['applications:o9']);
  expect(endpoint.requests.length).toBe(2);
  for (const status of [410, 400] as const) {
    graph.expired = status;
    expect((await failure(delta())).code).toBe('resync_needed');
  }
  // the permission for sign-ins is missing: nothing is read, so that nothing is emptied
  graph.lost.add('description');
  expect(await remote.findHiddenColumns('applications', ['description'])).toEqual(['description']);
});

test('Okta: 10,000 applications by links, with changes by their time', async () => {
  const okta = close(await startOkta({ now, accepts: (header) => header === 'SSWS 00token' }));
  okta.apps = numbers(COUNT).map((n) => ({
    id: `0oa${String(n).padStart(6, '0')}`,
    name: 'oidc_client',
    label: `App ${n}`,
    status: n % 10 === 0 ? 'INACTIVE' : 'ACTIVE',
    created: at(0),
    lastUpdated: at(n),
    signOnMode: 'OPENID_CONNECT',
  }));
  const key = 'okta-applications';
  const place = { in: 'header', name: 'Authorization', prefix: 'SSWS' } as const;
  const remote = open(key, okta.base, () => ({ kind: 'api_key', key: '00token', place }));
  await expectResilience(remote, okta, key, 'applications', COUNT);
  expect(okta.requests[0]!.url.searchParams.get('limit')).toBe('200');
  // without Retry-After, with the headers of Okta
  const reset = Math.floor(clock.now() / 1000) + 60;
  okta.instead.push({
    status: 429,
    headers: {
      'x-rate-limit-limit': '600',
      'x-rate-limit-remaining': '0',
      'x-rate-limit-reset': String(reset),
    },
  });
  const { records } = await readAll(remote, 'applications', 1_000, { since: at(COUNT - 5) });
  expect(records.length).toBeLessThan(10);
  expect(clock.now()).toBeGreaterThanOrEqual(reset * 1000 - 1_000);
  const revoked = open(key, okta.base, () => ({ kind: 'api_key', key: '00revoked', place }));
  expect((await failure(revoked.describeFields('applications'))).code).toBe('credentials_refused');
  for (const app of okta.apps) delete app.name;
  expect(await remote.findHiddenColumns('applications', columnsOf(key))).toEqual(['name']);
}, 60_000);

test('Backstage: 10,000 components by cursors', async () => {
  const backstage = close(await startBackstage({ now, accepts: (header) => header === 'Bearer static' }));
  backstage.entities = numbers(COUNT).map((n) => ({
    kind: 'Component',
    metadata: {
      uid: `u${String(n).padStart(6, '0')}`,
      name: `c${n}`,
      namespace: 'default',
      description: `text ${n}`,
    },
    spec: { type: 'service', lifecycle: 'production', owner: 'team' },
  }));
  backstage.entities.push({ kind: 'Group', metadata: { uid: 'u0', name: 'team' } });
  const key = 'backstage-catalogue';
  const remote = open(key, backstage.base, () => ({ kind: 'token', token: 'static' }));
  const records = await expectResilience(remote, backstage, key, 'components', COUNT);
  expect(records[3]!.fields).toMatchObject({
    'metadata.name': { value: 'c3' },
    ref: { value: 'component:default/c3' },
  });
  const expired = open(key, backstage.base, () => ({ kind: 'token', token: 'expired' }));
  expect((await failure(expired.describeFields('components'))).code).toBe('credentials_refused');
  for (const { metadata } of backstage.entities) delete metadata.namespace;
  expect(await remote.findHiddenColumns('components', columnsOf(key))).toEqual(['ref']);
}, 60_000);

test('GitHub: 10,000 repositories by GraphQL, with changes by their time', async () => {
  const gitHub = close(await startGitHub({ now, accepts: (header) => header === 'Bearer ghp' }, 'example'));
  gitHub.repositories = numbers(COUNT).map((n) => ({
    id: `R_${n}`,
    name: `repository-${n}`,
    nameWithOwner: `example/repository-${n}`,
    description: n % 2 === 0 ? `text ${n}` : null,
    updatedAt: at(n),
  }));
  const key = 'github-repositories';
  const auth = (): HttpAuth => ({ kind: 'token', token: 'ghp' });
  const remote = open(key, gitHub.base, auth, { organization: 'example' });
  await expectResilience(remote, gitHub, key, 'repositories', COUNT);
  const { records } = await readAll(remote, 'repositories', 1_000, { since: at(COUNT - 5) });
  expect(records.length).toBeLessThan(10);
  const reset = String(Math.floor(clock.now() / 1000) + 60);
  gitHub.instead.push(
    {
      status: 403,
      headers: { 'retry-after': '20' },
      body: { message: 'You have exceeded a secondary rate limit.' },
    },
    {
      status: 200,
      headers: { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset },
      body: { errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded' }] },
    },
  );
  expect((await remote.describeFields('repositories')).length).toBeGreaterThan(5);
  expect(clock.now()).toBeGreaterThanOrEqual(Number(reset) * 1000 - 1_000);
  const unknown = open(key, gitHub.base, auth, { organization: 'other' });
  const error = await failure(unknown.describeFields('repositories'));
  expect([error.code, error.what]).toEqual(['refused', expect.stringContaining('Could not resolve')]);
  const expired = open(key, gitHub.base, () => ({ kind: 'token', token: 'x' }), { organization: 'example' });
  expect((await failure(expired.describeFields('repositories'))).code).toBe('credentials_refused');
}, 60_000);

test.each([
  ['sbom-cyclonedx', 'components', cycloneDx, 'licence'],
  ['sbom-spdx', 'packages', spdx, 'licence'],
] as const)('%s: a file with 10,000 entries', async (key, table, write, licence) => {
  const lists = close(await startLists({ clock }));
  const serve = (document: object, changed: number) =>
    lists.places.set('/sboms/shop.json', { body: JSON.stringify(document), changed: clock.now() + changed });
  serve(write(COUNT), -120_000);
  const connect = () => open(key, `${lists.base}/sboms`, () => ({ kind: 'none' }), { file: 'shop.json' });
  const remote = connect();
  lists.instead.push({ status: 429, headers: { 'retry-after': '5' } });
  const fields = columnsOf(key);
  const { records, hasHiddenRows } = await readAll(remote, table, 1_000, { fields });
  expect([records.length, hasHiddenRows]).toEqual([COUNT, false]);
  const first = records.find(({ fields: { title } }) => String(title!.value).endsWith('lib-0 1.0.0'))!;
  expect(first.fields[licence]!.value).toBe(key === 'sbom-spdx' ? 'MIT' : 'MIT;Apache-2.0');
  // unchanged since the last run
  const next = connect();
  expect((await readAll(next, table, 1_000, { since: new Date(clock.now()).toISOString() })).records).toEqual(
    [],
  );
  serve(write(COUNT - 1, 1), 60_000);
  const changed = await readAll(remote, table, 1_000, { fields, since: new Date(clock.now()).toISOString() });
  expect(changed.records).toHaveLength(COUNT - 1);
  serve({ ...write(1), [table]: undefined }, 120_000);
  expect((await failure(readAll(remote, table, 1_000))).code).toBe('bad_rows');
});
