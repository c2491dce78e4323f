import { password, person, roleWith } from '../../support/accounts.ts';
import { expectProblem, ok, openApp } from '../../support/harness.ts';

const { t, db, admin } = await openApp(['admin']);
const viewer = await db('roles').where({ key: 'viewer' }).first('permissions');
/** May manage users, and holds what viewers hold besides. */
const manager = await t.holding('admin.users', ...Object.keys(viewer.permissions));

const url = '/api/v1/users';

it('an account that was closed is opened again by those alone who hold what it holds', async () => {
  const role = await roleWith(t, 'admin.roles');
  for (const who of [await person(t, { is_active: false, role })]) {
    const one = await manager.patch(`${url}/${who.id}`, { is_active: true });
    const many = await manager.patch(`${url}/bulk`, { ids: [who.id], updates: { is_active: true } });
    for (const answer of [one, many]) await expectProblem(answer, 403, 'admin.roles');
    await ok(admin.patch(`${url}/${who.id}`, { is_active: true }));
    // to close it is no gain
    await ok(manager.patch(`${url}/${who.id}`, { is_active: false }));
  }
  const viewer = await person(t, { is_active: false, role: 'viewer' });
  await ok(manager.patch(`${url}/${viewer.id}`, { is_active: true }));
});

it('an account with roles on cards is taken over by who holds these rights on all cards alone', async () => {
  const who = await person(t, { role: 'viewer' });
  const act = () => manager.patch(`${url}/${who.id}`, { password });
  await ok(act());
  const card = await admin.post('/api/v1/cards', { type: 'Application', name: 'Held' });
  await admin.create(`/api/v1/cards/${card.body.id}/stakeholders`, { user_id: who.id, role: 'responsible' });
  const answers = [
    await act(),
    await manager.patch(`${url}/${who.id}`, { email: 'taken@estate.example' }),
    await manager.post(`/api/v1/accounts/${who.id}/tokens`, { name: 'Mine' }),
  ];
  answers.push(await manager.get(`/api/v1/accounts/${who.id}/personal-data`));
  for (const { status, body } of answers) expect([status, body.permission]).toEqual([403, 'inventory.edit']);
  await ok(admin.patch(`${url}/${who.id}`, { password }));
});
