/** Looking at the service as another role. */

import { randomUUID } from 'node:crypto';
import { bearer, eventsOf, roleWith } from '../../support/accounts.ts';
import { expectProblem, ok, openApp } from '../../support/harness.ts';

const { t, db, admin } = await openApp(['admin']);

const start = async (role: string, client = admin) =>
  bearer((await ok(client.post('/api/v1/auth/impersonate', { role }))).access_token);
const code = async (role: string, client = admin) => {
  const answer = await client.post('/api/v1/auth/impersonate', { role });
  return [answer.status, answer.body.code];
};

it('has its permissions and keeps the own name, which every event says', async () => {
  const seen = await start('viewer');
  const me = (await t.anonymous.get('/api/v1/auth/me', seen)).body;
  expect(me).toMatchObject({
    id: admin.userId,
    role: 'admin',
    impersonated_role: 'viewer',
    impersonated_role_label: 'Viewer',
  });
  expect(me.permissions).toMatchObject({ 'inventory.view': true, 'inventory.create': false });
  const card = { type: 'Application', name: `Card ${randomUUID()}` };
  await expectProblem(t.anonymous.post('/api/v1/cards', card, seen), 403);
  await expectProblem(t.anonymous.get('/api/v1/events', seen), 403);

  const made = await t.anonymous.create('/api/v1/cards', card, await start('member'));
  const event = await db('events').where({ card_id: made.id }).first();
  expect(event).toMatchObject({ user_id: admin.userId, data: { impersonated_role: 'member' } });
  expect((await eventsOf(t, 'auth.impersonation_started')).at(-1).data.role).toBe('member');
});

it('frees jobs and tickets of nothing', async () => {
  const seen = await start('viewer');
  const job = await t.anonymous.post('/api/v1/exports', { format: 'csv', kind: 'cards' }, seen);
  const { rights } = await db('jobs').where({ id: job.body.job_id }).first();
  expect(rights.impersonated_role).toBe('viewer');
  expect(rights.permissions).not.toContain('costs.view');
  await t.anonymous.create('/api/v1/events/ticket', undefined, seen);
  const stored = await db('one_time_tokens').where({ purpose: 'stream' }).first();
  expect(stored.data.credential.impersonated_role).toBe('viewer');
});

it('does not reach passwords, tokens and second factors', async () => {
  const seen = await start('member');
  const attempts = [
    t.anonymous.post('/api/v1/tokens', { name: 'N' }, seen),
    t.anonymous.patch(`/api/v1/users/${admin.userId}`, { password: 'another quiet horse' }, seen),
    t.anonymous.post('/api/v1/auth/two-factor', { password: 'x' }, seen),
  ];
  for (const attempt of attempts) expect((await attempt).body.code).toBe('session_required');
  await expectProblem(t.anonymous.post('/api/v1/auth/impersonate', { role: 'viewer' }, seen), 403);
});

it('ends when it is stopped, and that token with it', async () => {
  const seen = await start('viewer');
  const refreshed = await t.anonymous.post('/api/v1/auth/refresh', undefined, seen);
  const still = await t.anonymous.get('/api/v1/auth/me', bearer(refreshed.body.access_token));
  expect(still.body.impersonated_role).toBe('viewer');
  const stopped = await t.anonymous.post('/api/v1/auth/stop-impersonating', undefined, seen);
  const me = await t.anonymous.get('/api/v1/auth/me', bearer(stopped.body.access_token));
  expect(me.body).toMatchObject({ impersonated_role: null, permissions: { '*': true } });
  await expectProblem(t.anonymous.get('/api/v1/auth/me', seen), 401);
  expect((await eventsOf(t, 'auth.impersonation_stopped')).at(-1).data).toMatchObject({ role: 'viewer' });
});

it('is refused for administrators, the own and unknown roles, and for more than one holds', async () => {
  expect(await code('admin')).toEqual([409, 'conflict']);
  expect(await code('nobody')).toEqual([422, 'validation_failed']);
  const guide = await t.holding('admin.impersonate', 'inventory.view');
  expect(await code('member', guide)).toEqual([403, 'forbidden']);
  const { role } = (await guide.get('/api/v1/auth/me')).body;
  expect(await code(role, guide)).toEqual([409, 'conflict']);
  const reader = await roleWith(t, 'inventory.view');
  const seen = await start(reader, guide);
  // what the role is given later is not given to who looks as it
  await admin.patch(`/api/v1/roles/${reader}`, {
    permissions: { 'inventory.view': true, 'inventory.create': true },
  });
  await expectProblem(t.anonymous.post('/api/v1/cards', { type: 'Application', name: 'More' }, seen), 403);
  // nor does it go on without the right
  await admin.patch(`/api/v1/roles/${role}`, { permissions: { 'inventory.view': true } });
  await expectProblem(t.anonymous.get('/api/v1/auth/me', seen), 401);
});

it('ends with the role', async () => {
  const role = await roleWith(t, 'inventory.view');
  const seen = await start(role);
  await admin.post(`/api/v1/roles/${role}/archive`);
  await expectProblem(t.anonymous.get('/api/v1/auth/me', seen), 401);
});
