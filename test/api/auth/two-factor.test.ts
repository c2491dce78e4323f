import { totpCode } from '../../../domain/access/access.totp.ts';
import { storedKey } from '../../../domain/kernel/settings/settings.read.ts';
import type { TestPerson } from '../../support/accounts.ts';
import { bearer, eventsOf, loginAs, password, person, unthrottled } from '../../support/accounts.ts';
import { expectInvalid, expectProblem, ok, openApp } from '../../support/harness.ts';

const url = '/api/v1/auth/two-factor';
const STEP = 30_000;

const { t, db, admin, member } = await openApp(['member', 'admin']);

const post = async (path: string, token: string, body?: unknown) => {
  await unthrottled(t);
  return await t.anonymous.post(`${url}${path}`, body, bearer(token));
};

/** Whether the token still logs in. */
const isIn = async (token: string): Promise<boolean> =>
  (await t.anonymous.get('/api/v1/auth/me', bearer(token))).status === 200;

/** Somebody with a second factor in force; `used` is the code that put it into force. */
async function enrolled(): Promise<{
  who: TestPerson;
  token: string;
  /** The login before the second factor was in force. */
  before: string;
  secret: string;
  used: string;
  codes: string[];
}> {
  const who = await person(t);
  const token = (await loginAs(t, who)).body.access_token;
  const { secret } = (await post('', token, { password })).body;
  const used = totpCode(secret);
  const { access_token, recovery_codes } = await ok(post('/confirm', token, { code: used }));
  return { who, token: access_token, before: token, secret, used, codes: recovery_codes };
}

describe('setting up', () => {
  it('takes a password, shows the secret, and is in force with a code of it', async () => {
    const who = await person(t);
    const token = (await loginAs(t, who)).body.access_token;
    await expectInvalid(post('', token, { password: 'not the password' }), 'password');
    expect((await post('/confirm', token, { code: '123456' })).body.code).toBe('wrong_state');

    const begun = await post('', token, { password });
    expect(begun.body.otpauth_uri).toContain(`secret=${begun.body.secret}`);
    const stored = await db('two_factor').where({ user_id: who.id }).first();
    expect(JSON.stringify(stored)).not.toContain(begun.body.secret);
    expect((await loginAs(t, who)).status, 'not in force yet').toBe(200);
    // also of characters that are no digits, and longer in bytes
    for (const code of ['000000', 'äöüäöü']) await expectInvalid(post('/confirm', token, { code }), 'code');

    const confirmed = await post('/confirm', token, { code: totpCode(begun.body.secret) });
    expect(confirmed.body.recovery_codes).toHaveLength(10);
    const { body } = await t.anonymous.get(url, bearer(confirmed.body.access_token));
    expect(body).toMatchObject({ enabled: true, pending: false, required: false, recovery_codes_left: 10 });
    const codes = await db('recovery_codes').where({ user_id: who.id });
    expect(JSON.stringify(codes)).not.toContain(confirmed.body.recovery_codes[0].replaceAll('-', ''));
    expect((await eventsOf(t, 'auth.two_factor_enabled')).at(-1).user_id).toBe(who.id);
    const shown = await t.anonymous.get(`/api/v1/users/${who.id}`, bearer(confirmed.body.access_token));
    expect(shown.body.two_factor_enabled).toBe(true);
  });

  it('ends the other logins', async () => {
    const { before, token } = await enrolled();
    expect(await Promise.all([before, token].map(isIn))).toEqual([false, true]);
  });

  it('is not for accounts without a password', async () =>
    expect((await member.post(url, { password })).body.code).toBe('wrong_state'));

  it('of another one leaves the present one in force until it is confirmed', async () => {
    const { who, token, secret, codes } = await enrolled();
    expect((await post('', token, { password })).body.errors[0].field).toBe('code');
    const next = (await post('', token, { password, code: codes[0] })).body.secret;
    await ok(loginAs(t, who, { code: totpCode(secret, Date.now() + STEP) }));
    await ok(post('/confirm', token, { code: totpCode(next) }));
    const later = totpCode(secret, Date.now() + STEP);
    expect((await loginAs(t, who, { code: later })).body.code).toBe('two_factor_required');
    await ok(loginAs(t, who, { code: totpCode(next, Date.now() + STEP) }));
  });
});

describe('login', () => {
  it('asks for the code once the password is right, and takes no code twice', async () => {
    const { who, secret, used } = await enrolled();
    await expectProblem(loginAs(t, who), 401, 'two_factor_required');
    await expectProblem(loginAs(t, who, { code: used }), 401, 'two_factor_required');
    const code = totpCode(secret, Date.now() + STEP);
    await ok(loginAs(t, who, { code }));
    expect((await loginAs(t, who, { code })).status, 'replayed').toBe(401);
    const wrongPassword = await loginAs(t, who, { password: 'not the password', code });
    expect(wrongPassword.body.code).toBe('invalid_credentials');
  });

  it('takes a recovery code once, however it is typed, also from two at the same time', async () => {
    const { who, codes } = await enrolled();
    await ok(loginAs(t, who, { code: codes[0]!.toUpperCase().replaceAll('-', ' ') }));
    await expectProblem(loginAs(t, who, { code: codes[0] }), 401);
    const both = await Promise.all([1, 2].map(() => loginAs(t, who, { code: codes[1] })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  it('counts wrong codes like wrong passwords, and a password without a code does not forgive them', async () => {
    const { who, secret } = await enrolled();
    for (let n = 0; n < 4; n += 1) await loginAs(t, who, { code: '000000' });
    await loginAs(t, who);
    await loginAs(t, who, { code: '000000' });
    await expectProblem(
      loginAs(t, who, { code: totpCode(secret, Date.now() + STEP) }),
      401,
      'invalid_credentials',
    );
    expect((await eventsOf(t, 'auth.locked')).at(-1).user_id).toBe(who.id);
  });

  it('is open to the owner by password and code while strangers lock the account', async () => {
    const { who, secret, codes } = await enrolled();
    const alike = ({ status, body }: { status: number; body: object }) => ({
      status,
      ...body,
      request_id: '',
    });
    let wrong = await loginAs(t, who, { password: 'not the password' });
    for (let n = 1; n < 5; n += 1) wrong = await loginAs(t, who, { password: 'not the password' });
    // no answer says that the password is right
    for (const more of [{}, { code: '000000' }, { password: 'not the password', code: codes[0] }])
      expect(alike(await loginAs(t, who, more))).toEqual(alike(wrong));
    const code = totpCode(secret, Date.now() + STEP);
    await ok(loginAs(t, who, { code }));
    expect((await loginAs(t, who)).body.code, 'the lock is gone').toBe('two_factor_required');
  });

  it('counts wrong codes while the account is locked, too', async () => {
    const { who, codes } = await enrolled();
    await db('users')
      .where({ id: who.id })
      .update({ locked_until: new Date(Date.now() + 600_000) });
    for (let n = 0; n < 5; n += 1) await expectProblem(loginAs(t, who, { code: '000000' }), 401);
    expect((await loginAs(t, who, { code: codes[0] })).body.code).toBe('invalid_credentials');
  });

  it('is open to the owner by password and code while strangers use up the attempts for the account', async () => {
    const { who, secret } = await enrolled();
    await unthrottled(t);
    const login = (remoteAddress: string, more: object) =>
      t.anonymous.request({
        method: 'POST',
        url: '/api/v1/auth/login',
        remoteAddress,
        headers: { 'content-type': 'application/json' },
        payload: JSON.stringify({ email: who.email, password, ...more }),
      });
    for (let n = 1; n <= 11; n += 1) await login(`10.0.5.${n}`, { password: 'not the password' });
    await expectProblem(login('10.0.6.1', {}), 429);
    const code = totpCode(secret, Date.now() + STEP);
    await ok(login('10.0.6.2', { code }));
  });
});

describe('taking it away', () => {
  it('needs password and code, and ends the asking', async () => {
    const { who, token, codes } = await enrolled();
    await expectProblem(post('/disable', token, { password, code: 'nonsense' }), 422);
    await expectProblem(post('/disable', token, { password: 'wrong one here', code: codes[0] }), 422);
    const other = (await loginAs(t, who, { code: codes[1] })).body.access_token;
    const gone = await post('/disable', token, { password, code: codes[0] });
    expect([gone.status, gone.body.ok, gone.headers['cache-control']]).toEqual([200, true, 'no-store']);
    const fresh = gone.body.access_token;
    expect(await Promise.all([other, token, fresh].map(isIn))).toEqual([false, false, true]);
    await ok(loginAs(t, who));
    expect((await post('/disable', fresh, { password })).body.code).toBe('wrong_state');
    expect((await post('/recovery-codes', fresh, { password })).body.code).toBe('wrong_state');
  });

  it('gives new recovery codes in place of the old ones', async () => {
    const { who, token, codes } = await enrolled();
    const other = (await loginAs(t, who, { code: codes[2] })).body.access_token;
    const { body } = await post('/recovery-codes', token, { password, code: codes[0] });
    expect(await Promise.all([other, token, body.access_token].map(isIn))).toEqual([false, false, true]);
    await expectProblem(loginAs(t, who, { code: codes[1] }), 401);
    await ok(loginAs(t, who, { code: body.recovery_codes[0] }));
  });

  it('is done by an administrator for who has lost it, and ends the logins', async () => {
    const { who, token } = await enrolled();
    const reset = `/api/v1/accounts/${who.id}/two-factor`;
    await ok(admin.delete(reset), 204);
    await expectProblem(t.anonymous.get('/api/v1/auth/me', bearer(token)), 401);
    await ok(loginAs(t, who));
    expect((await admin.delete(reset)).body.code).toBe('wrong_state');
    await expectProblem(admin.delete(`/api/v1/accounts/${admin.userId}/two-factor`), 409, 'conflict');
    await expectProblem(
      admin.delete('/api/v1/accounts/00000000-0000-4000-8000-000000000000/two-factor'),
      404,
    );
    const manager = await t.holding('admin.users');
    await expectProblem(manager.delete(`/api/v1/accounts/${(await enrolled()).who.id}/two-factor`), 403);
  });
});

it('where the workspace demands it a login without one only serves to set it up', async () => {
  const key = storedKey('two_factor_required');
  await db('settings').insert({ key, value: 'true' });
  const login = await loginAs(t, await person(t));
  expect(login.body).toMatchObject({ two_factor_setup_required: true, expires_in: 900 });
  const token = login.body.access_token;
  const claims = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
  expect(claims.exp - claims.iat).toBeLessThanOrEqual(901);

  for (const path of ['/api/v1/cards', '/api/v1/users', '/api/v1/tokens'])
    expect((await t.anonymous.get(path, bearer(token))).status, path).toBe(401);
  await expectProblem(t.anonymous.post('/api/v1/auth/refresh', undefined, bearer(token)), 401);
  expect((await t.anonymous.get('/api/v1/auth/me', bearer(token))).body.permissions['inventory.view']).toBe(
    false,
  );
  const { secret } = (await post('', token, { password })).body;
  const confirmed = await post('/confirm', token, { code: totpCode(secret) });
  const whole = confirmed.body.access_token;
  await ok(t.anonymous.get('/api/v1/cards', bearer(whole)));
  const code = confirmed.body.recovery_codes[0];
  expect((await post('/disable', whole, { password, code })).body.code).toBe('wrong_state');
  await db('settings').where({ key }).delete();
});

it('where the workspace demands it a login from before only gets tokens to set one up', async () => {
  const token = (await loginAs(t, await person(t, { role: 'admin' }))).body.access_token;
  const enrolledBefore = await enrolled();
  const key = storedKey('two_factor_required');
  await db('settings').insert({ key, value: 'true' });
  const refreshed = await t.anonymous.post('/api/v1/auth/refresh', undefined, bearer(token));
  expect(refreshed.body).toMatchObject({ two_factor_setup_required: true, expires_in: 900 });
  const impersonating = await t.anonymous.post('/api/v1/auth/impersonate', { role: 'viewer' }, bearer(token));
  expect(impersonating.body).toMatchObject({ two_factor_setup_required: true });
  const stopped = await t.anonymous.post('/api/v1/auth/stop-impersonating', undefined, bearer(token));
  expect(stopped.body).toMatchObject({ two_factor_setup_required: true });
  for (const limited of [refreshed, impersonating, stopped])
    await expectProblem(t.anonymous.get('/api/v1/cards', bearer(limited.body.access_token)), 401);
  const whole = await t.anonymous.post('/api/v1/auth/refresh', undefined, bearer(enrolledBefore.token));
  expect(whole.body).not.toHaveProperty('two_factor_setup_required');
  await db('settings').where({ key }).delete();
});
