import { readFileSync } from 'node:fs';
import path from 'node:path';
import { authority, serverCertificate } from '../../emulators/certificates.ts';
import { startLists } from '../../emulators/http-lists.ts';
import { startBackstage } from '../../emulators/sources/backstage.ts';
import { startGitHub } from '../../emulators/sources/github.ts';
import { startGraph } from '../../emulators/sources/graph.ts';
import { startOkta } from '../../emulators/sources/okta.ts';
import { cycloneDx, spdx } from '../../emulators/sources/sbom.ts';
import { startTokenEndpoint } from '../../emulators/token-endpoint.ts';
import { closeAfterAll, expectInvalid, ok, pluck, type TestResponse } from '../../support/harness.ts';
import { openSyncService, syncBase } from '../../support/itsm.ts';

const { db, admin, validate, runMapping } = await openSyncService();
const tls = serverCertificate;
const lists = closeAfterAll(await startLists({ tls }));
const endpoint = closeAfterAll(await startTokenEndpoint({ id: 'estate', secret: 'secret' }, { tls }));
const graph = closeAfterAll(
  await startGraph({ tls, accepts: (header) => endpoint.accepts(header.replace('Bearer ', '')) }),
);
const accepts = (header: string) => /^(SSWS|Bearer) token$/.test(header);
const okta = closeAfterAll(await startOkta({ tls, accepts }));
const backstage = closeAfterAll(await startBackstage({ tls, accepts }));
const gitHub = closeAfterAll(await startGitHub({ tls, accepts }, 'example'));

const { items: presets } = (await ok(admin.get(`${syncBase}/presets`))) as {
  items: TestResponse['body'][];
};
const presetOf = (key: string) => presets.find((preset) => preset.key === key);

/** Adds the fields that the mappings of a preset need. */
async function addFields(key: string): Promise<void> {
  for (const { card_type_key, ...field } of presetOf(key).card_fields) {
    const types = `/api/v1/metamodel/types/${card_type_key}`;
    const { fields_schema } = await ok(admin.get(types));
    const [first, ...others] = fields_schema;
    await ok(
      admin.patch(types, { fields_schema: [{ ...first, fields: [...first.fields, field] }, ...others] }),
    );
  }
}

/** Creates the connection and the mappings of a preset, and runs them. @returns the cards of the first mapping, by name. */
async function pull(key: string, connection: object): Promise<TestResponse['body'][]> {
  await addFields(key);
  const { id } = await ok(
    admin.post(`${syncBase}/connections`, { name: key, preset: key, ca: authority, ...connection }),
    201,
  );
  expect(await ok(admin.post(`${syncBase}/connections/${id}/test`))).toMatchObject({ success: true });
  const made: string[] = [];
  for (const mapping of presetOf(key).mappings) {
    const body = { ...mapping, connection_id: id, auto_apply: true };
    made.push((await ok(admin.post(`${syncBase}/mappings`, body), 201)).id);
  }
  for (const mapping of made) {
    expect(await validate(mapping)).toEqual([]);
    const run = await runMapping(mapping, 'pull');
    expect(run).toMatchObject({ status: 'completed', stats: { errors: 0 } });
    expect((await runMapping(mapping, 'pull', '?complete=true')).stats.planned).toEqual({});
  }
  return await db('cards')
    .whereIn('id', db('itsm_pairs').where({ mapping_id: made[0] }).select('card_id'))
    .orderBy('name');
}

it('Microsoft Entra ID: applications become cards, with the day of their last sign-in', async () => {
  for (const n of [1, 2])
    graph.put({ id: `o${n}`, appId: `a${n}`, displayName: `Entra ${n}`, description: `text ${n}` });
  graph.signIns = [{ appId: 'a2', lastSignInActivity: { lastSignInDateTime: '2026-01-04T08:00:00Z' } }];
  const { oauth } = presetOf('entra-applications').connection;
  const cards = await pull('entra-applications', {
    preset_parameters: { tenant: 'example.onmicrosoft.com' },
    instance_url: graph.base,
    oauth: { ...oauth, token_url: endpoint.url },
    client_id: 'estate',
    client_secret: 'secret',
  });
  expect(pluck(cards, 'name', 'external_id', 'description')).toEqual([
    ['Entra 1', 'a1', 'text 1'],
    ['Entra 2', 'a2', 'text 2'],
  ]);
  expect(cards.map(({ attributes }) => attributes.lastSignIn)).toEqual([undefined, '2026-01-04']);
}, 60_000);

it('Okta, Backstage and GitHub: their objects become applications', async () => {
  okta.apps = [
    { id: '0oa1', name: 'slack', label: 'Slack', status: 'ACTIVE', lastUpdated: '2026-01-04T08:00:00.000Z' },
    { id: '0oa2', name: 'zoom', label: 'Zoom', status: 'INACTIVE', lastUpdated: '2026-01-04T08:00:00.000Z' },
  ];
  const apps = await pull('okta-applications', { instance_url: okta.base, token: 'token' });
  expect(pluck(apps, 'name', 'external_id')).toEqual([
    ['Slack', '0oa1'],
    ['Zoom', '0oa2'],
  ]);

  backstage.entities = [
    {
      kind: 'Component',
      metadata: { uid: 'u1', name: 'website', namespace: 'default', description: 'Shop' },
    },
    { kind: 'System', metadata: { uid: 'u2', name: 'shop', namespace: 'default' } },
  ];
  const components = await pull('backstage-catalogue', { instance_url: backstage.base, token: 'token' });
  expect(pluck(components, 'name', 'external_id', 'subtype', 'description')).toEqual([
    ['website', 'component:default/website', 'microservice', 'Shop'],
  ]);

  gitHub.repositories = [
    {
      id: 'R_1',
      name: 'billing',
      nameWithOwner: 'example/billing',
      description: 'Bills',
      updatedAt: '2026-01-04T08:00:00Z',
    },
  ];
  const repositories = await pull('github-repositories', {
    preset_parameters: { organization: 'example' },
    instance_url: gitHub.base,
    token: 'token',
  });
  expect(pluck(repositories, 'name', 'external_id', 'description')).toEqual([
    ['example/billing', 'R_1', 'Bills'],
  ]);
}, 90_000);

it('SBOM: components have versions, and an end of life', async () => {
  const bom = cycloneDx(2) as { components: object[] };
  bom.components.push({
    type: 'application',
    'bom-ref': 'pg',
    name: 'PostgreSQL',
    version: '15.4',
    licenses: [],
  });
  lists.places.set('/sboms/shop.cdx.json', { body: JSON.stringify(bom) });
  lists.places.set('/sboms/shop.spdx.json', { body: JSON.stringify(spdx(2, 50)) });
  const host = `${lists.base.replace('https://', '')}/sboms`;
  const components = await pull('sbom-cyclonedx', { preset_parameters: { host, file: 'shop.cdx.json' } });
  expect(
    components.map(({ name, attributes }) => [name, attributes.version, attributes.licenseType]),
  ).toEqual([
    ['@example lib-0 1.0.0', '1.0.0', 'MIT;Apache-2.0'],
    ['PostgreSQL 15.4', '15.4', undefined],
    ['lib-1 1.1.0', '1.1.0', 'MIT'],
  ]);
  const packages = await pull('sbom-spdx', { preset_parameters: { host, file: 'shop.spdx.json' } });
  expect(packages.map(({ name, lifecycle }) => [name, lifecycle?.endOfLife])).toEqual([
    ['lib-50 1.50.0', '2027-06-30'],
    ['lib-51 1.51.0', undefined],
  ]);

  const search = '/api/v1/eol/mass-search?type_key=ITComponent&search=postgresql';
  const [found] = (await ok(admin.post(search))).items;
  const { eol_product, eol_cycle } = found.candidates[0];
  expect([eol_product, eol_cycle]).toEqual(['postgresql', '15']);
  await ok(admin.post('/api/v1/eol/mass-link', [{ card_id: found.card_id, eol_product, eol_cycle }]));
  const report = await ok(admin.get('/api/v1/reports/eol?days=3650'));
  expect(JSON.stringify(report)).toContain('PostgreSQL 15.4');
  expect(JSON.stringify(report)).toContain('lib-50 1.50.0');
}, 60_000);

it('a preset needs its parameters, and its members can be replaced', async () => {
  const create = (more: object) => admin.post(`${syncBase}/connections`, { name: 'x', token: 'x', ...more });
  await expectInvalid(create({ preset: 'unknown' }), 'preset unknown_option');
  await expectInvalid(create({ preset: 'okta-applications' }), 'preset_parameters.domain required');
  for (const tenant of ['../../evil', 'a/b', 'example', '..', '.com', 'a..b', 'x.com:443', '0-0'])
    await expectInvalid(
      create({ preset: 'entra-applications', preset_parameters: { tenant } }),
      'preset_parameters.tenant format',
    );
  const domain = {
    preset_parameters: { domain: 'example.okta.com', more: 'x' },
    preset: 'okta-applications',
  };
  await expectInvalid(create(domain), 'preset_parameters.more unknown_option');
  await expectInvalid(create({ preset_parameters: { domain: 'x' } }), 'preset_parameters not_offered');
  const sources = [{ name: 'a', path: 'a', format: 'json', key: 'id' }];
  await expectInvalid(create({ kind: 'http', token: undefined, sources }), 'instance_url required');
});

const guide = readFileSync(
  path.resolve(import.meta.dirname, '../../../docs/integrations/http-guide.md'),
  'utf8',
);
/** The body of the request that the guide shows for a path. */
const shown = (request: string) => {
  const [, body] = new RegExp(`POST /api/v1/itsm-sync/${request}\\n([^\`]+)`).exec(guide)!;
  return JSON.parse(body!.replaceAll('https://api.example.com', lists.base));
};

it('the guide connects a source that is only known by its documentation', async () => {
  const services = Array.from({ length: 250 }, (_, n) => ({
    id: n,
    attributes: { title: `Service ${n}`, changed: '2026-01-05T08:00:00Z' },
    owners: [{ mail: 'a@example.com' }],
  }));
  lists.places.set('/v2/services', (query, { headers }) => {
    if (headers['x-api-key'] !== '…' && headers['x-api-key'] !== 'key') return { status: 401, body: {} };
    const offset = Number(query.get('offset'));
    const limit = Number(query.get('limit'));
    return { body: { data: services.slice(offset, offset + Math.min(limit, 100)), total: services.length } };
  });
  const connection = await ok(
    admin.post(`${syncBase}/connections`, { ...shown('connections'), token: 'key', ca: authority }),
    201,
  );
  expect(await ok(admin.post(`${syncBase}/connections/${connection.id}/test`))).toMatchObject({
    success: true,
  });
  const fields = await ok(admin.get(`${syncBase}/connections/${connection.id}/tables/services/fields`));
  expect(pluck(fields.items, 'name')).toEqual(
    expect.arrayContaining(['id', 'attributes.title', 'attributes.changed', 'owners.mail']),
  );
  const body = { ...shown('mappings'), connection_id: connection.id, auto_apply: true };
  const mapping = await ok(admin.post(`${syncBase}/mappings`, body), 201);
  expect(await runMapping(mapping.id, 'pull')).toMatchObject({
    status: 'completed',
    stats: { created: 250 },
  });
  expect((await db('cards').where({ external_id: '249' }).first()).name).toBe('Service 249');
}, 60_000);
