import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { bearer, eventsOf, roleWith } from '../../support/accounts.ts';
import { closeAfterAll, createTestApp } from '../../support/harness.ts';

const t = closeAfterAll(await createTestApp());
const admin = await t.as('admin');

const start = async (role: string, client = admin) => {
  const answer = await client.post('/api/v1/auth/impersonate', { role });
  expect(answer.status, answer.text).toBe(200);
  return bearer(answer.body.access_token);
};
const code = async (role: string, client = admin) => {
  const answer = await client.post('/api/v1/auth/impersonate', { role });
  return [answer.status, answer.body.code];
};

describe('looking at the service as another role', () => {
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
    expect((await t.anonymous.post('/api/v1/cards', card, seen)).status).toBe(403);
    expect((await t.anonymous.get('/api/v1/events', seen)).status).toBe(403);

    const made = await t.anonymous.post('/api/v1/cards', card, await start('member'));
    expect(made.status).toBe(201);
    const event = await t.services.db('events').where({ card_id: made.body.id }).first();
    expect(event.user_id).toBe(admin.userId);
    expect(event.data.impersonated_role).toBe('member');
    expect((await eventsOf(t, 'auth.impersonation_started')).at(-1).data.role).toBe('member');
  });

  it('frees jobs and tickets of nothing', async () => {
    const seen = await start('viewer');
    const job = await t.anonymous.post('/api/v1/exports', { format: 'csv', kind: 'cards' }, seen);
    const { rights } = await t.services.db('jobs').where({ id: job.body.job_id }).first();
    expect(rights.impersonated_role).toBe('viewer');
    expect(rights.permissions).not.toContain('costs.view');
    const ticket = await t.anonymous.post('/api/v1/events/ticket', undefined, seen);
    expect(ticket.status).toBe(201);
    const stored = await t.services.db('one_time_tokens').where({ purpose: 'stream' }).first();
    expect(stored.data.impersonated_role).toBe('viewer');
  });

  it('does not reach passwords, tokens and second factors', async () => {
    const seen = await start('member');
    const attempts = [
      t.anonymous.post('/api/v1/tokens', { name: 'N' }, seen),
      t.anonymous.patch(`/api/v1/users/${admin.userId}`, { password: 'another quiet horse' }, seen),
      t.anonymous.post('/api/v1/auth/two-factor', { password: 'x' }, seen),
    ];
    for (const attempt of attempts) expect((await attempt).body.code).toBe('session_required');
    expect((await t.anonymous.post('/api/v1/auth/impersonate', { role: 'viewer' }, seen)).status).toBe(403);
  });

  it('ends when it is stopped, and that token with it', async () => {
    const seen = await start('viewer');
    const refreshed = await t.anonymous.post('/api/v1/auth/refresh', undefined, seen);
    const still = await t.anonymous.get('/api/v1/auth/me', bearer(refreshed.body.access_token));
    expect(still.body.impersonated_role).toBe('viewer');
    const stopped = await t.anonymous.post('/api/v1/auth/stop-impersonating', undefined, seen);
    const me = await t.anonymous.get('/api/v1/auth/me', bearer(stopped.body.access_token));
    expect(me.body).toMatchObject({ impersonated_role: null, permissions: { '*': true } });
    expect((await t.anonymous.get('/api/v1/auth/me', seen)).status).toBe(401);
    expect((await eventsOf(t, 'auth.impersonation_stopped')).at(-1).data).toMatchObject({ role: 'viewer' });
  });

  it('is refused for administrators, the own and unknown roles, and for more than one holds', async () => {
    expect(await code('admin')).toEqual([409, 'conflict']);
    expect(await code('nobody')).toEqual([422, 'validation_failed']);
    const guide = await t.as(await roleWith(t, 'admin.impersonate', 'inventory.view'));
    expect(await code('member', guide)).toEqual([403, 'forbidden']);
    const { role } = (await guide.get('/api/v1/auth/me')).body;
    expect(await code(role, guide)).toEqual([409, 'conflict']);
    const reader = await roleWith(t, 'inventory.view');
    const seen = await start(reader, guide);
    // what the role is given later is not given to who looks as it
    await admin.patch(`/api/v1/roles/${reader}`, {
      permissions: { 'inventory.view': true, 'inventory.create': true },
    });
    const card = { type: 'Application', name: 'More' };
    expect((await t.anonymous.post('/api/v1/cards', card, seen)).status).toBe(403);
    // nor does it go on without the right
    await admin.patch(`/api/v1/roles/${role}`, { permissions: { 'inventory.view': true } });
    expect((await t.anonymous.get('/api/v1/auth/me', seen)).status).toBe(401);
  });

  it('ends with the role', async () => {
    const role = await roleWith(t, 'inventory.view');
    const seen = await start(role);
    await admin.post(`/api/v1/roles/${role}/archive`);
    expect((await t.anonymous.get('/api/v1/auth/me', seen)).status).toBe(401);
  });
});
