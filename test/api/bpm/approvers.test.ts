import { startWorkers } from '../../../workers/runtime.ts';
import { ok, openApp, pluck, type TestClient } from '../../support/harness.ts';
import { createImporter } from '../../support/imports.ts';
import { tellAll, toldTo } from '../../support/notifications.ts';
import { chain } from './models.ts';

/* Whoever is asked to approve a flow may lose the right to while it waits. It never waits for nobody. */

const { t, db } = await openApp();
const [admin, approver, member] = await t.clients('admin', 'bpm_admin', 'member');

/** A process whose flow waits, with these people as its owners. */
async function pending(...owners: TestClient[]) {
  const { id: process } = await admin.card({ type: 'BusinessProcess' });
  for (const { userId: user_id } of owners) await owns(process, user_id);
  const flow = `/api/v1/bpm/processes/${process}/flow`;
  const { id } = await member.create(`${flow}/drafts`, { bpmn_xml: chain({ a: 'A' }) });
  await ok(member.post(`${flow}/versions/${id}/submit`));
  return { process, id, url: `${flow}/versions/${id}` };
}
const owns = (process: string, user_id: string, role = 'process_owner') =>
  admin.create(`/api/v1/cards/${process}/stakeholders`, { user_id, role });
/** Who is asked to approve a version at present. */
async function asked({ id }: { id: string }): Promise<string[]> {
  return (await db('todos').where({ subject_id: id, status: 'open' }).pluck('assigned_to')).sort();
}
const ids = (...clients: TestClient[]) => clients.map(({ userId }) => userId).sort();
const user = (client: TestClient, change: object) =>
  ok(admin.patch(`/api/v1/users/${client.userId}`, change));

it('a process owner who leaves is followed by the other owners, or else by all who may approve', async () => {
  const one = await t.as('viewer', 'first owner');
  const two = await t.as('viewer', 'second owner');
  const flow = await pending(one, two);
  expect(await asked(flow)).toEqual(ids(one, two));
  await user(one, { is_active: false });
  expect(await asked(flow)).toEqual(ids(two));
  const { items } = await ok(admin.get(`/api/v1/cards/${flow.process}/stakeholders`));
  const { id: held } = items.find(({ user_id }: { user_id: string }) => user_id === two.userId);
  const { next: since } = await ok(admin.get('/api/v1/changes?after=now'));
  await ok(admin.patch(`/api/v1/stakeholders/${held}`, { user_id: two.userId, role: 'observer' }));
  expect(await asked(flow)).toEqual(ids(admin, approver));
  const { items: events } = await ok(admin.get(`/api/v1/changes?after=${since}`));
  const types: string[] = pluck(events, 'event_type');
  const kinds = types.filter((type) => type !== 'card.updated').sort();
  expect(kinds).toEqual(['stakeholder.role_changed', 'todo.created', 'todo.created', 'todo.deleted']);
  await tellAll(t.services);
  // whoever has taken the right away is asked by the rule, and told like everybody else
  for (const { userId } of [admin, approver]) {
    const told = (await toldTo(t.services, userId)).filter(({ card_id }) => card_id === flow.process);
    expect(told.map(({ type }) => type)).toEqual(['process_flow_approval_requested']);
    expect(told[0]!.message).toContain('Approve revision 1');
  }
  // it waits still, and what was asked is taken back when there is an owner again
  expect(await ok(admin.get(flow.url))).toMatchObject({ status: 'pending' });
  await user(one, { is_active: true });
  expect(await asked(flow)).toEqual(ids(one));
  await ok(approver.post(`${flow.url}/approve`));
  expect(await asked(flow)).toEqual([]);
});

it('those who are asked because of their role are replaced only where none of them is left', async () => {
  const other = await t.as('bpm_admin', 'other approver');
  const flow = await pending();
  expect(await asked(flow)).toEqual(ids(admin, approver, other));
  await user(other, { role: 'viewer' });
  expect(await asked(flow)).toEqual(ids(admin, approver));
  // who may approve as well by now is not asked, since somebody is
  await user(other, { role: 'bpm_admin' });
  expect(await asked(flow)).toEqual(ids(admin, approver));
  const { permissions } = (await ok(admin.get('/api/v1/roles'))).items.find(
    ({ key }: { key: string }) => key === 'bpm_admin',
  );
  await ok(
    admin.patch('/api/v1/roles/bpm_admin', { permissions: { ...permissions, 'bpm.approve_flows': false } }),
  );
  expect(await asked(flow)).toEqual(ids(admin));
  await ok(admin.patch('/api/v1/roles/bpm_admin', { permissions }));
  await user(other, { is_active: false });
});

it('a role on processes that no longer approves, and its return, are followed', async () => {
  const owner = await t.as('viewer', 'owner by role');
  const flow = await pending(owner);
  const role = '/api/v1/metamodel/types/BusinessProcess/stakeholder-roles/process_owner';
  const before = (
    await ok(admin.get('/api/v1/metamodel/types/BusinessProcess/stakeholder-roles'))
  ).items.find(({ key }: { key: string }) => key === 'process_owner');
  await ok(admin.patch(role, { permissions: { ...before.permissions, 'card.bpm_approve': false } }));
  expect(await asked(flow)).toEqual(ids(admin, approver));
  await ok(admin.patch(role, { permissions: before.permissions }));
  expect(await asked(flow)).toEqual(ids(owner));
});

it('a rollback brings back who was asked', async () => {
  const owner = await t.as('viewer', 'owner for now');
  const flow = await pending(owner);
  const { items } = await ok(admin.get(`/api/v1/cards/${flow.process}/stakeholders`));
  await ok(admin.delete(`/api/v1/stakeholders/${items[0].id}`), 204);
  expect(await asked(flow)).toEqual(ids(admin, approver));
  await admin.undo();
  expect(await asked(flow)).toEqual(ids(owner));
  // what waits again after a rollback is put to who may approve by then
  await ok(owner.post(`${flow.url}/reject`));
  const { batch_id } = await db('events').orderBy('position', 'desc').first('batch_id');
  await user(owner, { is_active: false });
  await ok(admin.post(`/api/v1/mutation-batches/${batch_id}/rollback`, { dry_run: false, force: true }));
  expect(await ok(admin.get(flow.url))).toMatchObject({ status: 'pending' });
  expect(await asked(flow)).toEqual(ids(admin, approver));
});

it('a merge asks the owners of both processes', async () => {
  const one = await t.as('viewer', 'owner here');
  const two = await t.as('viewer', 'owner there');
  const flow = await pending(one);
  const { id: survivor_id } = await admin.card({ type: 'BusinessProcess' });
  await owns(survivor_id, two.userId);
  const merged = await ok(
    admin.post('/api/v1/cards/merge', { survivor_id, merged_ids: [flow.process], dry_run: false }),
  );
  expect(await asked(flow)).toEqual(ids(one, two));
  await ok(admin.post(`/api/v1/card-merges/${merged.merge_id}/undo`, { dry_run: false }));
  expect(await asked(flow)).toEqual(ids(one));
});

it('an import that gives the role to somebody else asks him', async () => {
  const [one, two] = [await t.as('viewer', 'owner in files'), await t.as('viewer', 'other owner in files')];
  const flow = await pending(one);
  await ok(admin.patch(`/api/v1/cards/${flow.process}`, { external_id: 'P-1' }));
  const { email } = await ok(two.get('/api/v1/auth/me'));
  const workers = await startWorkers(t.services);
  try {
    const rows = `type,external_id,stakeholders\nBusinessProcess,P-1,process_owner:${email}\n`;
    const { job } = await createImporter(t.services, await t.ctx()).run(rows, { mode: 'upsert' });
    expect(job.counts).toMatchObject({ updated: 1 });
  } finally {
    await workers.close(5_000);
  }
  expect(await asked(flow)).toEqual(ids(two));
});
