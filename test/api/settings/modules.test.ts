import { createApp } from '../../../api/app.ts';
import { routesOf } from '../../../api/operation.ts';
import { settingReach } from '../../../domain/app/settings/settings.change.ts';
import { appPermissions } from '../../../domain/kernel/permissions/permissions.data.ts';
import {
  type SettingKey,
  secretMembers,
  settingDefaults,
} from '../../../domain/kernel/settings/settings.read.ts';
import { postFile } from '../../support/forms.ts';
import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import changes from './reach.changes.json' with { type: 'json' };

const { t, db, admin } = await openApp(['admin']);
const app = await createApp(t.services);
afterAll(() => app.close());
for (const permission of ['public', 'inventory.view'] as const) {
  routesOf(app, { tag: 'Health' }).get(`ofAModule${permission}`, `/api/v1/of-a-module/${permission}`, {
    summary: 'Read nothing',
    permission,
    module: 'grc',
    responses: { 204: { description: 'Nothing' } },
    handler: async ({ reply }) => reply.code(204).send(),
  });
}

await app.ready();
const ask = async (permission: string, token?: string) =>
  await app.inject({
    url: `/api/v1/of-a-module/${permission}`,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });

const turn = (path: string, enabled: boolean) => admin.patch(`/api/v1/settings/${path}`, { enabled });
it('switches the operations of a module off and on, from the next request on', async () => {
  expect((await ask('public')).statusCode).toBe(204);
  expect((await ask('inventory.view', admin.token)).statusCode).toBe(204);
  await turn('grc-enabled', false);
  for (const answer of [await ask('public'), await ask('inventory.view', admin.token)]) {
    expect(answer.statusCode).toBe(403);
    expect(answer.json()).toMatchObject({ code: 'module_disabled', module: 'grc' });
  }
  expect((await ask('inventory.view')).statusCode).toBe(401);
  await turn('grc-enabled', true);
  expect((await ask('inventory.view', admin.token)).statusCode).toBe(204);
  expect((await ask('inventory.view')).statusCode).toBe(401);
});

it('says in the description which module an operation belongs to, and how it is refused', () => {
  const document = app.swagger() as unknown as { paths: Record<string, Record<string, object>> };
  expect(document.paths['/api/v1/of-a-module/public']!.get).toMatchObject({
    'x-module': 'grc',
    'x-error-codes': ['module_disabled', 'too_many_requests', 'validation_failed'],
  });
});

it('switches uploads off, and leaves what was uploaded', async () => {
  const card = await admin.post('/api/v1/cards', { type: 'Application', name: 'Payroll' });
  const upload = () => postFile(admin, `/api/v1/cards/${card.body.id}/file-attachments`, 'note.txt', 'hello');
  const file = (await upload()).body;
  await turn('file-uploads-enabled', false);
  expect(await upload()).toMatchObject({
    status: 403,
    body: { code: 'module_disabled', module: 'file_uploads' },
  });
  expect((await admin.get(`/api/v1/file-attachments/${file.id}/download`)).text).toBe('hello');
  await turn('file-uploads-enabled', true);
  await ok(upload(), 201);
});

it('the BPM module takes processes and their relation types with it, and brings them back', async () => {
  const process = await admin.post('/api/v1/cards', { type: 'BusinessProcess', name: 'Order to cash' });
  const keys = async (path: string) =>
    pluck((await admin.get(`/api/v1/metamodel/${path}?page_size=200`)).body.items, 'key');
  const relationTypes = await keys('relation-types');
  expect(await keys('types')).toContain('BusinessProcess');

  expect((await turn('bpm-enabled', false)).body).toEqual({ enabled: false });
  expect(await keys('types')).not.toContain('BusinessProcess');
  expect((await keys('relation-types')).length).toBeLessThan(relationTypes.length);
  await expectProblem(admin.get(`/api/v1/cards/${process.body.id}`), 404);
  const told = await db('events')
    .whereIn('event_type', ['settings.updated', 'card_type.updated'])
    .orderBy('position', 'desc')
    .limit(2);
  expect(told.map(({ data }) => data.changes)).toEqual([
    { is_hidden: { old: false, new: true } },
    { value: { old: true, new: false } },
  ]);

  await turn('bpm-enabled', true);
  expect(await keys('relation-types')).toEqual(relationTypes);
  await ok(admin.get(`/api/v1/cards/${process.body.id}`));
});

/** May change settings, and nothing else. */
const keeper = await t.holding('admin.settings');

/** Holds every permission by its key, which is not the wildcard of administrators. */
const almost = await t.holding(...Object.keys(appPermissions));

const root = '/api/v1/settings';
const keys = Object.keys(settingDefaults) as SettingKey[];
/** One change of each member that reaches every account. */
const everyAccount: [string, string, object][] = changes as [string, string, object][];

describe('a change of a setting that leads to the rights of every account', () => {
  it('is tried here for each of them', () => {
    const declared = keys.flatMap((key) => {
      const reach = settingReach(key);
      if (typeof reach === 'string' || Array.isArray(reach)) return reach === 'every account' ? [key] : [];
      return Object.entries(reach).flatMap(([member, of]) => (of === 'every account' ? [member] : []));
    });
    expect(everyAccount.map(([, member]) => member).sort()).toEqual(declared.sort());
  });

  it('is refused for an address that is not connected to, after the rights', async () => {
    const port = { smtp_host: 'mail.estate.example', smtp_port: 6379 };
    await expectProblem(almost.patch(`${root}/email`, port), 403);
    const { status, body } = await admin.patch(`${root}/email`, port);
    expect([status, body.errors]).toEqual([
      422,
      [
        {
          field: 'smtp_port',
          code: 'refused_address',
          message: 'uses port 6379; OUTBOUND_ALLOW can allow it as host:port',
        },
      ],
    ]);
  });

  it.each(everyAccount)('%s %s needs the rights of administrators', async (path, _member, body) => {
    const before = (await admin.get(`${root}/${path}`)).body;
    for (const client of [keeper, almost])
      await expectProblem(client.patch(`${root}/${path}`, body), 403, 'forbidden');
    expect((await admin.get(`${root}/${path}`)).body).toEqual(before);
    await ok(admin.patch(`${root}/${path}`, body));
  });
});

it('states the reach of every secret', () => {
  for (const [key, secret] of Object.entries(secretMembers))
    expect(settingReach(key as SettingKey)).toMatchObject({ [secret]: 'every account' });
});

it('leaves what leads nowhere to whoever may change settings', async () => {
  for (const [path, body] of [
    ['login-branding', { login_help_text: 'Call 4711' }],
    ['ai', { tokens_per_run: 1_000 }],
    ['retention', { jobs_days: 30 }],
    ['notification-digest', { minutes: 30 }],
    // what is sent as it stands is no change
    ['email', { smtp_tls: (await admin.get(`${root}/email`)).body.smtp_tls }],
  ] as const) {
    await ok(keeper.patch(`${root}/${path}`, body));
  }
});

it('needs the permission that a setting leads to', async () => {
  const days = { days: 1 };
  await expectProblem(keeper.patch(`${root}/archive-retention-days`, days), 403, 'inventory.delete');
  const remover = await t.holding('admin.settings', 'inventory.delete');
  await ok(remover.patch(`${root}/archive-retention-days`, days));
  const hidden = await keeper.patch(`${root}/bpm-enabled`, { enabled: false });
  expect(hidden.body.permission).toBe('admin.metamodel');
  await expectProblem(keeper.patch(`${root}/eol-source`, { url: '' }), 403, 'eol.manage');
});

it('opens registration only with the rights of the role that newcomers get', async () => {
  const { enabled } = (await admin.get(`${root}/registration`)).body;
  const role = await db('roles').where({ is_default: true }).first('permissions');
  const equal = await t.holding('admin.settings', ...Object.keys(role.permissions));
  for (const wanted of [!enabled, enabled]) {
    await expectProblem(keeper.patch(`${root}/registration`, { enabled: wanted }), 403);
    await ok(equal.patch(`${root}/registration`, { enabled: wanted }));
  }
});

const origin = 'https://portal.example';
const preflight = async (url: string, from = origin) =>
  await t.app.inject({
    method: 'OPTIONS',
    url,
    headers: {
      origin: from,
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'authorization,content-type',
    },
  });

const read = (from: string) => t.app.inject({ url: '/api/v1/settings/currency', headers: { origin: from } });

it('is closed by default', async () => {
  const answer = await read(origin);
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  expect(answer.headers.vary).toBe('Origin');
  const asked = await preflight('/api/v1/settings/currency');
  expect(asked.statusCode).toBe(405);
  expect(asked.headers['access-control-allow-methods']).toBeUndefined();
  expect((await preflight('/api/v1/nowhere')).statusCode).toBe(404);
});

it('opens for the origins of the settings, and for no other', async () => {
  await admin.patch('/api/v1/settings/cors-origins', { origins: [origin] });
  const answer = await read(origin);
  expect(answer.headers['access-control-allow-origin']).toBe(origin);
  expect(answer.headers['access-control-expose-headers']).toContain('X-Position');
  expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  const asked = await preflight('/api/v1/cards');
  expect(asked.statusCode).toBe(204);
  expect(asked.headers).toMatchObject({
    'access-control-allow-origin': origin,
    'access-control-allow-methods': expect.stringContaining('PATCH'),
    'access-control-allow-headers': 'authorization,content-type',
  });
  for (const other of ['https://portal.example.evil.example', 'http://portal.example', 'null']) {
    expect((await read(other)).headers['access-control-allow-origin']).toBeUndefined();
    expect((await preflight('/api/v1/cards', other)).statusCode).toBe(405);
  }
  const refused = await t.app.inject({ url: '/api/v1/cards', headers: { origin } });
  expect(refused.statusCode).toBe(401);
  expect(refused.headers['access-control-allow-origin']).toBe(origin);
});

it('separates caches by language as well', async () => {
  const answer = await t.app.inject({
    url: '/api/v1/metamodel/types',
    headers: { authorization: `Bearer ${(await t.as('viewer')).token}` },
  });
  expect(answer.headers.vary).toBe('Origin, Accept-Language');
});
