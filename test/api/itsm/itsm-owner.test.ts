import { fireIfDue } from '../../../domain/kernel/jobs/schedules.fire.ts';
import { closeAfterAll, expectProblem, ok, type TestClient } from '../../support/harness.ts';
import { syncBase as base, openSyncTest, startInstance } from '../../support/itsm.ts';
import { until } from '../../support/until.ts';

const table = 'cmdb_ci_business_app';

let connection: string;

const sync = { 'itsm_sync.view': true, 'itsm_sync.manage': true };

const { t, db, admin, instance, connect, createMapping, map, runMapping } = await openSyncTest();
/** Where the attacker would like to have the inventory. */
const elsewhere = closeAfterAll(await startInstance());
await db('roles').insert([
  { key: 'narrow', label: 'Narrow', permissions: JSON.stringify(sync) },
  { key: 'steward', label: 'Steward', permissions: JSON.stringify({ ...sync, 'inventory.view': true }) },
]);
await db.raw("select record_events('[]', '{roles}')");
/** One may manage synchronisation, and nothing else; the other may see cards as well, without costs. */
const [narrow, steward] = await t.clients('narrow', 'steward');

beforeEach(async () => {
  await db.raw('truncate itsm_connections, cards cascade');
  await db('job_schedules').where('key', 'like', 'itsm:%').delete();
  connection = await connect();
  elsewhere.calls.length = 0;
  const attributes = { costTotalAnnual: 4711 };
  await admin.card({ type: 'Application', name: 'Ledger', description: 'Books', attributes });
});

const field = (card_field: string, remote_field: string, more: object = {}) => ({
  card_field,
  remote_field,
  direction: 'local_leads',
  ...more,
});
const name = field('name', 'name', { is_identity: true });
const pushing = (fields: object[] = [name], more: object = {}) =>
  createMapping({
    connection_id: connection,
    card_type_key: 'Application',
    remote_table: table,
    sync_direction: 'push',
    auto_apply: true,
    schedule: { cron: '30 2 * * *' },
    field_mappings: fields,
    ...more,
  });
const redirect = () => ({ instance_url: elsewhere.base, username: 'estate', password: 'secret' });
const read = async () => (await admin.get(`${base}/connections/${connection}`)).body;
const redirected = (client: TestClient, body: object = redirect()) =>
  client.patch(`${base}/connections/${connection}`, body);
const fire = (mapping: string) => fireIfDue(db, `itsm:${mapping}`, new Date('2099-01-03T12:00:00Z'));
const newestRun = async (mapping: string) =>
  (await admin.get(`${base}/sync/runs?mapping_id=${mapping}`)).body.items[0];

describe('a connection', () => {
  it('cannot be redirected by a user without the rights of its mappings', async () => {
    const mapping = await pushing([name, field('attributes.costTotalAnnual', 'short_description')]);
    for (const [client, permission] of [
      [narrow, 'inventory.view'],
      [steward, 'costs.view'],
    ] as const) {
      for (const body of [redirect(), { password: 'another' }, { correlation_column: 'u_estate' }])
        await expectProblem(redirected(client, body), 403, permission);
      await expectProblem(client.post(`${base}/sync/push/${mapping}`), 403, permission);
      await admin.patch(`${base}/connections/${connection}`, { is_active: false });
      await expectProblem(redirected(client, { is_active: true }), 403, permission);
      await admin.patch(`${base}/connections/${connection}`, { is_active: true });
    }
    expect(await read()).toMatchObject({ owner_id: admin.userId, instance_url: instance.base });
    expect(elsewhere.calls).toEqual([]);
  });

  it("is owned by the user who redirects it, and automatic runs have that user's rights", async () => {
    const mapping = await pushing();
    expect(await read()).toMatchObject({ owner_id: admin.userId, owner_name: 'admin' });
    const changed = await redirected(steward);
    expect([changed.status, changed.body.owner_id], changed.text).toEqual([200, steward.userId]);
    await fire(mapping);
    const run = await until('the run to end', async () => {
      const newest = await newestRun(mapping);
      return newest?.status === 'completed' ? newest : undefined;
    });
    expect(run).toMatchObject({ trigger: 'schedule', stats: { created: 1 } });
    expect([...elsewhere.store.of(table)].map((record) => record.values.name)).toEqual(['Ledger']);
  });

  it('is owned by the user who changes the direction of a mapping and has the rights of all mappings', async () => {
    const mapping = await pushing([name], { sync_direction: 'pull' });
    const other = await pushing([name, field('attributes.costTotalAnnual', 'u_cost')], {
      remote_table: 'cmdb_ci_appl',
    });
    const turned = () => steward.patch(`${base}/mappings/${mapping}`, { sync_direction: 'push' });
    await expectProblem(turned(), 403, 'costs.view');
    // the reason of a refused new record may quote a cost where the mapping has one
    const card = await db('cards').where({ name: 'Ledger' }).first('id');
    const reason = 'No record can be created: 4711 is too much';
    for (const [mapping_id, shown] of [
      [mapping, reason],
      [other, null],
    ]) {
      const question = { mapping_id, kind: 'match', card_id: card.id, refused_side: 'remote', reason };
      await db('itsm_review_items').insert(question);
      const reasons = async (client: TestClient) =>
        (await client.get(`${base}/questions?mapping_id=${mapping_id}&fields=reason`)).body.items;
      expect(await reasons(admin)).toEqual([{ reason }]);
      expect(await reasons(steward)).toEqual([{ reason: shown }]);
    }
    await admin.delete(`${base}/mappings/${other}`);
    await ok(turned());
    expect(await read()).toMatchObject({ owner_id: steward.userId });
  });

  it('retains its owner when another user renames or pauses it', async () => {
    await pushing();
    await redirected(narrow, { name: 'Renamed', is_active: false });
    expect(await read()).toMatchObject({ owner_id: admin.userId, name: 'Renamed', paused_reason: null });
  });
});

describe('a run', () => {
  it('is refused when the owner loses a needed right; an automatic run pauses the connection', async () => {
    const mapping = await pushing();
    const owner = await t.as('steward', 'leaving');
    await redirected(owner);
    await db('users').where({ id: owner.userId }).update({ role: 'narrow' });
    const message = 'The owner of the connection needs the permission inventory.view.';
    const asked = await admin.post(`${base}/sync/push/${mapping}`);
    expect(asked.body).toMatchObject({ status: 403, permission: 'inventory.view', detail: message });
    expect(await read()).toMatchObject({ is_active: true });
    await fire(mapping);
    await until('the pause', async () => (await read()).is_active === false);
    expect(await read()).toMatchObject({ paused_reason: message, owner_id: owner.userId });
    expect(elsewhere.calls).toEqual([]);
    const told = await until('the notification', () =>
      db('notifications').where({ user_id: admin.userId, type: 'itsm_attention' }).first(),
    );
    expect(told.message).toBe(message);
    // the user who resumes it becomes its owner
    const resumed = await redirected(admin, { is_active: true });
    expect(resumed.body).toMatchObject({ owner_id: admin.userId, is_active: true, paused_reason: null });
  });

  it.each([
    ['deactivated', { is_active: false }, 'The owner of the connection is no longer active.'],
    ['deleted', null, 'The owner of the connection no longer exists.'],
  ])('is refused once its owner is %s, and so is a plan that waits', async (how, change, message) => {
    const mapping = await pushing([name], { auto_apply: false });
    const plan = await runMapping(mapping, 'push');
    expect(plan.status).toBe('review');
    const owner = await t.as('steward', `leaving ${how}`);
    await redirected(owner);
    if (change) await db('users').where({ id: owner.userId }).update(change);
    else await admin.delete(`/api/v1/users/${owner.userId}`);
    for (const { body } of [
      await admin.post(`${base}/sync/runs/${plan.id}/apply`, {}),
      await admin.post(`${base}/sync/push/${mapping}`),
    ])
      expect(body).toMatchObject({ status: 403, detail: message });
    expect(elsewhere.calls).toEqual([]);
  });

  it('that a user starts has the rights that both the user and the owner have', async () => {
    const pulling = await map(connection, 'Application', table);
    instance.elsewhere.insert(table, { name: 'From outside' });
    await expectProblem(steward.post(`${base}/sync/pull/${pulling}`), 403, 'inventory.create');
    expect(await runMapping(pulling, 'pull')).toMatchObject({ status: 'completed', stats: { created: 1 } });
    expect((await db('cards').where({ name: 'From outside' }).first()).created_by).toBe(admin.userId);
    instance.elsewhere.insert(table, { name: 'Later' });
    await admin.patch(`${base}/mappings/${pulling}`, { schedule: { cron: '30 2 * * *' } });
    await fire(pulling);
    const card = await until('the card', () => db('cards').where({ name: 'Later' }).first());
    expect(card.created_by).toBe(admin.userId);
  });
});
