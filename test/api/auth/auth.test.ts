import { createApp } from '../../../api/app.ts';
import { issueSetupToken } from '../../../domain/access/access.register.ts';
import { person } from '../../support/accounts.ts';
import { endWaiting } from '../../support/database.ts';
import { answered, expectInvalid, expectProblem, ok, openApp, pluck } from '../../support/harness.ts';

const password = 'a quiet horse on the hill';

const { t, db } = await openApp();

const auditTypes = async () =>
  (await db('events').where({ scope: 'audit' }).orderBy('position').pluck('event_type')) as string[];

describe('registration', () => {
  it('issues the set-up token although its connection is lost while it waits for a lock', async () => {
    const writer = await db.transaction();
    await writer.raw('lock table one_time_tokens');
    const issued = issueSetupToken(db);
    await endWaiting(db);
    await writer.commit();
    expect(await issued).toEqual(expect.any(String));
  });

  it('lets the first user in only with the set-up token, and makes them administrator', async () => {
    const account = { email: 'first@estate.example', display_name: 'First', password };
    await expectInvalid(t.anonymous.post('/api/v1/auth/register', account), 'setup_token');
    await expectProblem(t.anonymous.post('/api/v1/auth/register', { ...account, setup_token: 'guess' }), 422);
    const setup_token = await issueSetupToken(db);
    const done = await ok(t.anonymous.post('/api/v1/auth/register', { ...account, setup_token }));
    const me = await t.anonymous.get('/api/v1/auth/me', { authorization: `Bearer ${done.access_token}` });
    expect(me.body).toMatchObject({ email: account.email, role: 'admin', permissions: { '*': true } });
    expect(await issueSetupToken(db)).toBeUndefined();
  });

  it('refuses weak passwords', async () => {
    for (const weak of ['short', 'Password1234', 'aaaaaaaaaaaaaa', 'third@estate.example', 'x'.repeat(201)]) {
      await db('throttles').delete();
      await expectInvalid(
        t.anonymous.post('/api/v1/auth/register', {
          email: 'third@estate.example',
          display_name: 'Third',
          password: weak,
        }),
        'password',
      );
    }
  });
});

describe('login', () => {
  beforeAll(() => person(t, { email: 'second@estate.example' }));

  const attempt = (email: string, word: string, address = '10.0.0.1') =>
    t.anonymous.request({
      method: 'POST',
      url: '/api/v1/auth/login',
      remoteAddress: address,
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify({ email, password: word }),
    });

  it('answers a token for the right password and alike for wrong and unknown', async () => {
    await ok(attempt('SECOND@estate.example', password));
    const wrong = await attempt('second@estate.example', 'not the password at all');
    for (const answer of [wrong, await attempt('nobody@estate.example', 'not the password at all')]) {
      expect(answer.status).toBe(401);
      expect({ ...answer.body, request_id: '' }).toEqual({ ...wrong.body, request_id: '' });
    }
  });

  it('locks after five wrong passwords, also for the right one, and tells the audit log', async () => {
    await db('throttles').delete();
    await attempt('second@estate.example', password);
    for (let n = 0; n < 5; n += 1)
      await expectProblem(attempt('second@estate.example', `wrong ${n}`, `10.0.1.${n}`), 401);
    await expectProblem(attempt('second@estate.example', password, '10.0.1.9'), 401, 'invalid_credentials');
    expect(await auditTypes()).toContain('auth.locked');
    await db('users').update({ locked_until: db.raw(`now() - interval '1 second'`) });
    await ok(attempt('second@estate.example', password, '10.0.1.9'));
  });

  it('throttles by address and by account name, known or not', async () => {
    await db('throttles').delete();
    let last = await attempt('ghost-0@estate.example', 'x', '10.0.2.1');
    for (let n = 1; n <= 10; n += 1) last = await attempt(`ghost-${n}@estate.example`, 'x', '10.0.2.1');
    await expectProblem(last, 429, 'too_many_requests');
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
    await db('throttles').delete();
    for (let n = 0; n <= 10; n += 1) last = await attempt(`six-${n}@estate.example`, 'x', `2001:db8::${n}:1`);
    expect(last.status, 'one network of IPv6').toBe(429);
    await expectProblem(attempt('six@estate.example', 'x', '2001:db8:0:1::1'), 401);
    for (let n = 0; n <= 10; n += 1) last = await attempt('same-ghost@estate.example', 'x', `10.0.3.${n}`);
    expect(last.status).toBe(429);
    await db('throttles').delete();
  });
});

describe('tokens', () => {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const login = async () =>
    (await t.anonymous.post('/api/v1/auth/login', { email: 'second@estate.example', password })).body
      .access_token;

  it('refuses missing, malformed, altered, foreign and expired tokens with 401', async () => {
    const token: string = await login();
    const [head, body] = token.split('.');
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
    const expired = await t.app.jwt.sign(
      {
        sub: '00000000-0000-4000-8000-000000000000',
        tv: 1,
        jti: '00000000-0000-4000-8000-000000000000',
        role: 'admin',
      },
      { expiresIn: -10 } as never,
    );
    for (const bad of ['x', `${head}.${body}.`, `${none}.${body}.`, `${token.slice(0, -4)}AAAA`, expired])
      await expectProblem(t.anonymous.get('/api/v1/auth/me', bearer(bad)), 401, 'unauthorized');
    await expectProblem(t.anonymous.get('/api/v1/auth/me', { authorization: 'Basic eDp5' }), 401);
  });

  it('ends a token at logout only, while a refreshed one stays', async () => {
    const token = await login();
    const fresh = await ok(t.anonymous.post('/api/v1/auth/refresh', undefined, bearer(token)));
    expect((await t.anonymous.post('/api/v1/auth/logout', undefined, bearer(token))).body).toEqual({
      ok: true,
    });
    await expectProblem(t.anonymous.get('/api/v1/auth/me', bearer(token)), 401);
    await expectProblem(t.anonymous.post('/api/v1/auth/refresh', undefined, bearer(token)), 401);
    await ok(t.anonymous.get('/api/v1/auth/me', bearer(fresh.access_token)));
  });

  it('ends all tokens at a password change, a role change and a deactivation', async () => {
    const admin = await t.as('admin');
    const me = await db('users').where({ email: 'second@estate.example' }).first('id');
    const url = `/api/v1/users/${me.id}`;
    const first = await login();
    await ok(
      t.anonymous.patch(url, { password: 'another quiet horse', current_password: password }, bearer(first)),
    );
    await expectProblem(t.anonymous.get('/api/v1/auth/me', bearer(first)), 401);
    const again = (
      await t.anonymous.post('/api/v1/auth/login', {
        email: 'second@estate.example',
        password: 'another quiet horse',
      })
    ).body.access_token;
    expect((await admin.patch(url, { role: 'viewer' })).body.role).toBe('viewer');
    await expectProblem(t.anonymous.get('/api/v1/auth/me', bearer(again)), 401);
    const third = (
      await t.anonymous.post('/api/v1/auth/login', {
        email: 'second@estate.example',
        password: 'another quiet horse',
      })
    ).body.access_token;
    await ok(admin.patch(url, { is_active: false }));
    await expectProblem(t.anonymous.get('/api/v1/auth/me', bearer(third)), 401);
    expect(await auditTypes()).toContain('auth.password_changed');
  });

  it('takes tokens of an older key until the key is dropped', async () => {
    const { token } = await t.as('viewer');
    const old = t.services.config.secretKeys[0]!;
    const fresh = 'a-newer-secret-key-of-32-characters-or-more';
    for (const [secretKeys, status] of [
      [[fresh, old], 200],
      [[fresh], 401],
    ] as const) {
      const app = await createApp({
        ...t.services,
        config: { ...t.services.config, secretKeys: [...secretKeys] },
      });
      expect((await app.inject({ url: '/api/v1/auth/me', headers: bearer(token) })).statusCode).toBe(status);
      await app.close();
    }
  });
});

describe('users', () => {
  it('lets a user change the own name, and nobody else without the right', async () => {
    const [member, viewer] = await t.clients('member', 'viewer');
    const own = await member.patch(`/api/v1/users/${member.userId}`, { display_name: 'Mel' });
    expect([own.status, own.body.display_name]).toEqual([200, 'Mel']);
    await expectProblem(
      viewer.patch(`/api/v1/users/${member.userId}`, { display_name: 'Nel' }),
      403,
      'admin.users',
    );
    const etag = (await member.get(`/api/v1/users/${member.userId}`)).headers.etag!;
    await ok(member.patch(`/api/v1/users/${member.userId}`, { locale: 'de' }, { 'if-match': etag }));
    await expectProblem(
      member.patch(`/api/v1/users/${member.userId}`, { locale: 'fr' }, { 'if-match': etag }),
      412,
      'precondition_failed',
    );
    await expectProblem(member.patch(`/api/v1/users/${member.userId}`, { role: 'admin' }), 403);
    await expectInvalid(
      member.patch(`/api/v1/users/${member.userId}`, {
        password: 'another good one',
        current_password: 'no',
      }),
      'current_password',
    );
    const unknown = await member.patch(`/api/v1/users/${member.userId}`, { nickname: 'M' });
    expect([unknown.status, unknown.body.errors[0]]).toMatchObject([
      422,
      { field: 'nickname', code: 'unknown_field' },
    ]);
    await expectProblem(viewer.get('/api/v1/users/not-an-id'), 422);
    await expectProblem(viewer.get('/api/v1/users/00000000-0000-4000-8000-000000000000'), 404);
  });

  it('keeps the last active administrator', async () => {
    const admin = await t.as('admin');
    await db('users').where({ role: 'admin' }).whereNot({ id: admin.userId }).update({ role: 'member' });
    await expectProblem(admin.patch(`/api/v1/users/${admin.userId}`, { role: 'member' }), 409, 'conflict');
  });

  it('lists users and roles, and the permission catalogue', async () => {
    const viewer = await t.as('viewer');
    const users = await viewer.get('/api/v1/users?search=MEL&fields=display_name,role');
    expect(users.body.items).toEqual([{ display_name: 'Mel', role: 'member' }]);
    const roles = await viewer.get('/api/v1/roles');
    expect(pluck(roles.body.items, 'key')).toEqual(['admin', 'bpm_admin', 'member', 'viewer']);
    expect((await viewer.get('/api/v1/roles/member')).body.is_default).toBe(true);
    expect(
      Object.values((await viewer.get('/api/v1/roles/permissions-schema')).body).flatMap((group) =>
        Object.keys((group as { permissions: object }).permissions),
      ),
    ).toHaveLength(75);
  });
});

it('idempotency gives the first answer again, and refuses the key for another body', async () => {
  const member = await t.as('member');
  const url = `/api/v1/users/${member.userId}`;
  const key = { 'idempotency-key': 'one-and-only' };
  const first = await member.patch(url, { display_name: 'Mila' }, key);
  const replay = await answered(member.patch(url, { display_name: 'Mila' }, key));
  expect(replay.text).toBe(first.text);
  expect(replay.headers['idempotent-replayed']).toBe('true');
  expect(replay.headers['x-position']).toBe(first.headers['x-position']);
  await expectProblem(member.patch(url, { display_name: 'Mina' }, key), 409, 'idempotency_key_reused');
});

it('idempotency is not for public operations: their answers are not kept, whoever asks', async () => {
  const member = await t.as('member');
  const key = { 'idempotency-key': 'of-a-login' };
  for (const name of ['nobody', 'somebody']) {
    const body = { email: `${name}@estate.example`, password: 'no such password' };
    await expectProblem(member.post('/api/v1/auth/login', body, key), 401);
  }
  expect(await db('idempotency_keys').where({ key: 'of-a-login' })).toEqual([]);
});
