import { serverCertificate } from '../../emulators/certificates.ts';
import { populate } from '../../emulators/itop/landscape.ts';
import { startItop } from '../../emulators/itop/server.ts';
import { closeAfterAll, expectInvalid, expectProblem, faults, openApp } from '../../support/harness.ts';
import { connectionInput } from '../../support/itsm.ts';

const base = '/api/v1/itsm-sync/connections';
const MASK = '********';

const { db, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const instance = closeAfterAll(
  await startItop({
    tls: serverCertificate,
    accounts: [
      { login: 'estate', token: 't-4711' },
      { login: 'reader', denied: new Set(['write FunctionalCI', 'read CMDBChangeOp']) },
    ],
  }),
);
populate(instance, { servers: 3, applications: 1 });

const access = { auth_type: 'token', token: 't-4711', time_zone: 'Europe/Paris' };
const input = (more: object = {}) => connectionInput('itop', instance.base, { ...access, ...more });
const create = async (more: object = {}): Promise<string> => (await admin.create(base, input(more))).id;
const basic = { auth_type: 'basic', token: undefined, username: 'reader', password: 'secret' };

it('is created with a path, a zone, and a token that is never returned', async () => {
  const made = await admin.post(base, input({ instance_url: `${instance.base}/` }));
  expect(made.body).toMatchObject({
    kind: 'itop',
    instance_url: instance.base,
    auth_type: 'token',
    token: MASK,
    password: null,
    time_zone: 'Europe/Paris',
  });
  const { id } = made.body;
  expect((await db('itsm_connections').where({ id }).first('secrets')).secrets).not.toContain('t-4711');
  const moved = admin.patch(`${base}/${id}`, { instance_url: 'https://example.com/web' });
  await expectInvalid(moved, 'token secret_needed');
  const changed = await admin.patch(`${base}/${id}`, basic);
  expect(changed.body).toMatchObject({ username: 'reader', token: null, password: MASK });
});

it.each([
  [{ time_zone: null }, 'time_zone', 'required'],
  [{ time_zone: 'Mars' }, 'time_zone', 'bad_time_zone'],
  [{ token: '' }, 'token', 'required'],
  [{ auth_type: 'oauth2' }, 'auth_type', 'not_offered'],
  [{ username: 'x' }, 'username', 'not_offered'],
  [{ instance_url: 'https://example.com/web?x=1' }, 'instance_url', 'format'],
  [{ new_records: { through: 'identification', data_source: 'x' } }, 'new_records.through', 'not_offered'],
  [
    { new_records: { through: 'reconciliation', keys: { 'no class': ['name'] } } },
    'new_records.keys.no class',
    'bad_value',
  ],
  [{ correlation_column: 'u_made_as' }, 'correlation_column', 'not_offered'],
  [{ kind: 'servicenow', instance_url: 'https://example.com', ...basic }, 'time_zone', 'not_offered'],
])('is refused with %j', async (more, field, code) => {
  const [status, , first] = await faults(admin.post(base, input(more)));
  expect([status, first]).toEqual([422, `${field} ${code}`]);
});

it('a test checks the rights of the account by class, and the zone', async () => {
  const test = async (more: object) => (await admin.post(`${base}/${await create(more)}/test`)).body;
  expect(await test({})).toMatchObject({ success: true, failure: null });
  const lacking = await test(basic);
  expect([lacking.success, lacking.message]).toEqual([true, expect.stringContaining('read CMDBChangeOp')]);
  const wrongZone = await test({ time_zone: 'UTC' });
  expect(wrongZone.success).toBe(false);
  expect(wrongZone.rights.find(({ table }: { table: string }) => table === 'CMDBChangeOp').how).toContain(
    'time_zone',
  );
  expect(await test({ token: 'wrong' })).toMatchObject({ success: false, failure: 'credentials_refused' });
});

it('lists classes and their attributes', async () => {
  const id = await create();
  const classes = await admin.get(`${base}/${id}/tables?search=server&page_size=200`);
  expect(classes.body.items).toContainEqual({ name: 'Server', label: 'Server', parent: 'DatacenterDevice' });
  const fields = await admin.get(`${base}/${id}/tables/Server/fields?page_size=200`);
  const owner = fields.body.items.find(({ name }: { name: string }) => name === 'org_id');
  expect(owner).toMatchObject({ type: 'reference', reference: 'Organization' });
  await expectProblem(admin.get(`${base}/${id}/tables/Nothing/fields`), 404);
  const refused = await admin.get(`${base}/${await create({ token: 'wrong' })}/tables`);
  expect([refused.status, refused.body.failure]).toEqual([502, 'credentials_refused']);
});
