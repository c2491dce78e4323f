import { randomUUID } from 'node:crypto';
import { unthrottled } from '../../support/accounts.ts';
import { expectProblem, ok, openApp } from '../../support/harness.ts';

const { t, db, admin } = await openApp(['admin']);

const someone = (more: Record<string, unknown> = {}) => ({
  email: `${randomUUID()}@estate.example`,
  display_name: 'Some One',
  ...more,
});

it('shows a link that is only valid while whoever saw it has all rights of the account', async () => {
  const role = 'reading';
  await admin.create('/api/v1/roles', {
    key: role,
    label: 'Reading',
    permissions: { 'inventory.view': true },
  });
  const held = ['admin.users', 'inventory.view', 'inventory.edit'];
  const manager = await t.holding(...held);
  const invite = async () => (await manager.post('/api/v1/users', someone({ role }))).body;
  const users = await Promise.all([1, 2, 3, 4, 5].map(invite));
  const valid = (n: number) =>
    t.anonymous.get(`/api/v1/auth/validate-setup-token?token=${users[n].setup_token}`);
  const set = (n: number) =>
    t.anonymous.post('/api/v1/auth/set-password', {
      token: users[n].setup_token,
      password: 'a quiet horse on the hill',
    });
  const end = async (n: number) => {
    await unthrottled(t);
    await expectProblem(valid(n), 404);
    await expectProblem(set(n), 404);
  };
  const patch = (n: number, values: object) => ok(admin.patch(`/api/v1/users/${users[n].id}`, values));
  // another role
  await patch(0, { role: 'admin' });
  await end(0);
  // a role on a card, while the account is not active
  const { id } = await admin.create('/api/v1/cards', { type: 'Application', name: randomUUID() });
  await patch(1, { is_active: false });
  await db('stakeholders').insert({ card_id: id, user_id: users[1].id, role: 'responsible' });
  await patch(1, { is_active: true });
  await end(1);
  // what the manager has is no matter
  await ok(
    admin.patch(`/api/v1/roles/${role}`, {
      permissions: { 'inventory.view': true, 'inventory.edit': true },
    }),
  );
  await ok(valid(2));
  await ok(set(2));
  // a wider role
  await ok(
    admin.patch(`/api/v1/roles/${role}`, { permissions: { 'inventory.view': true, 'costs.view': true } }),
  );
  await end(3);
  await ok(admin.patch(`/api/v1/roles/${role}`, { permissions: { 'inventory.view': true } }));
  await ok(valid(3));
  await ok(admin.patch(`/api/v1/users/${manager.userId}`, { is_active: false }));
  await end(3);
});

it('ends a shown link by a role on a card of the active account, and by a wider role of one without rights', async () => {
  const manager = await t.holding('admin.users', 'inventory.view');
  const { id: card } = await admin.create('/api/v1/cards', { type: 'Application', name: randomUUID() });
  for (const key of ['nothing', 'grow'])
    await admin.create('/api/v1/roles', { key, label: key, permissions: {} });
  const widen = {
    nothing: (user_id: string) =>
      admin.create(`/api/v1/cards/${card}/stakeholders`, { user_id, role: 'responsible' }),
    grow: () =>
      ok(admin.patch('/api/v1/roles/grow', { permissions: { 'admin.settings': true, 'costs.view': true } })),
  };
  for (const role of ['nothing', 'grow'] as const) {
    const { body } = await manager.post('/api/v1/users', someone({ role }));
    expect(body.setup_token).toEqual(expect.any(String));
    await widen[role](body.id);
    const password = 'a quiet horse on the hill';
    await unthrottled(t);
    await expectProblem(manager.patch(`/api/v1/users/${body.id}`, { password }), 403);
    const resent = await ok(manager.post(`/api/v1/users/invitations/${body.id}/resend`));
    expect(resent).toMatchObject({ ok: false, setup_missing: expect.any(String) });
    expect(resent).not.toHaveProperty('setup_token');
    const set = { token: body.setup_token, password };
    await expectProblem(t.anonymous.post('/api/v1/auth/set-password', set), 404);
  }
});

it('shows links for many users under the same rule, and reports malformed addresses by row', async () => {
  const manager = await t.holding('admin.users', 'inventory.view');
  await admin.create('/api/v1/roles', {
    key: 'looking',
    label: 'Looking',
    permissions: { 'inventory.view': true },
  });
  const users = [
    someone({ role: 'looking' }),
    someone({ role: 'member' }),
    someone({ role: 'looking', auth_provider: 'sso' }),
    someone({ role: 'looking', email: 'no address' }),
    someone({ role: 'looking', email: '' }),
  ];
  const send = async (more: object) => {
    const answer = await ok(manager.post('/api/v1/users/bulk', { users, ...more }));
    return answer.results.map(({ code, ...row }: Record<string, unknown>) => [code, 'setup_link' in row]);
  };
  const failed = [
    ['format', false],
    ['format', false],
  ];
  const none = [[null, false], [null, false], [null, false], ...failed];
  expect(await send({ dry_run: true })).toEqual(none);
  const { results } = await ok(manager.post('/api/v1/users/bulk', { users, send_email: true }));
  expect(results.map(({ setup_missing }: Record<string, unknown>) => setup_missing !== undefined)).toEqual([
    false,
    true,
    false,
    false,
    false,
  ]);
  expect(results[1].setup_missing).toContain('You need the permission inventory.');
  expect(results.map(({ code, setup_link }: Record<string, unknown>) => [code, setup_link])).toEqual([
    [null, `/set-password?token=${results[0].setup_token}`],
    [null, undefined],
    [null, undefined],
    ['format', undefined],
    ['format', undefined],
  ]);
  const set = { token: results[0].setup_token, password: 'a quiet horse on the hill' };
  await unthrottled(t);
  await ok(t.anonymous.post('/api/v1/auth/set-password', set));
  // as is a single address
  await expectProblem(manager.post('/api/v1/users', someone({ email: 'no address' })), 422);
});
