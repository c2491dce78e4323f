/** A dictionary that changes. */

import { loadConnection, loadMapping } from '../../../domain/exchange/itsm/itsm.load.ts';
import { openConnection } from '../../../integrations/exchange/itsm/connections/connections.open.ts';
import { checkDrift } from '../../../integrations/exchange/itsm/mappings/mapping.drift.ts';
import { failure } from '../../emulators/servicenow/http.ts';
import { populate } from '../../emulators/servicenow/landscape.ts';
import { createVirtualClock } from '../../emulators/virtual-clock.ts';
import { ok } from '../../support/harness.ts';
import { openSyncTest } from '../../support/itsm.ts';

const base = '/api/v1/itsm-sync/mappings';

const { t, db, admin, instance, connect, createMapping, runMapping } = await openSyncTest();
populate(instance, { items: { cmdb_ci_business_app: 4 }, relations: 0 });
const connection = await connect();

const name = { card_field: 'name', remote_field: 'name', is_identity: true };
/** A mapping that is gone after the look at it. */
async function on<T>(more: object, look: (id: string) => Promise<T>): Promise<T> {
  const id = await createMapping({
    connection_id: connection,
    card_type_key: 'Application',
    remote_table: 'cmdb_ci_business_app',
    field_mappings: [name],
    ...more,
  });
  const found = await look(id);
  await ok(admin.delete(`${base}/${id}`), 204);
  return found;
}
const field = (card_field: string, remote_field: string) => ({
  field_mappings: [name, { card_field, remote_field }],
});

const check = async (id: string, anew = true) => {
  const { services } = t;
  if (anew) await services.db('itsm_mappings').where({ id }).update({ drift_checked_at: null });
  const remote = openConnection(services, await loadConnection(services.db, services.secrets, connection));
  const calls = () => remote.calls();
  const drift = await checkDrift(await t.ctx(), id, remote, createVirtualClock());
  await remote.close();
  return { drift, calls: calls() };
};
const load = async (id: string) => loadMapping(db, (await t.ctx()).metamodel, id);

it('stops fields whose columns vanished, notifies the owner once, and resumes the fields', async () => {
  await on(field('alias', 'version'), async (id) => {
    expect((await check(id)).drift).toEqual([]);
    expect((await check(id, false)).calls).toBe(0);
    instance.changeField('cmdb', { name: 'version', removed: true });
    expect((await check(id)).drift).toMatchObject([{ column: 'version', change: 'vanished', stops: true }]);
    await check(id);
    const loaded = await load(id);
    expect(loaded.fields.map(({ card_field: path }) => path)).toEqual(['name']);
    expect(loaded.broken).toBeNull();
    const text = { name: 'version', label: 'Version', maxLength: 40 };
    instance.changeField('cmdb', { ...text, type: 'integer' });
    expect((await check(id)).drift).toMatchObject([{ change: 'kind' }]);
    instance.changeField('cmdb', { ...text, type: 'string', maxLength: 10 });
    expect((await check(id)).drift).toMatchObject([{ change: 'max_length', stops: false }]);
    expect((await load(id)).fields).toHaveLength(2);
    const events = await t.services
      .db('events')
      .where({ event_type: 'itsm_mapping.drifted' })
      .whereRaw(`data ->> 'id' = ?`, [id])
      .orderBy('position');
    expect(events.map(({ data }) => data.recipients)).toEqual([[admin.userId], [admin.userId], []]);
    // what is settled by a new look
    expect((await admin.get(`${base}/${id}`)).body.drift).toHaveLength(1);
    expect((await admin.post(`${base}/${id}/validate`)).body.valid).toBe(true);
    expect((await admin.get(`${base}/${id}`)).body.drift).toEqual([]);
    instance.changeField('cmdb', { ...text, type: 'string' });
  });
});

it('breaks a mapping without its identity fields, and one without its table', async () => {
  await on({ field_mappings: [{ ...name, remote_field: 'u_name' }] }, async (id) => {
    instance.changeField('cmdb_ci_business_app', {
      name: 'u_name',
      label: 'Name',
      type: 'string',
      maxLength: 80,
    });
    await check(id);
    instance.changeField('cmdb_ci_business_app', { name: 'u_name', removed: true });
    await check(id);
    expect((await load(id)).broken).toContain("'u_name'");
    expect((await admin.get(`${base}/${id}`)).body.broken).toContain("'u_name'");
  });
  await on({ remote_table: 'cmdb_ci_no_such' }, async (id) => {
    expect((await check(id)).drift).toMatchObject([{ change: 'table', stops: true }]);
    expect((await load(id)).broken).toContain('cmdb_ci_no_such');
  });
});

describe('that the remote temporarily reports wrongly', () => {
  const account = () => instance.accounts.get('estate')!;
  /** Answers the first calls about a table in another way. */
  const misanswer = (table: string, times: number, status = 404) => {
    let left = times;
    instance.instead = (call) => {
      if (call.table !== table || left === 0) return undefined;
      left -= 1;
      return failure(status, 'No Record found', 'Requested URI does not represent any resource');
    };
  };
  afterEach(() => {
    instance.instead = undefined;
    instance.watch = undefined;
    account().hidesRow = () => false;
  });

  it.each(['sys_db_object', 'sys_dictionary'])('by a single 404 on %s stops no field', async (table) => {
    await on(field('alias', 'version'), async (id) => {
      misanswer(table, 1);
      expect((await check(id)).drift).toEqual([]);
      expect((await load(id)).broken).toBeNull();
    });
  });

  it.each([
    ['the row of the table', 'sys_db_object'],
    ['the rows of a column', 'sys_dictionary'],
  ])('by a count that says more than is shown of %s stops nothing, however often', async (_what, table) => {
    await on(field('alias', 'version'), async (id) => {
      await check(id);
      account().hidesRow = (row) =>
        row.table === table &&
        ['version', 'cmdb_ci_business_app'].includes(row.values.element || row.values.name!);
      await expect(check(id)).rejects.toThrow('from the account');
      expect((await load(id)).broken).toBeNull();
      expect((await load(id)).fields).toHaveLength(2);
    });
  });

  it('by different responses stops no field, and is checked again by the next run', () =>
    on(field('alias', 'version'), async (id) => {
      await check(id);
      let calls = 0;
      instance.watch = ({ table }) => {
        if (table === 'sys_db_object') calls += 1;
      };
      const version = { name: 'version', label: 'Version', type: 'string' as const, maxLength: 40 };
      instance.changeField('cmdb', { name: 'version', removed: true });
      instance.instead = (call) => {
        if (call.table === 'sys_db_object' && calls === 2) misanswer('sys_db_object', 1);
        return undefined;
      };
      expect((await check(id)).drift).toEqual([]);
      expect(calls).toBeGreaterThan(1);
      instance.changeField('cmdb', version);
      expect((await check(id, false)).calls).toBeGreaterThan(0);
    }));

  it('for some time is corrected by the next run, without waiting for an hour', () =>
    on({}, async (id) => {
      await check(id);
      misanswer('sys_db_object', 99);
      expect((await check(id)).drift).toMatchObject([{ change: 'table', stops: true }]);
      expect(await load(id)).toMatchObject({ broken_by_drift: true });
      instance.instead = undefined;
      const run = await runMapping(id, 'run');
      expect([run.status, run.stats.fetched]).toEqual(['review', 4]);
      expect((await load(id)).broken).toBeNull();
      await admin.post(`/api/v1/itsm-sync/sync/runs/${run.id}/cancel`);
    }));
});
