import { randomUUID } from 'node:crypto';
import { eventsOf, roleWith } from '../../support/accounts.ts';
import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';

const { t, admin } = await openApp(['admin']);

const key = () => `role_${randomUUID().slice(0, 8)}`;
const make = async (more: Record<string, unknown> = {}) =>
  (await admin.create('/api/v1/roles', { key: key(), label: 'Role', ...more })) as {
    id: string;
    key: string;
  };

it('are created and changed, with their events, and count for the next request', async () => {
  const role = await make({ label: ' Auditor ', permissions: { 'inventory.view': true } });
  expect(role).toMatchObject({
    label: 'Auditor',
    color: '#757575',
    is_system: false,
    is_default: false,
    user_count: 0,
  });
  expect((await eventsOf(t, 'role.created')).at(-1).data).toMatchObject({
    id: role.id,
    key: role.key,
    changes: { permissions: { old: null, new: { 'inventory.view': true } } },
  });
  const holder = await t.as(role.key);
  const create = () => holder.post('/api/v1/cards', { type: 'Application', name: `C ${randomUUID()}` });
  await expectProblem(create(), 403);
  const url = `/api/v1/roles/${role.key}`;
  const changed = await admin.patch(url, {
    permissions: { 'inventory.view': true, 'inventory.create': true },
    sort_order: 9,
    description: 'Looks.',
  });
  expect(changed.body).toMatchObject({ sort_order: 9, description: 'Looks.', user_count: 1 });
  await ok(create(), 201);
  await admin.patch(url, { permissions: { 'inventory.view': true, 'inventory.create': false } });
  await expectProblem(create(), 403);
  const changes = (await eventsOf(t, 'role.updated')).at(-1).data.changes.permissions.new;
  expect(changes).toEqual({ 'inventory.view': true, 'inventory.create': false });
  const { etag } = (await admin.get(url)).headers;
  await ok(admin.patch(url, { label: 'A' }, { 'if-match': etag! }));
  await expectProblem(admin.patch(url, { label: 'B' }, { 'if-match': etag! }), 412);
});

it('refuse taken and malformed keys, unknown permissions and the wildcard', async () => {
  await expectProblem(admin.post('/api/v1/roles', { key: 'member', label: 'M' }), 409, 'conflict');
  for (const [body, field] of [
    [{ key: 'No' }, 'key'],
    [{ key: 'with-dash' }, 'key'],
    [{ label: ' ' }, 'label'],
    [{ color: 'red' }, 'color'],
    [{ permissions: { 'inventory.fly': true } }, 'permissions.inventory.fly'],
    [{ permissions: { '*': true } }, 'permissions.*'],
    [{ permissions: { 'inventory.view': 'yes' } }, 'permissions.inventory.view'],
  ] as const) {
    const answer = await admin.post('/api/v1/roles', { key: key(), label: 'N', ...body });
    expect([answer.status, answer.body.errors[0].field]).toEqual([422, field]);
  }
  await expectProblem(admin.patch('/api/v1/roles/member', { key: 'other' }), 422);
});

it('get from nobody what he does not hold himself', async () => {
  const warden = await t.holding('admin.roles', 'inventory.view');
  const url = `/api/v1/roles/${(await make({ permissions: { 'costs.view': true } })).key}`;
  const own = `/api/v1/roles/${(await warden.get('/api/v1/auth/me')).body.role}`;
  const more = { permissions: { 'admin.roles': true, 'inventory.view': true, 'admin.users': true } };
  await expectProblem(warden.patch(own, more), 403, 'admin.users');
  await expectProblem(warden.post('/api/v1/roles', { key: key(), label: 'N', ...more }), 403, 'admin.users');
  const kept = { permissions: { 'costs.view': true, 'inventory.view': true } };
  await admin.patch(url, { permissions: { 'inventory.view': true } });
  await expectProblem(warden.patch(url, kept), 403, 'costs.view');
  await expectProblem(warden.patch('/api/v1/roles/bpm_admin', { is_default: true }), 403);
  await admin.patch(url, kept);
  await admin.post(`${url}/archive`);
  await expectProblem(warden.post(`${url}/restore`), 403, 'costs.view');
});

it('are changed and archived by those alone who could give them back', async () => {
  const warden = await t.holding('admin.roles', 'inventory.view');
  const role = await make({ permissions: { 'costs.view': true, 'inventory.view': true } });
  const url = `/api/v1/roles/${role.key}`;
  const refused = [
    { permissions: { 'costs.view': true, 'inventory.view': true } },
    { permissions: { 'inventory.view': true } },
    { permissions: {} },
    { label: 'Another' },
  ].map((body) => warden.patch(url, body));
  for (const answer of [...refused, warden.post(`${url}/archive`)])
    await expectProblem(answer, 403, 'costs.view');
  expect((await admin.get(url)).body).toMatchObject({ ...role, updated_at: expect.anything() });
  await expectProblem(warden.patch('/api/v1/roles/admin', { label: 'Nobody' }), 403);
  const small = await make({ permissions: { 'inventory.view': true } });
  await ok(warden.patch(`/api/v1/roles/${small.key}`, { permissions: {} }));
  await ok(warden.post(`/api/v1/roles/${small.key}/archive`));
  // members stay the default of those who hold less than they do
  await expectProblem(warden.patch(`/api/v1/roles/${(await make()).key}`, { is_default: true }), 403);
  await expectProblem(warden.post('/api/v1/roles', { key: key(), label: 'N', is_default: true }), 403);
  expect((await admin.get('/api/v1/roles/member')).body.is_default).toBe(true);
});

it('leave the administrators what they hold', async () => {
  const url = '/api/v1/roles/admin';
  await expectProblem(admin.patch(url, { permissions: { 'inventory.view': true } }), 409, 'conflict');
  await ok(admin.patch(url, { permissions: { '*': true }, label: 'Administrator' }));
  await expectProblem(admin.patch(url, { is_default: true }), 409, 'conflict');
  await expectProblem(admin.post(`${url}/archive`), 403, 'system_role');
});

it('have one default, which new users get', async () => {
  await expectProblem(admin.patch('/api/v1/roles/member', { is_default: false }), 409, 'conflict');
  const role = await make({ is_default: true });
  const defaults = async () =>
    pluck(
      (await admin.get('/api/v1/roles?page_size=200')).body.items.filter(
        (row: { is_default: boolean }) => row.is_default,
      ),
      'key',
    );
  expect(await defaults()).toEqual([role.key]);
  await expectProblem(admin.post(`/api/v1/roles/${role.key}/archive`), 409, 'conflict');
  // at the same time
  const others = await Promise.all([make(), make()]);
  await Promise.all(others.map((other) => admin.patch(`/api/v1/roles/${other.key}`, { is_default: true })));
  expect(await defaults()).toHaveLength(1);
  await admin.patch('/api/v1/roles/member', { is_default: true });
  expect(await defaults()).toEqual(['member']);
});

it('shut their users out while they are archived', async () => {
  const role = await make({ permissions: { 'inventory.view': true } });
  const url = `/api/v1/roles/${role.key}`;
  const holder = await t.as(role.key);
  expect((await admin.post(`${url}/archive`)).body).toMatchObject({
    is_archived: true,
    archived_by: admin.userId,
    users_affected: 1,
    user_count: 1,
  });
  await expectProblem(holder.get('/api/v1/auth/me'), 401);
  await expectProblem(admin.post(`${url}/archive`), 409, 'wrong_state');
  await expectProblem(admin.patch(url, { is_default: true }), 409, 'wrong_state');
  await expectProblem(admin.patch(`/api/v1/users/${admin.userId}`, { role: role.key }), 422);
  expect((await admin.get('/api/v1/roles?page_size=200')).text).not.toContain(role.key);
  expect((await admin.get('/api/v1/roles?page_size=200&include_archived=true')).text).toContain(role.key);
  expect((await admin.post(`${url}/restore`)).body).toMatchObject({ is_archived: false, archived_at: null });
  await ok(holder.get('/api/v1/auth/me'));
  await expectProblem(admin.post(`${url}/restore`), 409, 'wrong_state');
  expect((await eventsOf(t, 'role.restored')).at(-1).data.key).toBe(role.key);
});

it('cannot be archived by who has them', async () => {
  const role = await roleWith(t, 'admin.roles');
  await expectProblem((await t.as(role)).post(`/api/v1/roles/${role}/archive`), 409, 'conflict');
});
