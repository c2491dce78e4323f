import { createApp } from '../../../api/app.ts';
import { createSessionReader } from '../../../domain/access/access.sessions.ts';
import { basic, bearer, eventsOf, loginAs, password, person, roleWith } from '../../support/accounts.ts';
import { expectProblem, ok, openApp, type TestClient } from '../../support/harness.ts';

const { t, db, admin, member } = await openApp(['admin', 'member']);

const make = async (client: TestClient, body: Record<string, unknown> = {}, url = '/api/v1/tokens') =>
  (await client.create(url, { name: 'Test', ...body })) as {
    id: string;
    token: string;
    hint: string;
    scopes: string[];
  };

describe('own tokens', () => {
  it('are shown once, stored hashed, listed by their beginning, and told to the audit log', async () => {
    const made = await make(member, { name: ' Nightly ' });
    expect(made).toMatchObject({ name: 'Nightly', scopes: ['*'], user_id: member.userId });
    expect(made.token).toMatch(/^est_[\w-]{43}$/);
    expect(made.token.startsWith(made.hint)).toBe(true);
    const stored = await db('api_tokens').where({ id: made.id }).first();
    expect(JSON.stringify(stored)).not.toContain(made.token);
    const list = await member.get('/api/v1/tokens?search=night');
    expect(list.body.items).toHaveLength(1);
    expect(list.text).not.toContain(made.token);
    const [event] = await eventsOf(t, 'api_token.created');
    expect(event).toMatchObject({ scope: 'audit', user_id: member.userId });
    expect(event.data).toMatchObject({ id: made.id, changes: { name: { old: null, new: 'Nightly' } } });
    expect(JSON.stringify(event.data)).not.toContain(stored.hash);
  });

  it('are taken as Bearer and as Basic password, whatever the user name', async () => {
    const { token } = await make(member);
    for (const header of [bearer(token), basic('anything', token), basic(member.email, token)]) {
      const me = await t.anonymous.get('/api/v1/auth/me', header);
      expect([me.status, me.body.id]).toEqual([200, member.userId]);
    }
    for (const header of [
      basic('x', 'not a token'),
      basic('x', `${token}x`),
      bearer('est_'),
      bearer(`${token}x`),
    ])
      await expectProblem(t.anonymous.get('/api/v1/auth/me', header), 401);
  });

  it('hold no more than their scopes, and no more than the user holds at the time', async () => {
    const narrow = bearer((await make(member, { scopes: ['inventory.view', 'admin.users'] })).token);
    await ok(t.anonymous.get('/api/v1/cards', narrow));
    await expectProblem(
      t.anonymous.post('/api/v1/cards', { type: 'Application', name: 'N' }, narrow),
      403,
      'inventory.create',
    );
    await expectProblem(t.anonymous.get('/api/v1/users/invitations', narrow), 403);
    const held = (await t.anonymous.get('/api/v1/auth/me', narrow)).body.permissions;
    expect(Object.keys(held).filter((key) => held[key])).toEqual(['inventory.view']);

    const role = await roleWith(t, 'inventory.view', 'inventory.create');
    const wide = bearer((await make(await t.as(role))).token);
    const create = (name: string) => t.anonymous.post('/api/v1/cards', { type: 'Application', name }, wide);
    await ok(create('T1'), 201);
    await admin.patch(`/api/v1/roles/${role}`, { permissions: { 'inventory.view': true } });
    await expectProblem(create('T2'), 403);
    await ok(t.anonymous.get('/api/v1/cards', wide));
  });

  it('end with revocation, expiry and deactivation, at once and in another process', async () => {
    const { id, token } = await make(member);
    const elsewhere = await createApp({ ...t.services, sessions: createSessionReader(db) });
    const there = async () =>
      (await elsewhere.inject({ url: '/api/v1/auth/me', headers: bearer(token) })).statusCode;
    expect(await there()).toBe(200);
    await expectProblem((await t.as('viewer')).delete(`/api/v1/tokens/${id}`), 404);
    await ok(member.delete(`/api/v1/tokens/${id}`), 204);
    expect(await there()).toBe(401);
    await expectProblem(member.delete(`/api/v1/tokens/${id}`), 404);
    await elsewhere.close();

    const soon = await make(member, { expires_at: new Date(Date.now() + 60_000).toISOString() });
    await ok(t.anonymous.get('/api/v1/auth/me', bearer(soon.token)));
    await db('api_tokens').where({ id: soon.id }).update('expires_at', db.raw(`now() - interval '1 second'`));
    await expectProblem(t.anonymous.get('/api/v1/auth/me', bearer(soon.token)), 401);
    expect((await member.get('/api/v1/tokens?sort_by=expires_at')).body.items[0].is_expired).toBe(true);

    const leaver = await t.as('member', 'leaver');
    const left = await make(leaver);
    await admin.patch(`/api/v1/users/${leaver.userId}`, { is_active: false });
    await expectProblem(t.anonymous.get('/api/v1/auth/me', bearer(left.token)), 401);
  });

  it('are looked up together with logins that arrive at the same time, and not mixed up', async () => {
    const mine = bearer((await make(member)).token);
    const theirs = bearer((await make(admin, { scopes: ['inventory.view'] })).token);
    const seen = bearer((await admin.post('/api/v1/auth/impersonate', { role: 'viewer' })).body.access_token);
    const who = async (header: Record<string, string>) => {
      const { status, body } = await t.anonymous.get('/api/v1/auth/me', header);
      return [
        status,
        body.id,
        body.impersonated_role,
        body.permissions?.['*'] ?? body.permissions?.['costs.view'],
      ];
    };
    const headers = [mine, theirs, seen, bearer(admin.token), bearer('est_unknown'), bearer(member.token)];
    for (let round = 0; round < 5; round += 1)
      expect(await Promise.all(headers.map(who))).toEqual([
        [200, member.userId, null, true],
        [200, admin.userId, null, false],
        [200, admin.userId, 'viewer', false],
        [200, admin.userId, null, true],
        [401, undefined, undefined, undefined],
        [200, member.userId, null, true],
      ]);
  });

  it('note their last use once a minute', async () => {
    const { id, token } = await make(member);
    const used = async () => (await db('api_tokens').where({ id }).first()).last_used_at;
    expect(await used()).toBeNull();
    await t.anonymous.get('/api/v1/auth/me', bearer(token));
    const first = await used();
    expect(first).toBeInstanceOf(Date);
    await t.anonymous.get('/api/v1/auth/me', bearer(token));
    expect(await used()).toEqual(first);
    const earlier = new Date(Date.now() - 61_000);
    await db('api_tokens').where({ id }).update({ last_used_at: earlier });
    await t.anonymous.get('/api/v1/auth/me', bearer(token));
    expect((await used()) > earlier).toBe(true);
  });

  it('can make no tokens, set no passwords, and get no login', async () => {
    const token = bearer((await make(admin)).token);
    const attempts = [
      t.anonymous.post('/api/v1/tokens', { name: 'Another' }, token),
      t.anonymous.post(`/api/v1/accounts/${member.userId}/tokens`, { name: 'Another' }, token),
      t.anonymous.patch(`/api/v1/users/${admin.userId}`, { password: 'another quiet horse' }, token),
      t.anonymous.patch(`/api/v1/users/${member.userId}`, { password: 'another quiet horse' }, token),
      t.anonymous.post(
        '/api/v1/users',
        { email: 'n@estate.example', display_name: 'N', password: 'another quiet horse' },
        token,
      ),
      t.anonymous.post('/api/v1/auth/refresh', undefined, token),
      t.anonymous.post('/api/v1/auth/impersonate', { role: 'viewer' }, token),
      t.anonymous.post('/api/v1/auth/stop-impersonating', undefined, token),
      t.anonymous.post('/api/v1/auth/two-factor', { password }, token),
    ];
    for (const attempt of attempts) await expectProblem(attempt, 403, 'session_required');
    const invited = await t.anonymous.post(
      '/api/v1/users',
      { email: 'i@estate.example', display_name: 'I', role: 'viewer' },
      token,
    );
    expect([invited.status, 'setup_token' in invited.body]).toEqual([201, false]);
  });

  it('are told of what their scopes leave out, and accounts of what they lack', async () => {
    const narrow = bearer((await make(admin, { scopes: ['inventory.view'] })).token);
    const refused = async (token: Record<string, string>, path: string, client = admin) => {
      const { status, body } = await client.get(path, token);
      return [status, body.detail, body.permission, body.missing_scope];
    };
    expect(await refused(narrow, '/api/v1/settings/email')).toEqual([
      403,
      'You need the permission admin.settings. The scopes of the token do not include admin.settings.',
      'admin.settings',
      'admin.settings',
    ]);
    const refusal = await refused(narrow, '/api/v1/favorites');
    expect(refusal).toEqual([403, 'The scopes of the token do not include account.', 'account', 'account']);
    const wide = bearer((await make(member, { scopes: ['*'] })).token);
    for (const token of [{}, wide, bearer((await make(member, { scopes: ['admin.settings'] })).token)])
      expect(await refused(token, '/api/v1/settings/email', member)).toEqual([
        403,
        'You need the permission admin.settings.',
        'admin.settings',
        undefined,
      ]);
  });

  it('refuse unknown scopes, blank names, past ends and too many', async () => {
    const faulty = async (body: Record<string, unknown>) => {
      const answer = await member.post('/api/v1/tokens', { name: 'N', ...body });
      return [answer.status, answer.body.errors[0].field];
    };
    expect(await faulty({ scopes: ['inventory.view', 'inventory.fly'] })).toEqual([422, 'scopes.1']);
    expect(await faulty({ name: ' ' })).toEqual([422, 'name']);
    expect(await faulty({ expires_at: '2020-01-01T00:00:00Z' })).toEqual([422, 'expires_at']);
    expect(await faulty({ expires_at: '2036-12-31T23:59:60Z' })).toEqual([422, 'expires_at']);
    expect(await faulty({ scopes: [] })).toEqual([422, 'scopes']);
    const rich = await t.as('viewer', 'rich');
    await db('api_tokens').insert(
      Array.from({ length: 100 }, (_, n) => ({
        user_id: rich.userId,
        name: `${n}`,
        hash: `h${n}`,
        hint: 'est_',
        scopes: ['*'],
      })),
    );
    await expectProblem(rich.post('/api/v1/tokens', { name: 'N' }), 409);
  });

  it('live as long as the setting allows, a year unless it says otherwise', async () => {
    const inDays = (days: number) => new Date(Date.now() + days * 24 * 60 * 60 * 1000).toISOString();
    const asked = (expires_at?: string | null) =>
      member.post('/api/v1/tokens', { name: 'Long', ...(expires_at === undefined ? {} : { expires_at }) });
    for (const expires_at of [undefined, null]) {
      const made = await asked(expires_at);
      expect((Date.parse(made.body.expires_at) - Date.now()) / (24 * 60 * 60 * 1000)).toBeCloseTo(365, 1);
    }
    await ok(asked(inDays(364)), 201);
    const longer = await asked(inDays(366));
    expect([longer.status, longer.body.errors[0]]).toMatchObject([
      422,
      { field: 'expires_at', code: 'too_late' },
    ]);
    const setting = '/api/v1/settings/api-token-life';
    expect((await admin.patch(setting, { days: 3650 })).body).toEqual({ days: 3650 });
    const far = await member.post('/api/v1/tokens', { name: 'N', expires_at: '2036-01-01T00:00:00+23:00' });
    expect(far.body.expires_at).toBe('2035-12-31T01:00:00.000Z');
    await admin.patch(setting, { days: 7 });
    expect((await t.anonymous.get('/api/v1/auth/me', bearer(far.body.token))).status, 'stays').toBe(200);
    await expectProblem(asked(inDays(8)), 422);
    await admin.patch(setting, { days: null });
  });

  it('end with the password', async () => {
    const who = await person(t);
    const { access_token } = (await loginAs(t, who)).body;
    const made = await t.anonymous.post('/api/v1/tokens', { name: 'N' }, bearer(access_token));
    await t.anonymous.patch(
      `/api/v1/users/${who.id}`,
      { password: 'another quiet horse', current_password: password },
      bearer(access_token),
    );
    await expectProblem(t.anonymous.get('/api/v1/auth/me', bearer(made.body.token)), 401);
    expect((await eventsOf(t, 'api_token.deleted')).at(-1).data.id).toBe(made.body.id);
  });

  it('keep repeated answers sealed', async () => {
    const key = { 'idempotency-key': 'a-token-once' };
    const first = await member.post('/api/v1/tokens', { name: 'Once' }, key);
    const kept = await ok(db('idempotency_keys').where({ key: 'a-token-once' }).first(), 201);
    expect(kept).not.toContain(first.body.token);
    const again = await member.post('/api/v1/tokens', { name: 'Once' }, key);
    const other = await t.anonymous.post(
      '/api/v1/tokens',
      { name: 'Once' },
      { ...key, ...bearer(first.body.token) },
    );
    expect([other.status, other.body.code], 'by a token').toEqual([409, 'idempotency_key_reused']);
    expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([
      201,
      first.text,
      'true',
    ]);
  });
});

describe('tokens of others', () => {
  it('are made, listed and revoked by administrators', async () => {
    const account = await admin.post('/api/v1/service-accounts', { display_name: 'Robot', role: 'viewer' });
    expect(account.body).toMatchObject({ owner_id: admin.userId, token_count: 0, last_used_at: null });
    const url = `/api/v1/accounts/${account.body.id}/tokens`;
    const made = await make(admin, {}, url);
    const me = await t.anonymous.get('/api/v1/auth/me', bearer(made.token));
    expect(me.body).toMatchObject({ id: account.body.id, role: 'viewer', display_name: 'Robot' });
    const item = (await admin.get('/api/v1/service-accounts?search=robot')).body.items[0];
    expect(item).toMatchObject({ id: account.body.id, token_count: 1, last_used_at: expect.any(String) });
    expect((await admin.get(url)).body.total).toBe(1);
    await ok(admin.delete(`${url}/${made.id}`), 204);
    await expectProblem(admin.delete(`${url}/${made.id}`), 404);
    await expectProblem(t.anonymous.get('/api/v1/auth/me', bearer(made.token)), 401);
  });

  it('need every permission that the account holds', async () => {
    const manager = await t.holding('admin.users', 'inventory.view');
    await expectProblem(
      manager.post(`/api/v1/accounts/${admin.userId}/tokens`, { name: 'Coup' }),
      403,
      'forbidden',
    );
    await expectProblem(manager.post('/api/v1/service-accounts', { display_name: 'R', role: 'admin' }), 403);
  });

  it('leave service accounts without password, provider and login', async () => {
    const { id } = (await admin.post('/api/v1/service-accounts', { display_name: 'R2', role: 'viewer' }))
      .body;
    const url = `/api/v1/users/${id}`;
    expect((await admin.patch(url, { password: 'another quiet horse' })).body.code).toBe('wrong_state');
    await expectProblem(admin.patch(url, { auth_provider: 'sso' }), 409);
    expect((await admin.patch(url, { display_name: 'R3' })).body.display_name).toBe('R3');
    expect((await admin.get('/api/v1/users?kind=service&search=R3')).body.items[0].id).toBe(id);
    const owner = await admin.post('/api/v1/service-accounts', {
      display_name: 'R',
      role: 'viewer',
      owner_id: id,
    });
    expect([owner.status, owner.body.errors[0].field]).toEqual([422, 'owner_id']);
  });
});

it('streams and tickets are opened by a ticket that a token got, which never holds the token', async () => {
  const { token } = await make(member);
  await t.anonymous.create('/api/v1/events/ticket', undefined, bearer(token));
  const stored = await db('one_time_tokens').where({ purpose: 'stream' }).first();
  expect(stored.data).toEqual({ path: '/api/v1/events/stream', credential: { hash: expect.any(String) } });
  expect(JSON.stringify(stored)).not.toContain(token);
});
