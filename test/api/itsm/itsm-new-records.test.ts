import { expectInvalid, pluck } from '../../support/harness.ts';
import { syncBase as base, connectionInput, openSyncTest } from '../../support/itsm.ts';

const TABLE = 'cmdb_ci_business_app';
const ways = {
  import_set: { through: 'import_set', staging_tables: { [TABLE]: 'u_estate_apps' } },
  identification: { through: 'identification', data_source: 'Estate' },
} as const;
/** Names without any similarity. */
const names = {
  import_set: ['Payroll', 'General ledger', 'Fleet', 'Intranet', 'Archive'],
  identification: ['Radar', 'Helpdesk', 'Badges', 'Canteen', 'Parking'],
} as const;

const { db, admin, instance, connect, storeMapping, runMapping, undoRun, staged, questions } =
  await openSyncTest({
    importSets: {
      u_estate_apps: {
        target: TABLE,
        map: 'Estate',
        coalesce: ['u_made_as'],
        mandatory: ['short_description'],
        ignores: ['passed over'],
      },
    },
  });
instance.changeField('cmdb_ci', { name: 'u_made_as', label: 'Made as', type: 'string' });

const cardNamed = async (name: string, more: object = {}): Promise<string> =>
  (await admin.card({ type: 'Application', name, description: 'About it', ...more })).id;
const inserted = () => instance.writes.filter(({ kind }) => kind === 'insert').length;
const record = (name: string) => [...instance.store.of(TABLE)].filter(({ values }) => values.name === name);

describe.each(['import_set', 'identification'] as const)('new records that are created by %s', (way) => {
  let connectionId: string;
  let mapping: string;
  beforeAll(async () => {
    connectionId = await connect();
    const patch = { new_records: ways[way], correlation_column: 'u_made_as' };
    const { status, body } = await admin.patch(`${base}/connections/${connectionId}`, patch);
    expect([status, body.new_records]).toEqual([200, ways[way]]);
    const more = { sync_mode: 'conservative', max_deletion_ratio: 1, card_filter: `alias = "${way}"` };
    mapping = await storeMapping({ connectionId, direction: 'push', more });
  });
  const [one, two, three, four, five] = names[way];
  const make = (name: string, more: object = {}) => cardNamed(name, { alias: way, ...more });
  const push = () => runMapping(mapping, 'push');
  const door = way === 'import_set' ? 'import' : 'reconcile';

  it('are created once even if responses are lost, and changed by the Table API', async () => {
    const cards = [await make(one), await make(two)];
    const before = inserted();
    instance.faults.arm({ fault: 'reset_after_write', kinds: [door], times: 1 });
    instance.faults.arm({ fault: 'server_error', kinds: [door], nth: 3, times: 1 });
    expect((await push()).stats).toMatchObject({ created: 2, errors: 0 });
    expect([inserted() - before, instance.count('create', TABLE)]).toEqual([2, 0]);
    const [made] = record(one);
    expect(made!.values.u_made_as).toMatch(/^[0-9a-f-]{36}:\d+$/);
    await admin.patch(`/api/v1/cards/${cards[0]}`, { description: 'Changed here' });
    expect((await push()).stats).toMatchObject({ updated: 1, errors: 0 });
    expect(record(one)[0]!.values.short_description).toBe('Changed here');
    expect((await push()).stats.planned).toEqual({});
    await admin.post(`/api/v1/cards/${cards[0]}/archive`);
    await push();
    expect((await push()).stats).toMatchObject({ deleted: 1, errors: 0 });
    expect(record(one)).toEqual([]);
  });

  it('do not stop others if they are refused', async () => {
    await Promise.all([make(three), make(four)]);
    if (way === 'import_set') {
      await make(five, { description: null });
      await cardNamed('passed over', { alias: way });
    } else {
      await make(five);
      // two of the name appear while the run is under way
      instance.watch = ({ kind }) => {
        if (kind !== 'reconcile' || record(five).length > 0) return;
        for (const _ of [1, 2]) instance.elsewhere.insert(TABLE, { name: five });
      };
    }
    const run = await push();
    instance.watch = undefined;
    const refused = way === 'import_set' ? 2 : 1;
    expect(run).toMatchObject({ status: 'completed', stats: { created: 2, errors: refused } });
    expect([record(three), record(four)].map(({ length }) => length)).toEqual([1, 1]);
    const messages = pluck(await staged(run.id, '&status=error'), 'error_message');
    expect(messages).toHaveLength(refused);
    expect(messages.join('\n')).toMatch(
      way === 'import_set'
        ? /short_description is mandatory[\s\S]*skipped by the transform map|skipped by the transform map[\s\S]*short_description is mandatory/
        : /Found duplicate records/,
    );
    const asked = await questions(mapping);
    expect(asked).toHaveLength(refused);
    for (const { reason } of asked) expect(reason).toMatch(/^No record can be created: ./);
    expect(asked).toMatchObject(
      Array(refused).fill({ kind: 'match', remote_id: null, card_id: expect.any(String), run_id: run.id }),
    );
    const answer = await admin.post(`${base}/questions/${asked[0].id}/answer`, { card_id: null });
    expect(answer.body).toMatchObject({
      code: 'wrong_state',
      detail: expect.stringContaining('The remote refused'),
    });
  });

  if (way === 'import_set') {
    it('are planned again only after the refused card was changed', async () => {
      expect(await push()).toMatchObject({ complete: false, stats: { planned: {} } });
      expect(await questions(mapping)).toHaveLength(2);
      const card = await db('cards').where({ name: five, alias: way }).first('id');
      await admin.patch(`/api/v1/cards/${card.id}`, { description: 'About it' });
      expect(await push()).toMatchObject({ status: 'completed', complete: true, stats: { created: 1 } });
      expect(record(five)).toHaveLength(1);
      // the other card was refused again
      expect(await questions(mapping)).toMatchObject([{ card_name: 'passed over' }]);
      const passedOver = await db('cards').where({ name: 'passed over' }).first('id');
      await admin.post(`/api/v1/cards/${passedOver.id}/archive`);
      await push();
      expect(await questions(mapping)).toEqual([]);
    });
  }

  if (way === 'identification') {
    it('do not count as created here if the record existed before', async () => {
      for (const lost of [false, true]) {
        const name = lost ? 'Reading room' : 'Bicycles';
        const card = await make(name);
        // it appears while the run is under way
        instance.watch = ({ kind }) => {
          if (kind === 'reconcile' && record(name).length === 0) instance.elsewhere.insert(TABLE, { name });
        };
        if (lost) instance.faults.arm({ fault: 'reset_after_write', kinds: [door], times: 1 });
        const run = await push();
        instance.watch = undefined;
        expect(run.stats).toMatchObject({ created: 1, errors: 0 });
        expect(record(name)).toHaveLength(1);
        await undoRun(run.id);
        expect(record(name)).toHaveLength(1);
        await push();
        await admin.post(`/api/v1/cards/${card}/archive`);
        await push();
        await push();
        expect(record(name)).toHaveLength(1);
      }
    });
  }

  it('need a separate right', async () => {
    const { body } = await admin.post(`${base}/connections/${connectionId}/test`);
    expect(body.success).toBe(true);
    const table = way === 'import_set' ? 'u_estate_apps' : 'cmdb_ci';
    const right = body.rights.find(
      (one: { table: string; right: string }) => one.table === table && one.right === 'create',
    );
    expect(right).toMatchObject({ granted: true, needed: false });
    // and the mapped table is tested for what the mapping does there
    const mapped = body.rights.filter((one: { table: string }) => one.table === TABLE);
    expect(pluck(mapped, 'right')).toEqual(['read', 'create', 'update', 'delete']);
    expect(mapped[0]).toMatchObject({ granted: true, needed: true });
  });
});

it('a create API is available for ServiceNow only, and names tables', async () => {
  const post = (kind: string, more: object) =>
    admin.post(`${base}/connections`, connectionInput(kind, 'https://x.example.com', more));
  const netbox = {
    auth_type: 'token',
    token: 'x',
    new_records: ways.identification,
    correlation_column: 'u_x',
  };
  const refused = ['new_records not_offered', 'correlation_column not_offered'] as const;
  await expectInvalid(post('netbox', netbox), ...refused);
  const way = { through: 'import_set', staging_tables: { 'a b': 'u_x' } };
  const unnamed = post('servicenow', { username: 'a', password: 'b', new_records: way });
  await expectInvalid(unnamed, 'new_records.staging_tables.a b bad_value');
});
