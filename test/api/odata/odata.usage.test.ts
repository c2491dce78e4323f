import { removeOldReads } from '../../../domain/exchange/odata/odata-reads.ts';
import { settingDefaults } from '../../../domain/kernel/settings/settings.read.ts';
import { expectProblem } from '../../support/harness.ts';
import { ask, createLandscape } from './odata.fixture.ts';

const { t, admin } = await createLandscape();
const { db } = t.services;

afterAll(() => t.close());

const usage = '/api/v1/metamodel/types/Application/usage';
const readers = async (query: string) => {
  const { consumers } = (await admin.get(`${usage}${query}`)).body;
  return consumers.filter(({ kind }: { kind: string }) => kind === 'odata');
};

it('counts what requests name, once a day, until 90 days later', async () => {
  expect(await readers('')).toEqual([]);
  expect((await ask(admin, '/Application', {})).status).toBe(200);
  expect(await readers('?field_key=timeModel')).toEqual([]);
  const [reader] = await readers('');
  expect(reader).toMatchObject({ id: admin.userId, owner: { id: admin.userId }, uses: ['type:Application'] });
  expect(reader.last_used_at.slice(0, 10)).toBe(new Date().toISOString().slice(0, 10));

  const options = {
    $select: 'name,timeModel',
    $filter: "numberOfUsers gt 1 or RelAppToITC/any(i:contains(i/name,'x'))",
    $orderby: 'costTotalAnnual',
  };
  expect((await ask(admin, '/Application', options)).status).toBe(200);
  const paths = await db('odata_reads').orderBy('path').pluck('path');
  expect(paths).toEqual(
    expect.arrayContaining([
      'field:Application.timeModel',
      'field:Application.numberOfUsers',
      'type:ITComponent',
    ]),
  );
  expect(paths).toContain('relation_type:relAppToITC');
  for (const key of ['timeModel', 'numberOfUsers', 'costTotalAnnual'])
    expect(await readers(`?field_key=${key}`)).toHaveLength(1);

  // the same again, in parallel, writes nothing
  const rows = () => db('odata_reads').select('path', db.raw('xmin::text as version')).orderBy('path');
  const before = await rows();
  await Promise.all([1, 2, 3].map(() => ask(admin, '/Application', options)));
  expect(await rows()).toEqual(before);
  expect((await ask(admin, '/Application', { $select: 'nope' })).status).toBe(400);
  expect(await rows()).toEqual(before);

  await db('odata_reads')
    .where({ path: 'field:Application.timeModel' })
    .update({ last_day: db.raw(`now() - interval '91 days'`) });
  expect(await readers('?field_key=timeModel')).toEqual([]);
  expect(await removeOldReads(db, settingDefaults.retention)).toBe(1);
});

it('protects a named field from removal, and names the token that has read it', async () => {
  const token = (
    await admin.post('/api/v1/tokens', { name: 'Power BI', scopes: ['inventory.view', 'inventory.export'] })
  ).body;
  const byToken = t.by(token.token, admin);
  expect((await ask(byToken, '/Application', { $select: 'timeModel' })).status).toBe(200);
  const named = (await readers('?field_key=timeModel')).map(({ name }: { name: string }) => name);
  expect(named).toContain(`Power BI (${token.token.slice(0, 8)}…)`);
  const { fields_schema } = (await admin.get('/api/v1/metamodel/types/Application')).body;
  const without = fields_schema.map((section: { fields: { key: string }[] }) => ({
    ...section,
    fields: section.fields.filter(({ key }) => key !== 'timeModel'),
  }));
  await expectProblem(admin.patch('/api/v1/metamodel/types/Application', { fields_schema: without }), 409);
});
