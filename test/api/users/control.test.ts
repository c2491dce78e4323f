import { describe, expect, it } from 'vitest';
import { password, person, roleWith } from '../../support/accounts.ts';
import { closeAfterAll, createTestApp } from '../../support/harness.ts';

const t = closeAfterAll(await createTestApp());
const admin = await t.as('admin');
const viewer = await t.services.db('roles').where({ key: 'viewer' }).first('permissions');
/** May manage users, and holds what viewers hold besides. */
const manager = await t.as(await roleWith(t, 'admin.users', ...Object.keys(viewer.permissions)));

const url = '/api/v1/users';

describe('an account that was closed', () => {
  it('is opened again by those alone who hold what it holds', async () => {
    const role = await roleWith(t, 'admin.roles');
    for (const who of [await person(t, { is_active: false, role })]) {
      const one = await manager.patch(`${url}/${who.id}`, { is_active: true });
      const many = await manager.patch(`${url}/bulk`, { ids: [who.id], updates: { is_active: true } });
      for (const answer of [one, many]) {
        expect([answer.status, answer.body.permission]).toEqual([403, 'admin.roles']);
      }
      expect((await admin.patch(`${url}/${who.id}`, { is_active: true })).status).toBe(200);
      // to close it is no gain
      expect((await manager.patch(`${url}/${who.id}`, { is_active: false })).status).toBe(200);
    }
    const viewer = await person(t, { is_active: false, role: 'viewer' });
    expect((await manager.patch(`${url}/${viewer.id}`, { is_active: true })).status).toBe(200);
  });
});

describe('an account that holds roles on cards', () => {
  it('is taken over by those alone who hold on all cards what it holds on some', async () => {
    const who = await person(t, { role: 'viewer' });
    const act = () => manager.patch(`${url}/${who.id}`, { password });
    expect((await act()).status).toBe(200);
    const card = await admin.post('/api/v1/cards', { type: 'Application', name: 'Held' });
    const held = { user_id: who.id, role: 'responsible' };
    expect((await admin.post(`/api/v1/cards/${card.body.id}/stakeholders`, held)).status).toBe(201);
    const answers = [
      await act(),
      await manager.patch(`${url}/${who.id}`, { email: 'taken@estate.example' }),
      await manager.post(`/api/v1/accounts/${who.id}/tokens`, { name: 'Mine' }),
    ];
    answers.push(await manager.get(`/api/v1/accounts/${who.id}/personal-data`));
    for (const { status, body } of answers) {
      expect([status, body.permission]).toEqual([403, 'inventory.edit']);
    }
    expect((await admin.patch(`${url}/${who.id}`, { password })).status).toBe(200);
  });
});
