import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { resetAdministrator } from '../../../domain/access/admin-reset.ts';
import { changeSetting } from '../../../domain/app/settings/settings.change.ts';
import { bearer, eventsOf, loginAs, password, person, unthrottled } from '../../support/accounts.ts';
import { isIn, openBrowser } from '../../support/browser.ts';
import { closeAfterAll, expectProblem, ok, openApp } from '../../support/harness.ts';
import type { ProviderPerson } from '../../support/oidc.ts';
import { lyingProvider, REDIRECT, startProvider, useProvider } from '../../support/oidc.ts';

const { t, db } = await openApp([], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const provider = closeAfterAll(await startProvider());
await t.as('admin');

beforeEach(async () => {
  await unthrottled(t);
  await useProvider(t, provider);
});

const url = '/api/v1/auth/sso';
const start = () => t.anonymous.post(`${url}/start`, { redirect_uri: REDIRECT });
const callback = (answer: object) =>
  t.anonymous.post(`${url}/callback`, { ...answer, redirect_uri: REDIRECT });

/** Somebody at the provider. @returns the subject. */
function known(values: ProviderPerson = {}): string {
  const subject = randomUUID();
  provider.people.set(subject, {
    email: `${subject}@estate.example`,
    email_verified: true,
    name: 'Ada Lovelace',
    ...values,
  });
  return subject;
}

async function login(subject: string) {
  return await callback(await provider.login((await ok(start())).authorization_url, subject));
}

const me = async (token: string) => (await t.anonymous.get('/api/v1/auth/me', bearer(token))).body;

describe('a login through the provider', () => {
  it('is one by cookie for the web interface', async () => {
    const browser = openBrowser(t);
    const begun = await ok(browser.send('POST', `${url}/start`, { redirect_uri: REDIRECT }));
    const answer = { ...(await provider.login(begun.authorization_url, known())), redirect_uri: REDIRECT };
    expect((await ok(browser.send('POST', `${url}/callback`, answer))).token_type).toBe('cookie');
    expect(await isIn(browser)).toBe(true);
  });

  it('makes the account at the first time, and finds it by the subject later', async () => {
    const subject = known();
    const account = await me((await ok(login(subject))).access_token);
    expect(account).toMatchObject({
      email: `${subject}@estate.example`,
      display_name: 'Ada Lovelace',
      role: 'member',
    });
    provider.people.set(subject, { email: 'other@estate.example', email_verified: false });
    expect((await me((await login(subject)).body.access_token)).id).toBe(account.id);
    const linked = (await eventsOf(t, 'auth.identity_linked')).at(-1);
    expect(linked).toMatchObject({ user_id: account.id, data: { issuer: provider.issuer } });
    expect((await eventsOf(t, 'auth.login')).at(-1)).toMatchObject({
      user_id: account.id,
      data: { provider: provider.issuer },
    });
    const row = await db('users').where({ id: account.id }).first();
    expect([row.auth_provider, row.password_hash]).toEqual(['sso', null]);
  });

  it('leaves the second factor to the provider, and shows the identity among the personal data', async () => {
    const ctx = await t.ctx();
    await changeSetting(ctx, t.services.secrets, 'two_factor_required', { required: true });
    const subject = known();
    const { body } = await login(subject);
    expect(body.two_factor_setup_required).toBeUndefined();
    const { id } = await me(body.access_token);
    await changeSetting(ctx, t.services.secrets, 'two_factor_required', { required: false });
    const data = await t.anonymous.get(`/api/v1/accounts/${id}/personal-data`, bearer(body.access_token));
    expect(data.body.identities).toMatchObject([{ issuer: provider.issuer, subject }]);
  });

  it('sends the challenge, a nonce and the state, and keeps the verifier to itself', async () => {
    const { body } = await start();
    const { searchParams } = new URL(body.authorization_url);
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    expect(searchParams.get('state')).toBe(body.state);
    expect(searchParams.get('nonce')).toMatch(/^[\w-]{43}$/);
    const kept = await db('one_time_tokens').where({ purpose: 'sso-login' });
    expect(JSON.stringify(kept)).not.toContain(body.state);
    expect(JSON.stringify(kept)).not.toContain('verifier');
  });

  it('takes an answer once', async () => {
    const answer = await provider.login((await start()).body.authorization_url, known());
    await ok(callback(answer));
    expect((await callback(answer)).body.code).toBe('invalid_credentials');
  });

  it('refuses the code of another login, which the nonce and the verifier do not fit', async () => {
    const [one, other] = [await start(), await start()];
    const answer = await provider.login(one.body.authorization_url, known());
    await expectProblem(callback({ ...answer, state: other.body.state }), 401, 'invalid_credentials');
  });

  it('refuses unknown and old states, other issuers, and codes of nobody', async () => {
    await expectProblem(callback({ code: 'x', state: 'unknown' }), 401);
    const answer = await provider.login((await start()).body.authorization_url, known());
    await db('one_time_tokens').where({ purpose: 'sso-login' }).update('expires_at', new Date(0));
    await expectProblem(callback(answer), 401);
    const real = await provider.login((await start()).body.authorization_url, known());
    await expectProblem(callback({ ...real, iss: 'https://other.example' }), 401);
    const again = await start();
    const iss = provider.issuer;
    await expectProblem(callback({ code: 'made-up', state: again.body.state, iss }), 401);
  });

  it('refuses addresses that are not the application’s', async () => {
    for (const redirect_uri of ['https://evil.example/login', `${REDIRECT}/../x`, 'javascript:alert(1)']) {
      const answer = await t.anonymous.post(`${url}/start`, { redirect_uri });
      expect([answer.status, answer.body.errors?.[0].field]).toEqual([422, 'redirect_uri']);
    }
    await expectProblem(t.anonymous.post(`${url}/callback`, { code: 'x', redirect_uri: REDIRECT }), 422);
  });

  it('goes on when the provider signs with another key', async () => {
    const subject = known();
    await ok(login(subject));
    provider.rotate();
    await ok(login(subject));
  });
});

describe('who is let in', () => {
  it('links an account that waits for it, and no other with the same address', async () => {
    const waiting = await person(t, { auth_provider: 'sso', password_hash: null, role: 'viewer' });
    const answer = await login(known({ email: waiting.email.toUpperCase() }));
    expect(await me(answer.body.access_token)).toMatchObject({ id: waiting.id, role: 'viewer' });
    await expectProblem(login(known({ email: waiting.email })), 403, 'sso_refused');
    const local = await person(t);
    expect((await login(known({ email: local.email }))).body.code).toBe('sso_refused');
    expect(await db('sso_identities').where({ user_id: local.id })).toEqual([]);
    expect((await eventsOf(t, 'auth.login_failed')).at(-1)?.data).toMatchObject({ reason: 'taken' });
  });

  it('lets in nobody whose address the provider does not vouch for', async () => {
    const waiting = await person(t, { auth_provider: 'sso', password_hash: null });
    for (const email_verified of [false, undefined]) {
      const subject = known({
        email: waiting.email,
        ...(email_verified === false ? { email_verified } : {}),
      });
      if (email_verified === undefined) delete provider.people.get(subject)!.email_verified;
      expect((await login(subject)).body.code).toBe('sso_refused');
    }
  });

  it('keeps out the deactivated, and whoever is of another domain', async () => {
    const subject = known();
    const { id } = await me((await login(subject)).body.access_token);
    await db('users').where({ id }).update({ is_active: false });
    expect((await login(subject)).body.code).toBe('sso_refused');
    await useProvider(t, provider, { domain: 'other.example' });
    expect((await login(known())).body.code).toBe('sso_refused');
    expect((await login(known({ email: `${randomUUID()}@evil-other.example` }))).body.code).toBe(
      'sso_refused',
    );
    await useProvider(t, provider, { domain: '' });
  });
});

it('roles by groups follow the groups at every login, the first in the settings’ list', async () => {
  const group_roles = [
    { group: 'architects', role: 'admin' },
    { group: 'readers', role: 'viewer' },
  ];
  await useProvider(t, provider, { group_roles });
  const subject = known({ groups: ['readers', 'architects'] });
  const admin = await login(subject);
  expect((await me(admin.body.access_token)).role).toBe('admin');
  provider.people.get(subject)!.groups = ['readers'];
  expect((await me((await login(subject)).body.access_token)).role).toBe('viewer');
  // what was logged in as administrator has ended
  await expectProblem(t.anonymous.get('/api/v1/auth/me', bearer(admin.body.access_token)), 401);
  provider.people.get(subject)!.groups = [];
  expect((await me((await login(subject)).body.access_token)).role).toBe('member');
});

it('group roles of who may change settings alone are refused, and logins stay as before', async () => {
  const subject = known({ groups: ['everybody'] });
  const before = await me((await login(subject)).body.access_token);
  const keeper = await t.holding('admin.settings');
  for (const role of ['admin', 'viewer'])
    await expectProblem(
      keeper.patch('/api/v1/settings/sso', { group_roles: [{ group: 'everybody', role }] }),
      403,
      'forbidden',
    );
  const after = await me((await login(subject)).body.access_token);
  expect([before.role, after.role]).toEqual(['member', 'member']);
});

describe('an ID token', () => {
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const old = Math.floor(Date.now() / 1000) - 3600;

  it.each<[string, object, KeyObject?]>([
    ['another nonce', { nonce: 'another' }],
    ['no nonce', { nonce: undefined }],
    ['another audience', { aud: 'another' }],
    ['another authorized party', { azp: 'another' }],
    ['another issuer', { iss: 'https://other.example' }],
    ['an end that has passed', { iat: old, exp: old + 60 }],
    ['another’s signature', {}, stranger],
  ])('with %s is refused', async (_, claims, signer) => {
    const begun = await start();
    const nonce = new URL(begun.body.authorization_url).searchParams.get('nonce');
    const vouched = { nonce, email: 'liar@estate.example', email_verified: true };
    provider.replace(lyingProvider(provider.issuer, { ...vouched, ...claims }, signer));
    const answer = await callback({ code: 'any', state: begun.body.state });
    provider.rotate();
    await expectProblem(answer, 401, 'invalid_credentials');
  });

  it('that is right in all of this logs in', async () => {
    const begun = await start();
    const nonce = new URL(begun.body.authorization_url).searchParams.get('nonce');
    const claims = { nonce, email: 'honest@estate.example', email_verified: true };
    provider.replace(lyingProvider(provider.issuer, claims));
    const answer = await callback({ code: 'any', state: begun.body.state });
    provider.rotate();
    expect(answer.status).toBe(200);
  });
});

it.each<[string, object]>([
  ['a subject over 255 characters', { sub: 'x'.repeat(256) }],
  ['a NUL in the subject', { sub: 'a\0b' }],
  ['a NUL in the e-mail address', { email: 'a\0b@estate.example' }],
  ['an e-mail address over 320 characters', { email: `${'x'.repeat(320)}@estate.example` }],
  ['a NUL in the name', { name: 'Ada\0' }],
  ['an empty subject', { sub: '' }],
  ['a line break in the e-mail address', { email: 'ada@estate.example\r\nBcc: x@estate.example' }],
  ['an e-mail address that begins with a blank', { email: ' ada@estate.example' }],
])('an account that cannot be stored with %s is refused', async (_, claims) => {
  const begun = await start();
  const nonce = new URL(begun.body.authorization_url).searchParams.get('nonce');
  const vouched = { nonce, email: 'odd@estate.example', email_verified: true };
  provider.replace(lyingProvider(provider.issuer, { ...vouched, ...claims }));
  const answer = await callback({ code: 'any', state: begun.body.state });
  provider.rotate();
  expect(answer.body.code).toBe('sso_refused');
});

it('errors of a provider are reported as such, and stop nothing else', async () => {
  const answer = await provider.login((await start()).body.authorization_url, known());
  provider.replace((_request, response) => response.writeHead(500).end('oops'));
  for (const bad of [await start(), await callback(answer)]) {
    await expectProblem(bad, 502, 'upstream_failed');
    expect(bad.text).not.toContain('127.0.0.1');
  }
  provider.replace((_request, response) => response.end('{"issuer": "https://other.example"}'));
  expect((await start()).body.code).toBe('upstream_failed');
  provider.replace(() => undefined);
  expect((await start()).body.code).toBe('upstream_failed');
  provider.rotate();
  await ok(start());
});

describe('passwords, where people log in through the provider', () => {
  it('are refused, but for an administrator who was just reset', async () => {
    const somebody = await person(t);
    expect((await loginAs(t, somebody)).body.code).toBe('sso_required');
    await expectProblem(
      t.anonymous.post('/api/v1/auth/forgot-password', { email: somebody.email }),
      403,
      'sso_required',
    );
    const reset = await t.anonymous.post('/api/v1/auth/reset-password', { token: 'x', password });
    expect(reset.body.code).toBe('sso_required');
    const admin = await person(t, { role: 'admin' });
    await resetAdministrator(await t.ctx(), admin.email, password);
    await ok(loginAs(t, admin));
    await db('users').where({ id: admin.id }).update('password_login_until', new Date(0));
    expect((await loginAs(t, admin)).body.code).toBe('sso_required');
  });

  it('are taken, and the provider is not asked, once it is switched off', async () => {
    expect((await t.anonymous.get(`${url}/config`)).body).toMatchObject({
      enabled: true,
      registration_enabled: false,
      provider: 'oidc',
      client_id: 'estate',
    });
    await useProvider(t, provider, { enabled: false });
    const { body } = await t.anonymous.get(`${url}/config`);
    expect(body).toEqual({ enabled: false, registration_enabled: false });
    await ok(loginAs(t, await person(t)));
    expect((await start()).body.code).toBe('wrong_state');
    expect((await callback({ code: 'x', state: 'y' })).body.code).toBe('wrong_state');
  });
});
