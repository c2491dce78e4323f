import { totpCode } from '../../../domain/access/access.totp.ts';
import { changeSetting } from '../../../domain/app/settings/settings.change.ts';
import type { TestPerson } from '../../support/accounts.ts';
import { bearer, eventsOf, loginAs, password, person, unthrottled } from '../../support/accounts.ts';
import { answered, expectInvalid, expectProblem, ok, openApp } from '../../support/harness.ts';

const DAY = 24 * 60 * 60;
const next = 'another quiet horse';

const { t, db, admin } = await openApp(['admin']);

const isIn = async (token: string): Promise<boolean> =>
  (await t.anonymous.get('/api/v1/auth/me', bearer(token))).status === 200;

const change = async (who: TestPerson, token: string, body: object) => {
  await unthrottled(t);
  return await t.anonymous.patch(`/api/v1/users/${who.id}`, body, bearer(token));
};

const login = async (who: TestPerson): Promise<string> => (await loginAs(t, who)).body.access_token;

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

/** A token of a login that lies some seconds back. */
const loggedIn = async (who: TestPerson, secondsAgo: number): Promise<string> => {
  const { role, token_version: tv } = await db('users').where({ id: who.id }).first();
  const auth_time = Math.floor(Date.now() / 1000) - secondsAgo;
  return await t.app.jwt.sign({ sub: who.id, role, tv, jti: crypto.randomUUID(), auth_time });
};

test.each([
  ['password', { password: next }],
  ['address', { email: 'moved@estate.example' }],
])('the own %s needs the present password, and ends the other logins', async (_, patch) => {
  const who = await person(t, { role: 'admin' });
  const [first, second] = [await login(who), await login(who)];
  const without = await change(who, first, patch);
  expect([without.status, without.body.errors[0]]).toMatchObject([
    422,
    { field: 'current_password', code: 'required' },
  ]);
  const wrong = await change(who, first, { ...patch, current_password: 'not the password' });
  expect([wrong.status, wrong.body.errors[0]]).toMatchObject([
    422,
    { field: 'current_password', code: 'wrong' },
  ]);
  await expectProblem(change(who, first, { ...patch, code: '123456' }), 422);
  expect(await Promise.all([first, second].map(isIn))).toEqual([true, true]);
  const changed = await answered(change(who, first, { ...patch, current_password: password }));
  expect(await Promise.all([first, second].map(isIn))).toEqual([false, false]);
  expect(changed.headers['cache-control']).toBe('no-store');
  const { access_token } = changed.body;
  expect(await isIn(access_token)).toBe(true);
  expect(claimsOf(access_token).auth_time).toBe(claimsOf(first).auth_time);
});

test('a fresh token after an own change is no wider than a login would be', async () => {
  const who = await person(t, { role: 'admin' });
  const proof = { current_password: password };
  const old = await loggedIn(who, 30 * DAY - 600);
  const moved = await change(who, old, { ...proof, email: `${crypto.randomUUID()}@estate.example` });
  expect(moved.body.expires_in).toBeLessThanOrEqual(600);
  const { access_token } = moved.body;
  const named = await change(who, access_token, { display_name: 'Someone Else' });
  expect([named.status, 'access_token' in named.body]).toEqual([200, false]);
  const demoted = await change(who, access_token, { ...proof, password: next, role: 'viewer' });
  expect([demoted.status, 'access_token' in demoted.body]).toEqual([200, false]);
  expect(await isIn(access_token)).toBe(false);

  // of two changes at once, the login that the first one ended does not go on by the second
  const other = await person(t, { role: 'admin' });
  const logins = await Promise.all([login(other), login(other)]);
  const answers = await Promise.all(
    logins.map((token) => change(other, token, { ...proof, email: `${crypto.randomUUID()}@estate.example` })),
  );
  const going = answers.flatMap(({ body }) => body.access_token ?? []);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  expect(await Promise.all(going.map(isIn))).toEqual([true]);

  const require = async (required: boolean) =>
    changeSetting(await t.ctx(), t.services.secrets, 'two_factor_required', { required });
  await require(true);
  const late = await person(t);
  const token = await loggedIn(late, 60);
  expect((await change(late, token, { ...proof, password: next })).body.two_factor_setup_required).toBe(true);
  await require(false);
});

test('a code of the second factor takes the place of the password, once', async () => {
  const who = await person(t);
  const token = await login(who);
  const factor = '/api/v1/auth/two-factor';
  const { secret } = (await t.anonymous.post(factor, { password }, bearer(token))).body;
  const confirmed = await t.anonymous.post(`${factor}/confirm`, { code: totpCode(secret) }, bearer(token));
  const { access_token, recovery_codes } = confirmed.body;
  await expectInvalid(change(who, access_token, { password: next, code: totpCode(secret) }), 'code');
  await ok(change(who, access_token, { password: next, code: recovery_codes[0] }));
  await expectProblem(loginAs(t, who, { password: next, code: recovery_codes[0] }), 401);
  await ok(loginAs(t, who, { password: next, code: recovery_codes[1] }));
});

test('an account of single sign-on needs a login of the last five minutes', async () => {
  const who = await person(t, { role: 'admin', password_hash: null, auth_provider: 'sso' });
  const patch = { email: `${crypto.randomUUID()}@estate.example` };
  await expectProblem(change(who, await loggedIn(who, 6 * 60), patch), 403, 'recent_login_required');
  await ok(change(who, await loggedIn(who, 4 * 60), patch));
});

test('what is neither password, address nor provider needs no proof, and an administrator none of others', async () => {
  const who = await person(t);
  await ok(change(who, await login(who), { locale: 'de' }));
  const token = await login(who);
  await ok(admin.patch(`/api/v1/users/${who.id}`, { email: `${crypto.randomUUID()}@estate.example` }));
  expect(await isIn(token), 'the address ends the logins of its account').toBe(false);
});

test('an API token neither changes the own address nor tries passwords', async () => {
  const admin = await t.as('admin', 'by-token');
  const { token } = (await admin.post('/api/v1/tokens', { name: 'T' })).body;
  await expectProblem(
    t.anonymous.patch(`/api/v1/users/${admin.userId}`, { email: 'taken@estate.example' }, bearer(token)),
    403,
    'session_required',
  );
  // nor does it learn whether a password is the present one
  for (const current_password of [password, 'Some-0ther-password']) {
    await expectProblem(
      t.anonymous.patch(
        `/api/v1/users/${admin.userId}`,
        { email: 'taken@estate.example', current_password },
        bearer(token),
      ),
      403,
      'session_required',
    );
  }
  await expectProblem(
    t.anonymous.patch(
      `/scim/v2/Users/${admin.userId}`,
      {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
        Operations: [{ op: 'replace', path: 'emails[type eq "work"].value', value: 'taken@estate.example' }],
      },
      bearer(token),
    ),
    409,
  );
  expect(await db('users').where({ email: 'taken@estate.example' }).first()).toBeUndefined();
});

test('tokens live 24 hours and are refreshed for 30 days after the login', async () => {
  const who = await person(t, { role: 'admin' });
  const fresh = claimsOf(await login(who));
  expect([fresh.exp - fresh.iat, fresh.auth_time - fresh.iat]).toEqual([DAY, 0]);
  const old = await loggedIn(who, 30 * DAY - 600);
  const paths: [string, object | undefined][] = [
    ['refresh', undefined],
    ['impersonate', { role: 'viewer' }],
    ['stop-impersonating', undefined],
  ];
  for (const [path, body] of paths) {
    const answer = await t.anonymous.post(`/api/v1/auth/${path}`, body, bearer(old));
    expect([answer.status, answer.headers['cache-control']], path).toEqual([200, 'no-store']);
    const claims = claimsOf(answer.body.access_token);
    expect(claims.auth_time).toBe(claimsOf(old).auth_time);
    expect(claims.exp).toBeLessThanOrEqual(claims.auth_time + 30 * DAY + 1);
    expect(answer.body.expires_in).toBeLessThanOrEqual(600);
  }
  // a token of the time before names no login: its own time counts
  const { role, token_version: tv } = await db('users').where({ id: who.id }).first();
  const nameless = await t.app.jwt.sign({ sub: who.id, role, tv, jti: crypto.randomUUID() });
  const refreshed = await t.anonymous.post('/api/v1/auth/refresh', undefined, bearer(nameless));
  expect(claimsOf(refreshed.body.access_token).auth_time).toBe(claimsOf(nameless).iat);
});

test('a token that sets a second factor up leads to none that outlives the bound', async () => {
  const who = await person(t);
  const factor = '/api/v1/auth/two-factor';
  const old = await loggedIn(who, 30 * DAY - 600);
  const { secret } = (await t.anonymous.post(factor, { password }, bearer(old))).body;
  const confirmed = await t.anonymous.post(`${factor}/confirm`, { code: totpCode(secret) }, bearer(old));
  expect(confirmed.body.expires_in).toBeLessThanOrEqual(600);
  expect((await eventsOf(t, 'auth.two_factor_enabled')).at(-1).user_id).toBe(who.id);
});
