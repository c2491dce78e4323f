import { readSecret } from '../../../domain/kernel/settings/settings.read.ts';
import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { plainSettings } from '../../support/settings.ts';
import { startSmtp, useSmtp } from '../../support/smtp.ts';

const { t, db, admin, viewer } = await openApp(['admin', 'viewer'], { OUTBOUND_ALLOW: '127.0.0.1:*' });

const root = '/api/v1/settings';
const events = async () =>
  await db('events')
    .where('event_type', 'like', 'settings.%')
    .orderBy('position')
    .select('event_type', 'scope', 'data');
const lastEvent = async () => (await events()).at(-1);

describe.each(plainSettings.map((setting) => [setting.path, setting] as const))('%s', (path, setting) => {
  const url = `${root}/${path}`;
  const { member, example } = setting;

  it('is read by whom it concerns, and changed by administrators, with its event', async () => {
    const before = await admin.get(url);
    expect(Object.keys(before.body)).toEqual([member]);
    const open = await t.anonymous.get(url);
    if (setting.readableBy === 'public') {
      expect(open.body).toEqual(before.body);
      expect(open.headers['cache-control']).toBe('public, no-cache');
      await ok(t.anonymous.get(url, { 'if-none-match': open.headers.etag! }), 304);
    } else {
      expect(open.status).toBe(401);
      await expectProblem(viewer.get(url), 403, 'admin.settings');
    }

    // the switches are on already
    const value = before.body[member] === example ? !example : example;
    if (setting.key === 'registration_enabled') await useSmtp(t.services, 25);
    const answer = await admin.patch(url, { [member]: value }, { 'if-match': before.headers.etag! });
    expect(answer).toMatchObject({ status: 200, body: { [member]: value } });
    expect((await admin.get(url)).headers.etag).toBe(answer.headers.etag);
    expect(await lastEvent()).toEqual({
      event_type: 'settings.updated',
      scope: 'audit',
      data: { id: setting.key, first: true, changes: { value: { old: before.body[member], new: value } } },
    });
    const told = (await events()).length;
    await ok(admin.patch(url, { [member]: value }));
    expect((await events()).length).toBe(told);
  });

  it('is refused to others and in other forms', async () => {
    const before = (await admin.get(url)).body;
    await expectProblem(viewer.patch(url, { [member]: example }), 403, 'admin.settings');
    for (const body of [{ [member]: {} }, { other: 1 }, []]) await expectProblem(admin.patch(url, body), 422);
    expect((await admin.get(url)).body).toEqual(before);
  });
});

it.each([
  ['currency', { currency: 'eur' }, 'currency'],
  ['currency', { currency: 'ZZZ' }, 'currency'],
  ['date-format', { date_format: 'DD DD YYYY' }, 'date_format'],
  ['date-format', { date_format: 'dd.mm.yyyy' }, 'date_format'],
  ['app-title', { app_title: 'x'.repeat(65) }, 'app_title'],
  ['app-title', { app_title: 'two\nlines' }, 'app_title'],
  ['fiscal-year-start', { month: 13 }, 'month'],
  ['fiscal-year-start', { month: 0 }, 'month'],
  ['archive-retention-days', { days: -1 }, 'days'],
  ['archive-retention-days', { days: 1.5 }, 'days'],
  ['bpm-row-order', { row_order: ['core', 'core', 'support'] }, 'row_order'],
  ['bpm-row-order', { row_order: ['core', 'support'] }, 'row_order'],
  ['languages', { languages: [] }, 'languages'],
  ['languages', { languages: ['de', 'de'] }, 'languages'],
  ['languages', { languages: ['tlh'] }, 'languages.0'],
  ['cors-origins', { origins: ['*'] }, 'origins.0'],
  ['cors-origins', { origins: ['https://a.example', 'https://b.example/path'] }, 'origins.1'],
  ['cors-origins', { origins: ['null'] }, 'origins.0'],
  ['login-branding', { login_help_link: 'javascript:alert(1)' }, 'login_help_link'],
  ['login-branding', { login_tagline: 'x'.repeat(201) }, 'login_tagline'],
  ['email', { smtp_port: 0 }, 'smtp_port'],
  ['email', { smtp_host: 'mail example' }, 'smtp_host'],
  ['email', { smtp_host: '10.0.0.1' }, 'smtp_host'],
  ['email', { smtp_host: 'mail.internal' }, 'smtp_host'],
  ['eol-source', { url: 'https://10.0.0.1/api' }, 'url'],
  ['sso', { issuer_url: 'https://192.168.1.1' }, 'issuer_url'],
  ['sso', { token_endpoint: 'https://login.internal/token' }, 'token_endpoint'],
  ['ai', { provider_url: 'http://models.estate.example' }, 'provider_url'],
  ['ai', { search_url: 'https://search.internal' }, 'search_url'],
  ['email', { smtp_from: 'Estate <estate@estate.example>' }, 'smtp_from'],
  ['email', { app_base_url: 'ftp://estate.example' }, 'app_base_url'],
  ['sso', { provider: 'github' }, 'provider'],
  ['sso', { enabled: true, provider: 'oidc', issuer_url: 'https://login.example' }, 'client_id'],
  ['sso', { enabled: true, provider: 'oidc', client_id: 'estate' }, 'issuer_url'],
  ['sso', { enabled: true, provider: 'okta', client_id: 'estate' }, 'domain'],
  ['sso', { group_roles: [{ group: 'architects', role: 'nobody' }] }, 'group_roles.0.role'],
  ['sso', { token_endpoint: 'https://me:secret@login.example' }, 'token_endpoint'],
  ['ai', { provider_type: 'other' }, 'provider_type'],
  ['ai', { enabled_types: ['Application', 'Nothing'] }, 'enabled_types.1'],
  ['retention', { events_days: 399 }, 'events_days'],
  ['retention', { idempotency_hours: 23 }, 'idempotency_hours'],
  ['matching-vocabulary', { synonyms: [['ordering', 'orders'], ['one']] }, 'synonyms.1'],
  ['matching-vocabulary', { synonyms: [['ordering', '']] }, 'synonyms.0.1'],
  ['matching-vocabulary', { synonyms: [['ordering', ' - ']] }, 'synonyms.0.1'],
  ['matching-vocabulary', { synonyms: [['ordering', 'a b c d e']] }, 'synonyms.0.1'],
  ['matching-vocabulary', { synonyms: [['ordering', 'x'.repeat(61)]] }, 'synonyms.0.1'],
  ['matching-vocabulary', { synonyms: [['ordering', ' Ordering']] }, 'synonyms.0.1'],
  [
    'matching-vocabulary',
    {
      synonyms: [
        ['order management', 'ordering'],
        ['purchase', 'Order-Management', 'Bestellwesen'],
      ],
    },
    'synonyms.1.1',
  ],
  ['matching-vocabulary', { synonyms: [Array.from({ length: 21 }, (_, at) => `t${at}`)] }, 'synonyms.0'],
  ['matching-vocabulary', { vendors: ['Acme', '…'] }, 'vendors.1'],
  ['matching-vocabulary', { vendors: ['Acme', 'Quux', 'ACME'] }, 'vendors.2'],
  ['matching-vocabulary', { words: [] }, 'words'],
])('%s refuses %j', async (path, body, field) => {
  const before = await admin.get(`${root}/${path}`);
  const told = (await events()).length;
  const answer = await admin.patch(`${root}/${path}`, body);
  expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
  expect(new Set(pluck(answer.body.errors, 'field'))).toEqual(new Set([field]));
  expect((await admin.get(`${root}/${path}`)).body).toEqual(before.body);
  expect((await events()).length).toBe(told);
});

it('names both places of a repeated term', async () => {
  const url = `${root}/matching-vocabulary`;
  const synonyms = [
    ['order management', 'ordering'],
    ['purchase', 'Order-Management'],
  ];
  const { body } = await admin.patch(url, { synonyms });
  expect(body.errors).toEqual([
    { field: 'synonyms.1.1', code: 'repeated_term', message: 'is the same as synonyms.0.0' },
  ]);
});

it('stores a vocabulary, list by list', async () => {
  const url = `${root}/matching-vocabulary`;
  const synonyms = [['order management', 'ordering', 'Bestellwesen']];
  expect((await admin.get(url)).body).toEqual({ synonyms: [], vendors: [] });
  expect((await admin.patch(url, { synonyms })).body).toEqual({ synonyms, vendors: [] });
  expect((await admin.patch(url, { vendors: ['Acme'] })).body).toEqual({ synonyms, vendors: ['Acme'] });
  expect(await lastEvent()).toMatchObject({
    data: { id: 'matching_vocabulary', changes: { vendors: { old: [], new: ['Acme'] } } },
  });
  await expectProblem(viewer.patch(url, { vendors: [] }), 403, 'admin.settings');
  await ok(admin.patch(url, { synonyms: null, vendors: null }));
});

it('brings defaults back for null', async () => {
  await admin.patch(`${root}/currency`, { currency: 'CHF' });
  expect((await admin.patch(`${root}/currency`, { currency: null })).body).toEqual({ currency: 'USD' });
  await admin.patch(`${root}/email`, { smtp_from: 'ea@estate.example', smtp_port: 25 });
  const { body } = await admin.patch(`${root}/email`, { smtp_from: null });
  expect(body).toMatchObject({ smtp_from: 'noreply@localhost', smtp_port: 25 });
  await admin.patch(`${root}/email`, { smtp_port: null });
});

describe.each([
  ['email', 'smtp_password', { smtp_host: 'mail.estate.example' }],
  ['sso', 'client_secret', { client_id: 'estate' }],
  ['ai', 'api_key', { model: 'm' }],
] as const)('the secret of %s', (group, member, more) => {
  const url = `${root}/${group}`;
  const stored = () => readSecret(db, t.services.secrets, group);

  it('is kept sealed, shown masked, left by its mask and taken away by an empty text', async () => {
    expect((await admin.get(url)).body[member]).toBe('');
    const set = await admin.patch(url, { ...more, [member]: 'open sesame' });
    expect(set.body).toMatchObject({ ...more, [member]: '********' });
    expect(await stored()).toBe('open sesame');
    expect((await admin.patch(url, { [member]: '********' })).headers['x-position']).toBeUndefined();
    await admin.patch(url, set.body.configured === undefined ? set.body : { ...more });
    expect(await stored()).toBe('open sesame');
    expect((await admin.get(url)).body[member]).toBe('********');

    const kept = await db.raw(`select (select json_agg(s)::text
        from settings s) || (select json_agg(e)::text from events e) as text`);
    expect(kept.rows[0].text).not.toContain('sesame');

    expect((await admin.patch(url, { [member]: '' })).body[member]).toBe('');
    expect(await stored()).toBe('');
    expect(await lastEvent()).toMatchObject({
      event_type: 'settings.secret_changed',
      scope: 'audit',
      data: { id: `secret.${group}.${member}`, changes: { is_set: { old: true, new: false } } },
    });
  });
});

it.each([
  ['email', 'smtp_password', { smtp_host: 'mail.other.example' }],
  ['email', 'smtp_password', { smtp_host: null }],
  ['email', 'smtp_password', { smtp_port: 2525 }],
  ['sso', 'client_secret', { token_endpoint: 'https://other.example/token' }],
  ['sso', 'client_secret', { issuer_url: 'https://other.example' }],
  ['ai', 'api_key', { provider_url: 'https://other.example' }],
])(
  'the secret of %s is asked for again before %s goes to another server: %j',
  async (group, member, other) => {
    const url = `${root}/${group}`;
    const before = (await admin.patch(url, { [member]: 'open sesame' })).body;
    for (const body of [other, { ...other, [member]: '********' }])
      expect(await admin.patch(url, body)).toMatchObject({
        status: 422,
        body: { errors: [{ field: member, code: 'secret_needed' }] },
      });
    expect((await admin.get(url)).body).toEqual(before);
    const given = await admin.patch(url, { ...other, [member]: 'another secret' });
    expect(given).toMatchObject({ status: 200, body: { [member]: '********' } });
    const [name] = Object.keys(other);
    // without the secret there is nothing to tell anybody
    const back = await admin.patch(url, { [name!]: before[name!], [member]: null });
    expect(back).toMatchObject({ status: 200, body: { [member]: '' } });
  },
);

it('keeps what two change at once', async () => {
  await Promise.all([
    admin.patch(`${root}/login-branding`, { login_tagline: 'One map' }),
    admin.patch(`${root}/login-branding`, { login_help_text: 'Ask the architects' }),
    admin.patch(`${root}/login-branding`, { login_help_link: 'mailto:help@estate.example' }),
  ]);
  expect((await admin.get(`${root}/login-branding`)).body).toEqual({
    login_tagline: 'One map',
    login_tagline_hidden: false,
    login_help_text: 'Ask the architects',
    login_help_link: 'mailto:help@estate.example',
  });
});

it('keeps the switch of the MCP server with a permission of its own, and tells anybody how it stands', async () => {
  const url = `${root}/mcp`;
  await expectProblem(viewer.get(url), 403, 'admin.mcp');
  await expectProblem(viewer.patch(url, { enabled: true }), 403);
  expect((await admin.patch(url, {})).body).toEqual({ enabled: false, sso_configured: false });
  expect((await admin.patch(url, { enabled: true })).body).toEqual({ enabled: true, sso_configured: false });
  expect((await t.anonymous.get(`${url}/status`)).body).toEqual({ enabled: true, sso_configured: false });
  expect((await t.anonymous.get(`${root}/sso/status`)).body).toEqual({ enabled: false });
});

it('gives an application all that it starts with, and 304 until one part changes', async () => {
  const url = `${root}/bootstrap`;
  const before = await t.anonymous.get(url);
  expect(before.body).toMatchObject({
    currency: 'USD',
    bpm_row_order: expect.arrayContaining(['core']),
    languages: expect.arrayContaining(['en', 'de']),
    show_principles_tab: expect.any(Boolean),
    login_tagline: 'One map',
    smtp_configured: true,
  });
  expect(before.body.compliance_regulations[0]).toMatchObject({ key: 'eu_ai_act', sort_order: 10 });
  expect(pluck(before.body.resource_types, 'kind')).toContain('link_type');
  const known = { 'if-none-match': before.headers.etag! };
  await ok(t.anonymous.get(url, known), 304);

  await admin.patch(`${root}/currency`, { currency: 'NOK' });
  expect((await t.anonymous.get(url, known)).body.currency).toBe('NOK');
  const changed = await t.anonymous.get(url);
  await admin.post('/api/v1/metamodel/resource-types', {
    kind: 'link_type',
    key: 'runbook',
    label: 'Runbook',
  });
  const later = await t.anonymous.get(url, { 'if-none-match': changed.headers.etag! });
  expect(later.body.resource_types).toContainEqual(expect.objectContaining({ key: 'runbook' }));
});

it('closes registration while people log in through a provider', async () => {
  await useSmtp(t.services, 25);
  await admin.patch(`${root}/registration`, { enabled: true });
  const body = { email: 'new@estate.example', display_name: 'New', password: 'quite a long password' };
  await ok(t.anonymous.post('/api/v1/auth/register', body));
  await admin.patch(`${root}/sso`, {
    enabled: true,
    provider: 'google',
    client_id: 'estate',
    domain: 'estate.example',
  });
  expect((await t.anonymous.get(`${root}/sso/status`)).body).toEqual({ enabled: true });
  await expectProblem(t.anonymous.post('/api/v1/auth/register', body), 403, 'registration_closed');
  await admin.patch(`${root}/sso`, { enabled: false });
  await ok(t.anonymous.post('/api/v1/auth/register', body));
});

it.each([
  { provider: 'google' },
  { provider: 'microsoft', tenant_id: 'organizations' },
  { provider: 'microsoft', tenant_id: 'Common' },
  { provider: 'microsoft', tenant_id: '9188040d-6c67-4c5b-b112-36a304b66dad' },
  { provider: 'oidc', issuer_url: 'https://accounts.google.com' },
  { provider: 'oidc', issuer_url: 'https://login.microsoftonline.com/common/v2.0' },
  { provider: 'oidc', issuer_url: 'https://gitlab.com' },
])('lets nobody from anywhere in by a public provider: %j', async (provider) => {
  const none = { enabled: true, client_id: 'estate', domain: null, group_roles: null };
  const refused = await admin.patch(`${root}/sso`, { ...none, ...provider });
  expect([refused.status, refused.body.errors]).toMatchObject([422, [{ field: 'domain', code: 'required' }]]);
  for (const bound of [{ domain: 'estate.example' }, { group_roles: [{ group: 'a', role: 'viewer' }] }])
    await ok(admin.patch(`${root}/sso`, { ...none, ...provider, ...bound }));
  await admin.patch(`${root}/sso`, { enabled: false, domain: null, group_roles: null });
});

it('the tests send the caller a mail and report the response of the mail server', async () => {
  const url = `${root}/email/test`;
  await admin.patch(`${root}/email`, { smtp_host: null });
  expect((await admin.post(url)).body).toEqual({
    success: false,
    message: 'No mail server is configured; set one with PATCH /api/v1/settings/email.',
  });
  const smtp = await startSmtp({ user: 'estate', password: 'sesame' });
  try {
    await admin.patch(`${root}/email`, {
      smtp_host: '127.0.0.1',
      smtp_port: smtp.port,
      smtp_tls: false,
      smtp_user: 'estate',
      smtp_password: 'wrong',
    });
    expect((await admin.post(url)).body).toMatchObject({ success: false });
    await admin.patch(`${root}/email`, { smtp_password: 'sesame' });
    expect((await admin.post(url)).body).toMatchObject({ success: true });
    expect(smtp.mails).toMatchObject([{ to: [admin.email] }]);
  } finally {
    await smtp.close();
  }
  await expectProblem(viewer.post(url), 403);
});

it('the tries do not claim to have reached a provider of AI', async () => {
  await admin.patch(`${root}/ai`, { model: null });
  const { body } = await admin.post(`${root}/ai/test`);
  expect(body).toEqual({ success: false, message: 'No AI provider is configured.' });
  await expectProblem(viewer.post(`${root}/ai/test`), 403);
});
