import { randomUUID } from 'node:crypto';
import { bearer, eventsOf, loginAs, person } from '../../support/accounts.ts';
import { expectProblem, ok, openApp, pluck, type TestClient } from '../../support/harness.ts';

const missing = '00000000-0000-4000-8000-000000000000';

const { t, db, viewer } = await openApp(['viewer']);
const [admin, inviter] = await t.clients('admin', 'bpm_admin');

const someone = (more: Record<string, unknown> = {}) => ({
  email: `${randomUUID()}@estate.example`,
  display_name: 'Some One',
  ...more,
});

it('reading users shows last logins and second factors only to the user and with admin.users', async () => {
  const [viewer, other] = [await t.as('viewer'), await t.as('member')];
  for (const { userId } of [viewer, other])
    await db('users').where({ id: userId }).update({ last_login: new Date() });
  const seen = async (client: TestClient, id: string) => {
    const { body } = await client.get(`/api/v1/users/${id}`);
    const list = await client.get('/api/v1/users?page_size=200&fields=id,last_login,two_factor_enabled');
    const { last_login, two_factor_enabled } = body;
    const user = list.body.items.find((item: { id: string }) => item.id === id);
    expect(user).toEqual({ id, last_login, two_factor_enabled });
    return [last_login === null, two_factor_enabled];
  };
  expect(await seen(admin, other.userId)).toEqual([false, false]);
  expect(await seen(other, other.userId)).toEqual([false, false]);
  expect(await seen(viewer, other.userId)).toEqual([true, null]);
  const sorted = '/api/v1/users?sort_by=last_login';
  await expectProblem(viewer.get(sorted), 403, 'admin.users');
  await ok(admin.get(sorted));
});

describe('creating users', () => {
  it('answers the whole user, and tells the audit log every column but secrets', async () => {
    const made = await admin.create('/api/v1/users', someone({ password: 'a quiet horse on the hill' }));
    expect(made).toMatchObject({
      role: 'member',
      kind: 'person',
      auth_provider: 'local',
      has_password: true,
      pending_setup: false,
      two_factor_enabled: false,
      is_active: true,
    });
    const event = (await eventsOf(t, 'user.created')).at(-1);
    expect(event).toMatchObject({ scope: 'audit', user_id: admin.userId });
    expect(event.data).toMatchObject({
      id: made.id,
      changes: { email: { old: null, new: made.email }, created_at: { old: null } },
    });
    expect(JSON.stringify(event.data)).not.toMatch(/scrypt|password/);
    await ok(loginAs(t, made));
    const sso = await admin.post('/api/v1/users', someone({ auth_provider: 'sso' }));
    expect(sso.body).toMatchObject({ auth_provider: 'sso', pending_setup: false });
  });

  it('lets who may invite give the roles member and viewer only', async () => {
    await inviter.create('/api/v1/users', someone({ role: 'viewer' }));
    await expectProblem(inviter.post('/api/v1/users', someone({ role: 'bpm_admin' })), 403, 'admin.users');
    const host = await t.holding('users.invite');
    const invited = await host.post('/api/v1/users', someone());
    // the token would let the host act as somebody who holds more
    expect([invited.status, 'setup_token' in invited.body]).toEqual([201, false]);
    expect(invited.body.setup_missing).toMatch(/^No mail was asked for, .*inventory.view.* resend/);
    const known = host.post('/api/v1/users', someone({ password: 'a quiet horse on the hill' }));
    await expectProblem(known, 403, 'inventory.view');
  });

  it('without a mail server says so, and shows the link to who has all rights of the account', async () => {
    const send_email = true;
    const { body } = await admin.post('/api/v1/users', someone({ role: 'viewer', send_email }));
    expect(body).toMatchObject({
      mail_configured: false,
      setup_link: `/set-password?token=${body.setup_token}`,
    });
    const again = `/api/v1/users/invitations/${body.id}/resend`;
    const resent = (await admin.post(again)).body;
    expect(resent).toMatchObject({ ok: true, mail_configured: false });
    const valid = (token: string) => t.anonymous.get(`/api/v1/auth/validate-setup-token?token=${token}`);
    await expectProblem(valid(body.setup_token), 404);
    await ok(valid(resent.setup_token));
    const host = await t.holding('users.invite');
    const invited = (await host.post('/api/v1/users', someone({ send_email }))).body;
    expect([invited.mail_configured, Object.keys(invited).filter((key) => key.startsWith('setup'))]).toEqual([
      false,
      ['setup_missing'],
    ]);
    expect(invited.setup_missing).toMatch(/^No mail was sent, .*inventory.view.*settings\/email/);
    // a role on a card is a right of the account, too
    const manager = await t.holding('admin.users', 'inventory.view');
    const { id } = await admin.create('/api/v1/cards', { type: 'Application', name: randomUUID() });
    const target = await manager.post('/api/v1/users', someone({ role: 'viewer' }));
    await admin.create(`/api/v1/cards/${id}/stakeholders`, { user_id: target.body.id, role: 'responsible' });
    const since = await admin.position();
    const resend = manager.post(`/api/v1/users/invitations/${target.body.id}/resend`);
    const { status, body: refused } = await resend;
    expect([status, refused.ok, refused.setup_missing]).toEqual([
      200,
      false,
      expect.stringMatching(/^No mail was sent, .* let a user who/),
    ]);
    expect(await admin.position()).toBe(since);
    const asked = await t.anonymous.post('/api/v1/auth/forgot-password', { email: body.email });
    expect(asked.body).toEqual({ ok: true, mail_configured: false });
  });

  it('creates many, and says why some are not created', async () => {
    const known = await admin.create('/api/v1/users', someone());
    const [first, second] = [someone({ role: 'viewer' }), someone({ auth_provider: 'sso' })];
    const users = [
      first,
      second,
      someone({ email: known.email.toUpperCase() }),
      { ...first, email: first.email.toUpperCase() },
      someone({ role: 'nobody' }),
      someone({ display_name: ' ' }),
    ];
    const send = (more: object, client = admin) => client.post('/api/v1/users/bulk', { users, ...more });
    const since = await admin.position();
    const tried = await ok(send({ dry_run: true }));
    expect(pluck(tried.results, 'status', 'code')).toEqual([
      ['created', null],
      ['created', null],
      ['failed', 'email_taken'],
      ['failed', 'duplicate'],
      ['failed', 'unknown_role'],
      ['failed', 'required'],
    ]);
    expect(await admin.position()).toBe(since);
    const done = await ok(send({ send_email: true }));
    expect(done).toMatchObject({ created: 2, failed: 4, dry_run: false });
    expect(pluck(done.results, 'email', 'status', 'code', 'error')).toEqual(
      pluck(tried.results, 'email', 'status', 'code', 'error'),
    );
    const made = (id: string) => admin.get(`/api/v1/users/${id}`);
    expect((await made(done.results[0].id)).body).toMatchObject({ ...first, pending_setup: true });
    expect((await made(done.results[1].id)).body).toMatchObject({ ...second, pending_setup: false });
    const invited = (await admin.get('/api/v1/users/invitations?page_size=200')).body.items;
    expect(pluck(invited, 'email')).toContain(first.email);
    // without a mail server
    expect([done.mail_configured, 'mail_configured' in tried]).toEqual([false, false]);
    expect(await db('mails').select('recipient')).toEqual([]);
    expect(await eventsOf(t, 'user.created').then((events) => events.at(-1).data.email)).toBe(second.email);
    const manager = await t.holding('admin.users');
    const { results } = await ok(
      manager.post('/api/v1/users/bulk', { users: [someone({ role: 'admin' }), someone()] }),
    );
    expect(pluck(results, 'status', 'code')).toEqual([
      ['failed', 'forbidden'],
      ['created', null],
    ]);
    await expectProblem(send({}, await t.holding('users.invite')), 403, 'admin.users');
  });

  it('creates the others of many when concurrent requests share an address', async () => {
    const shared = someone();
    const send = (users: object[]) => ok(admin.post('/api/v1/users/bulk', { users }));
    const all = await Promise.all([1, 2, 3].map(() => send([someone(), shared, someone()])));
    const results = all.flatMap(({ results }) => results);
    expect(results.filter(({ code }) => code === 'email_taken')).toHaveLength(2);
    expect(results.filter(({ status }) => status === 'created')).toHaveLength(7);
  });

  it('gives no role that holds more than the caller', async () => {
    const manager = await t.holding('admin.users', 'inventory.view');
    await expectProblem(manager.post('/api/v1/users', someone({ role: 'admin' })), 403);
    const own = `/api/v1/users/${manager.userId}`;
    await expectProblem(manager.patch(own, { role: 'admin' }), 403);
    await expectProblem(manager.patch(own, { role: 'member' }), 403, 'inventory.create');
    const bulk = manager.patch('/api/v1/users/bulk', { ids: [manager.userId], updates: { role: 'admin' } });
    await expectProblem(bulk, 403);
    for (const patch of [{ password: 'another quiet horse' }, { email: 'mine@estate.example' }])
      await expectProblem(manager.patch(`/api/v1/users/${admin.userId}`, patch), 403);
  });

  it('refuses taken addresses in any case, unknown and archived roles, and faulty input', async () => {
    const who = someone();
    await admin.post('/api/v1/users', who);
    await expectProblem(
      admin.post('/api/v1/users', { ...who, email: who.email.toUpperCase() }),
      409,
      'email_taken',
    );
    const other = await admin.post('/api/v1/users', someone());
    expect((await admin.patch(`/api/v1/users/${other.body.id}`, { email: who.email })).body.code).toBe(
      'email_taken',
    );
    for (const [more, field] of [
      [{ role: 'nobody' }, 'role'],
      [{ email: 'no address' }, 'email'],
      [{ display_name: '  ' }, 'display_name'],
      [{ password: 'short' }, 'password'],
      [{ auth_provider: 'sso', password: 'a quiet horse on the hill' }, 'password'],
      [{ nickname: 'S' }, 'nickname'],
    ] as const) {
      const answer = await admin.post('/api/v1/users', someone(more));
      expect([answer.status, answer.body.errors[0].field]).toEqual([422, field]);
    }
  });
});

describe('changing users', () => {
  it('tells old and new values, and passes to single sign-on and back', async () => {
    const { body } = await admin.post('/api/v1/users', someone({ password: 'a quiet horse on the hill' }));
    const url = `/api/v1/users/${body.id}`;
    const moved = await admin.patch(url, { email: 'new@estate.example', display_name: ' New ' });
    expect(moved.body).toMatchObject({ email: 'new@estate.example', display_name: 'New' });
    expect((await eventsOf(t, 'user.updated')).at(-1).data.changes).toEqual({
      email: { old: body.email, new: 'new@estate.example' },
      display_name: { old: 'Some One', new: 'New' },
    });
    const sso = await admin.patch(url, { auth_provider: 'sso' });
    expect(sso.body).toMatchObject({ auth_provider: 'sso', has_password: false });
    expect((await admin.patch(url, { password: 'another quiet horse' })).body.code).toBe('wrong_state');
    const back = await admin.patch(url, { auth_provider: 'local', password: 'another quiet horse' });
    expect(back.body).toMatchObject({ auth_provider: 'local', has_password: true });
    await ok(loginAs(t, back.body, { password: 'another quiet horse' }));
    await expectProblem(admin.patch(`/api/v1/users/${missing}`, { password: 'another quiet horse' }), 404);
  });

  it('takes ids in either case', async () => {
    const own = await viewer.patch(`/api/v1/users/${viewer.userId.toUpperCase()}`, { display_name: 'V' });
    expect([own.status, own.body.id]).toEqual([200, viewer.userId]);
  });

  it('keeps the own preferences', async () => {
    const url = '/api/v1/users/me/ui-preferences';
    const empty = { dashboard_default_tab: 'overview', pinned_views: [], settings: {} };
    expect((await viewer.get(url)).body).toEqual(empty);
    expect((await viewer.patch(url, { dashboard_default_tab: 'admin' })).body).toEqual({
      ...empty,
      dashboard_default_tab: 'admin',
    });
    expect((await viewer.get('/api/v1/auth/me')).body.ui_preferences).toMatchObject({
      dashboard_default_tab: 'admin',
    });
    const view = '0199a3c4-7b02-7d10-9c11-4f1f0e7d9b41';
    await viewer.patch(url, { pinned_views: [view], settings: { theme: 'dark', rows: 32 } });
    expect((await viewer.patch(url, { settings: { rows: null, language: 'de' } })).body).toMatchObject({
      pinned_views: [view],
      settings: { theme: 'dark', language: 'de' },
    });
    expect((await viewer.get(url)).body.settings).toEqual({ theme: 'dark', language: 'de' });
    // they are nobody else's business
    const row = `/api/v1/users/${viewer.userId}`;
    expect((await viewer.get(row)).body.ui_preferences).toMatchObject({ settings: { theme: 'dark' } });
    expect((await admin.get(row)).body.ui_preferences).toEqual({});
    await expectProblem(viewer.patch(url, { settings: { big: 'x'.repeat(20_000) } }), 422);
    await expectProblem(viewer.patch(url, { dashboard_default_tab: 'elsewhere' }), 422);
  });

  it('filters the list', async () => {
    const off = await person(t, { is_active: false, display_name: 'Offline' });
    const find = async (query: string) =>
      (await admin.get(`/api/v1/users?search=Offline&${query}`)).body.total;
    expect(await find('')).toBe(0);
    expect(await find('include_inactive=true')).toBe(1);
    expect(await find('inactive_only=true')).toBe(1);
    expect(await find('include_inactive=true&locale=xx')).toBe(0);
    expect(await find('include_inactive=true&pending_setup=true')).toBe(0);
    expect(await find('include_inactive=true&role=viewer')).toBe(0);
    expect(await find('include_inactive=true&kind=person&auth_provider=local')).toBe(1);
    expect(off.id).toBeTruthy();
  });
});

describe('many users at once', () => {
  it('are changed by the rules of one, each with its event, and the rest is named', async () => {
    const people = await Promise.all([1, 2, 3].map(() => person(t)));
    const gone = await person(t, { erased_at: new Date(), is_active: false });
    const token = (await loginAs(t, people[0]!)).body.access_token;
    const ids = [...people.map(({ id }) => id), missing, admin.userId, gone.id];
    const done = await admin.patch('/api/v1/users/bulk', { ids, updates: { role: 'viewer' } });
    expect(done.body.updated).toBe(3);
    expect(new Map(pluck(done.body.skipped, 'id', 'reason'))).toEqual(
      new Map([
        [missing, 'unknown'],
        [admin.userId, 'self'],
        [gone.id, 'erased'],
      ]),
    );
    await expectProblem(t.anonymous.get('/api/v1/auth/me', bearer(token)), 401);
    expect((await eventsOf(t, 'user.updated')).slice(-3).map(({ data }) => data.changes)).toEqual(
      Array(3).fill({ role: { old: 'member', new: 'viewer' } }),
    );
    const again = await admin.patch('/api/v1/users/bulk', {
      ids: [people[0]!.id],
      updates: { role: 'viewer' },
    });
    expect(again.body).toEqual({ updated: 0, skipped: [{ id: people[0]!.id, reason: 'unchanged' }] });
    await expectProblem(admin.patch('/api/v1/users/bulk', { ids: [missing], updates: {} }), 422);
    await expectProblem(admin.patch('/api/v1/users/bulk', { ids: [missing], updates: { role: 'x' } }), 422);
  });

  it('are deleted once they are deactivated', async () => {
    const [active, first, second] = await Promise.all([
      person(t),
      person(t, { is_active: false }),
      person(t, { is_active: false }),
    ]);
    const done = await admin.post('/api/v1/users/bulk-delete', {
      ids: [active.id, first.id, second.id, admin.userId],
    });
    expect(done.body.deleted).toBe(2);
    expect(done.body.skipped).toHaveLength(2);
    await expectProblem(admin.get(`/api/v1/users/${first.id}`), 404);
  });
});

it('deleting a user ends the roles on cards with their events, and leaves the history', async () => {
  const author = await person(t);
  const token = bearer((await loginAs(t, author)).body.access_token);
  const card = await t.anonymous.post(
    '/api/v1/cards',
    { type: 'Application', name: `Card ${randomUUID()}` },
    token,
  );
  await db('stakeholders').insert({ card_id: card.body.id, user_id: author.id, role: 'responsible' });
  await ok(admin.delete(`/api/v1/users/${author.id}`), 204);
  await expectProblem(t.anonymous.get('/api/v1/auth/me', token), 401);
  const types = pluck((await admin.get(`/api/v1/cards/${card.body.id}/history`)).body.items, 'event_type');
  expect(types).toEqual(expect.arrayContaining(['card.created', 'stakeholder.removed']));
  expect((await eventsOf(t, 'stakeholder.removed')).at(-1).data).toMatchObject({
    user_display_name: 'Somebody',
    changes: { user_id: { old: author.id, new: null }, role: { old: 'responsible', new: null } },
  });
  expect((await admin.get(`/api/v1/cards/${card.body.id}`)).body.stakeholders).toEqual([]);
  await expectProblem(admin.delete(`/api/v1/users/${author.id}`), 404);
});

it('deleting a user is refused for oneself', () =>
  expectProblem(admin.delete(`/api/v1/users/${admin.userId}`), 409, 'conflict'));

it('the last administrator stays, also when two take away each other at the same moment', async () => {
  for (let round = 0; round < 5; round += 1) {
    const a = await t.as('admin', `a${round}`);
    const b = await t.as('admin', `b${round}`);
    await db('users')
      .where({ role: 'admin' })
      .whereNotIn('id', [a.userId, b.userId])
      .update({ role: 'member' });
    const ways: ((by: TestClient, whom: TestClient) => ReturnType<TestClient['get']>)[] = [
      (by, whom) => by.patch(`/api/v1/users/${whom.userId}`, { role: 'viewer' }),
      (by, whom) => by.patch(`/api/v1/users/${whom.userId}`, { is_active: false }),
      (by, whom) => by.delete(`/api/v1/users/${whom.userId}`),
      (by, whom) => by.patch('/api/v1/users/bulk', { ids: [whom.userId], updates: { is_active: false } }),
      (by, whom) => by.post(`/api/v1/accounts/${whom.userId}/erase`),
    ];
    await Promise.all([ways[round]!(a, b), ways[(round + 1) % 5]!(b, a)]);
    const [left] = await db('users').where({ role: 'admin', is_active: true }).count('* as n');
    expect(left!.n, `round ${round}`).toBeGreaterThanOrEqual(1);
  }
  const [last] = await db('users').where({ role: 'admin', is_active: true }).orderBy('created_at');
  await db('users')
    .where({ role: 'admin', is_active: true })
    .whereNot({ id: last.id })
    .update({ role: 'member' });
  // an administrator of users who is not one of all
  const keys = Object.keys((await (await t.as('viewer')).get('/api/v1/auth/me')).body.permissions);
  const manager = await t.holding(...keys);
  const url = `/api/v1/users/${last.id}`;
  await expectProblem(manager.patch(url, { role: 'viewer' }), 409, 'conflict');
  await expectProblem(manager.patch(url, { is_active: false }), 409, 'conflict');
  await expectProblem(manager.delete(url), 409, 'conflict');
  await expectProblem(manager.post(`/api/v1/accounts/${last.id}/erase`), 409, 'conflict');
  const bulk = await manager.patch('/api/v1/users/bulk', { ids: [last.id], updates: { role: 'viewer' } });
  expect(bulk.body).toEqual({ updated: 0, skipped: [{ id: last.id, reason: 'last_administrator' }] });
});
