import { startWorkers } from '../../../workers/runtime.ts';
import { closeAfterAll, expectProblem, jsonLines, ok, openApp, pluck } from '../../support/harness.ts';
import { askImport, importResult } from '../../support/imports.ts';

const { t, db, admin } = await openApp(['admin']);
closeAfterAll(await startWorkers(t.services));

const load = async (content: string, options: object = {}) =>
  await importResult(
    t.services,
    await askImport(await t.ctx(), t.services, content, { kind: 'data_flows', mode: 'upsert', ...options }),
  );
const [crm, erp] = [
  await admin.card({ name: 'Crm', external_id: 'A-1' }),
  await admin.card({ name: 'Erp', external_id: 'A-2' }),
];
const server = await admin.card({ type: 'ITComponent', name: 'Server' });
const api = await admin.card({ type: 'Interface', name: 'Api', external_id: 'I-1' });
const [customer, order] = [
  await admin.card({ type: 'DataObject', name: 'Customer' }),
  await admin.card({ type: 'DataObject', name: 'Order', external_id: 'D-2' }),
];
const flowOf = async (external_id: string) => {
  const [row] = await db('data_flows').where({ external_id }).select('id');
  return row && (await ok(admin.get(`/api/v1/data-flows/${row.id}`)));
};
const header =
  'external_id,source_external_id,target_type,target_name,interface_name,data_object_names,direction,frequency';

describe('an import of data flows', () => {
  it('creates, changes and leaves flows by their external ids, with cards by external ids and names', async () => {
    const rows = ['F-1,A-1,,Erp,Api,Customer;order,,daily', 'F-2,A-2,ITComponent,server,,,bidirectional,'];
    const tried = await load([header, ...rows].join('\n'), { dry_run: true });
    expect(tried.job.counts).toMatchObject({ total: 2, created: 2, failed: 0 });
    expect(await flowOf('F-1')).toBeUndefined();
    const first = await load([header, ...rows].join('\n'));
    expect(first.faults).toEqual({});
    expect(first.job.counts).toMatchObject({ total: 2, created: 2, failed: 0 });
    expect(await flowOf('F-1')).toMatchObject({
      source: { id: crm.id },
      target: { id: erp.id },
      interface: { id: api.id },
      data_objects: [{ id: customer.id }, { id: order.id }],
      direction: 'forward',
      frequency: 'daily',
    });
    expect(await flowOf('F-2')).toMatchObject({ target: { id: server.id }, direction: 'bidirectional' });
    const again = await load(
      ['external_id,data_object_external_ids,frequency', 'F-1,D-2,', 'F-2,,'].join('\n'),
    );
    expect(again.job.counts).toMatchObject({ total: 2, updated: 1, unchanged: 1, failed: 0 });
    expect((await flowOf('F-1')).data_objects).toMatchObject([{ id: order.id }]);
    const objects = [
      { external_id: 'F-1', interface_name: null, data_object_names: ['Customer'], frequency: null },
    ];
    const cleared = await load(objects.map((one) => JSON.stringify(one)).join('\n'), { format: 'ndjson' });
    expect(cleared.faults).toEqual({});
    expect(await flowOf('F-1')).toMatchObject({
      interface: null,
      frequency: null,
      data_objects: [{ id: customer.id }],
    });
  });

  it('refuses rows with the column that does not fit', async () => {
    const rows = [
      'F-3,A-9,,Erp,,,,',
      'F-4,A-1,,Erp,Crm,,,',
      'F-5,A-1,,Erp,,Nothing,,',
      'F-6,A-1,,Erp,,,,never',
      'F-7,A-1,,Erp,,,reverse,',
      'F-8,A-1,,Crm,,,,',
      'F-9,A-1,,,,,,',
      'F-1,A-2,,Erp,,,,',
      'F-4,A-1,,Erp,,,,',
    ];
    const { faults, job } = await load([header, ...rows].join('\n'));
    expect(job.counts).toMatchObject({ failed: 9, created: 0 });
    expect(Object.values(faults).flat()).toEqual([
      'source_external_id unknown_card',
      'interface_name unknown_card',
      'data_object_names.0 unknown_card',
      'frequency unknown_option',
      'direction unknown_option',
      'target_name same_card',
      'target required',
      'source_external_id end_differs',
      'external_id duplicate_in_file',
    ]);
    await expectProblem(
      t.holding('inventory.view').then((one) => one.post('/api/v1/imports?kind=data_flows', 'x')),
      415,
    );
  });
});

describe('an extraction of data flows', () => {
  const rowsOf = async (query: string) =>
    jsonLines((await admin.get(`/api/v1/extracts/data-flows?${query}`)).text);

  it('contains the flows between the selected cards, and what has changed since a position', async () => {
    const rows = await rowsOf('');
    const one = rows.find(({ external_id }: { external_id: string }) => external_id === 'F-1');
    expect(one).toMatchObject({
      source_id: crm.id,
      source_type: 'Application',
      source_external_id: 'A-1',
      target_name: 'Erp',
      data_object_names: ['Customer'],
      direction: 'forward',
    });
    expect(pluck(await rowsOf('types=Application'), 'external_id')).not.toContain('F-2');
    const reader = await t.holding('inventory.view', 'inventory.export');
    await expectProblem(reader.get('/api/v1/extracts/data-flows'), 403, 'relations.view');
    for (const format of ['xlsx', 'parquet', 'csv']) {
      expect((await admin.get(`/api/v1/extracts/data-flows?format=${format}`)).status).toBe(200);
    }
    const position = await admin.position();
    await ok(admin.patch(`/api/v1/cards/${customer.id}`, { name: 'Client' }));
    await ok(admin.delete(`/api/v1/data-flows/${(await flowOf('F-2')).id}`), 204);
    const changed = await rowsOf(`after=${position}&columns=id,data_object_names`);
    expect(changed.filter(({ id }: { id?: string }) => id)).toEqual([
      expect.objectContaining({ deleted: true }),
      expect.objectContaining({ id: one.id, data_object_names: ['Client'] }),
    ]);
  });

  it('can be imported again', async () => {
    const csv = (await admin.get('/api/v1/extracts/data-flows?format=csv&profile=roundtrip')).text;
    const done = await load(csv);
    expect(done.faults).toEqual({});
    expect(done.job.counts!.unchanged).toBe(done.job.counts!.total);
  });
});
