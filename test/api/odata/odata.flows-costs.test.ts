import type { TestResponse } from '../../support/harness.ts';
import { ok, pluck } from '../../support/harness.ts';
import { ask, createLandscape, follow, namesOf } from './odata.fixture.ts';

const { t, admin, ids } = await createLandscape();

afterAll(() => t.close());

const wire = await admin.card({ type: 'Interface', name: 'Wire' });
const orders = await admin.card({ type: 'DataObject', name: 'Orders' });
const flow = await admin.create('/api/v1/data-flows', {
  source_id: ids.Alpha,
  target_id: ids.Beta,
  interface_id: wire.id,
  data_object_ids: [orders.id],
  frequency: 'daily',
  description: 'Nightly',
  external_id: 'F-1',
});
const back = await admin.create('/api/v1/data-flows', {
  source_id: ids.Beta,
  target_id: ids.Database,
  direction: 'bidirectional',
});
const year = (amount: number, kind = 'licence') => ({
  kind,
  period_start: '2026-01-01',
  period_end: '2026-12-31',
  amount,
});
const cost = await admin.create(`/api/v1/cards/${ids.Beta}/costs`, { ...year(1200.5), external_id: 'C-1' });
const server = await admin.create(`/api/v1/cards/${ids.Server}/costs`, year(80, 'staff'));
const relation = ids['Alpha-Server']!;
const ofRelation = await admin.create(`/api/v1/relations/${relation}/costs`, year(7, 'other'));
const idsOf = ({ body }: TestResponse): string[] => pluck(body.value, 'id');
const entity = (path: string, options = {}) => ok(ask(admin, path, options));

describe('data flows', () => {
  it('are a set with filters, and lead to their cards', async () => {
    expect(await entity(`/DataFlows(${flow.id})`)).toMatchObject({
      source_id: ids.Alpha,
      source_type: 'Application',
      target_id: ids.Beta,
      direction: 'forward',
      frequency: 'daily',
      description: 'Nightly',
      external_id: 'F-1',
    });
    const found = (options: Record<string, string>) => ask(admin, '/DataFlows', options);
    expect(idsOf(await found({ $filter: "frequency eq 'daily' and source_type eq 'Application'" }))).toEqual([
      flow.id,
    ]);
    expect(idsOf(await found({ $filter: "target_type eq 'ITComponent'" }))).toEqual([back.id]);
    expect(idsOf(await found({ $filter: "DataObjects/any(d:d/name eq 'Orders')" }))).toEqual([flow.id]);
    expect(idsOf(await found({ $orderby: 'direction', $top: '1' }))).toEqual([back.id]);
    const expanded = await found({
      $filter: "Interface/name eq 'Wire'",
      $expand:
        'Source_Application($select=name),Target_Application($select=name),Target_ITComponent,Interface($select=name),DataObjects($select=name)',
    });
    expect(expanded.body.value).toMatchObject([
      {
        Source_Application: { name: 'Alpha' },
        Target_Application: { name: 'Beta' },
        Target_ITComponent: null,
        Interface: { name: 'Wire' },
        DataObjects: [{ name: 'Orders' }],
      },
    ]);
    expect((await ask(admin, '/DataFlows/$count')).text).toBe('2');
  });

  it('are reached from cards', async () => {
    const beta = await entity(`/Application(${ids.Beta})`, {
      $expand: 'OutgoingDataFlows,IncomingDataFlows($count=true)',
    });
    expect([
      idsOf({ body: { value: beta.OutgoingDataFlows } } as TestResponse),
      beta['IncomingDataFlows@odata.count'],
    ]).toEqual([[back.id], 1]);
    expect(idsOf(await ask(admin, `/Interface(${wire.id})/DataFlows`))).toEqual([flow.id]);
    expect(idsOf(await ask(admin, `/DataObject(${orders.id})/DataFlows`))).toEqual([flow.id]);
    const senders = await ask(admin, '/Application', {
      $filter: "OutgoingDataFlows/any(f:f/frequency eq 'daily')",
    });
    expect(namesOf(senders)).toEqual(['Alpha']);
  });
});

describe('costs', () => {
  it('are a set with exact amounts, and lead to their cards', async () => {
    expect(await entity(`/CostPeriods(${cost.id})`)).toMatchObject({
      card_id: ids.Beta,
      relation_id: null,
      kind: 'licence',
      period_start: '2026-01-01',
      period_end: '2026-12-31',
      amount: 1200.5,
      currency: 'USD',
      external_id: 'C-1',
    });
    const exact = { accept: 'application/json;IEEE754Compatible=true' };
    const { body } = await ask(admin, `/CostPeriods(${cost.id})`, { $select: 'amount' }, exact);
    expect(body.amount).toBe('1200.5');
    const found = (options: Record<string, string>) => ask(admin, '/CostPeriods', options);
    expect(
      idsOf(await found({ $filter: 'amount gt 50 and period_end ge 2026-06-30', $orderby: 'amount desc' })),
    ).toEqual([cost.id, server.id]);
    expect(idsOf(await found({ $filter: "Card_Application/name eq 'Beta'" }))).toEqual([cost.id]);
    expect(idsOf(await found({ $filter: `relation_id eq ${relation}` }))).toEqual([ofRelation.id]);
    const beta = await entity(`/Application(${ids.Beta})`, { $expand: 'CostPeriods($select=amount)' });
    expect(pluck(beta.CostPeriods, 'amount')).toEqual([1200.5]);
    expect(idsOf(await ask(admin, `/RelAppToITC(${relation})/CostPeriods`))).toEqual([ofRelation.id]);
  });

  it('are hidden from callers without costs.view, those of relations without relations.view', async () => {
    const refused = async (path: string, options = {}, right = 'costs.view', by = blind) => {
      const { status, body } = await ask(by, path, options);
      expect([path, status, body.error.innererror.permission]).toEqual([path, 403, right]);
    };
    const blind = await t.holding('inventory.view', 'inventory.export', 'relations.view');
    await refused('/CostPeriods');
    await refused(`/CostPeriods(${cost.id})`);
    await refused(`/Application(${ids.Beta})/CostPeriods`);
    await refused('/Application', { $expand: 'CostPeriods' });
    await refused('/Application', { $filter: 'CostPeriods/any(c:c/amount gt 1)' });
    const { text } = await ask(blind, '/$metadata');
    expect(text).not.toContain('CostPeriods');
    const single = await t.holding('inventory.view', 'inventory.export', 'costs.view');
    expect(new Set(idsOf(await ask(single, '/CostPeriods')))).toEqual(new Set([cost.id, server.id]));
    expect((await ask(single, `/CostPeriods(${ofRelation.id})`)).status).toBe(404);
    await refused('/DataFlows', {}, 'relations.view', single);
    expect((await ask(single, '/$metadata')).text).not.toContain('DataFlows');
  });
});

it('changes of flows and costs are tracked, also where a card is archived', async () => {
  const track = { prefer: 'track-changes' };
  const start = async (path: string) => (await ask(admin, path, {}, track)).body['@odata.deltaLink'];
  let [flows, costs] = [await start('/DataFlows'), await start('/CostPeriods')];
  const since = async (link: string) => {
    const { body } = await follow(admin, link);
    return {
      link: body['@odata.deltaLink'],
      rows: new Map(
        body.value.map((row: { id: string; '@removed'?: { reason: string } }) => [
          row.id,
          row['@removed']?.reason ?? 'there',
        ]),
      ),
    };
  };
  await ok(admin.patch(`/api/v1/data-flows/${flow.id}`, { frequency: 'weekly' }));
  await ok(admin.patch(`/api/v1/costs/${ofRelation.id}`, { amount: 8 }));
  const added = await admin.create(`/api/v1/cards/${ids.Alpha}/costs`, year(1));
  let changed = await since(flows);
  expect(changed.rows).toEqual(new Map([[flow.id, 'there']]));
  flows = changed.link;
  changed = await since(costs);
  expect(changed.rows).toEqual(
    new Map([
      [ofRelation.id, 'there'],
      [added.id, 'there'],
    ]),
  );
  costs = changed.link;

  await ok(admin.post(`/api/v1/cards/${ids.Alpha}/archive`, {}));
  await ok(admin.delete(`/api/v1/data-flows/${back.id}`), 204);
  changed = await since(flows);
  expect(changed.rows).toEqual(
    new Map([
      [flow.id, 'changed'],
      [back.id, 'deleted'],
    ]),
  );
  expect((await since(costs)).rows).toEqual(
    new Map([
      [ofRelation.id, 'changed'],
      [added.id, 'changed'],
    ]),
  );
  expect((await ask(admin, `/DataFlows(${flow.id})`)).status).toBe(404);
  await ok(admin.post(`/api/v1/cards/${ids.Alpha}/restore`, {}));
  expect((await since(changed.link)).rows).toEqual(new Map([[flow.id, 'there']]));
  expect((await since(costs)).rows).toEqual(
    new Map([
      [ofRelation.id, 'there'],
      [added.id, 'there'],
    ]),
  );
});

it('rows at cards of hidden types are neither shown nor told of', async () => {
  const link = (await ask(admin, '/DataFlows', {}, { prefer: 'track-changes' })).body['@odata.deltaLink'];
  const other = await admin.create('/api/v1/data-flows', { source_id: ids.Beta, target_id: ids.Server });
  await admin.create(`/api/v1/cards/${ids.Server}/costs`, year(3, 'other'));
  await ok(admin.patch('/api/v1/metamodel/types/ITComponent?force=true', { is_hidden: true }));
  expect(idsOf(await ask(admin, '/DataFlows'))).not.toContain(other.id);
  expect(idsOf(await ask(admin, '/CostPeriods', { $filter: "kind eq 'staff'" }))).toEqual([]);
  const { body } = await follow(admin, link);
  expect(JSON.stringify(body.value ?? [])).not.toContain(other.id);
});
