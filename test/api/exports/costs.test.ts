import { startWorkers } from '../../../workers/runtime.ts';
import {
  closeAfterAll,
  expectProblem,
  jsonLines,
  ok,
  openApp,
  pluck,
  type TestClient,
} from '../../support/harness.ts';
import { askImport, importResult } from '../../support/imports.ts';

const { t, admin, viewer } = await openApp(['admin', 'viewer']);
closeAfterAll(await startWorkers(t.services));

const url = '/api/v1/extracts/costs';
const period = { period_start: '2026-01-01', period_end: '2026-12-31' };
const get = async (query: string, client: TestClient = admin) => await client.get(`${url}?${query}`);
const rowsOf = async (query: string, client?: TestClient) => jsonLines((await get(query, client)).text);

const card = await admin.card({ name: 'Harbour', external_id: 'H-1' });
const server = await admin.card({ type: 'ITComponent', name: 'Server' });
const relation = await admin.relate('relAppToITC', card.id, server.id);
const add = (what: string, id: string, amount: number, more: object = {}) =>
  admin.create(`/api/v1/${what}/${id}/costs`, { kind: 'licence', ...period, amount, ...more });
const first = await add('cards', card.id, 10.5, { external_id: 'X-1', description: 'Seats' });
const second = await add('cards', server.id, 20);
const third = await add('relations', relation.id, 30);

describe('an extraction of costs', () => {
  it('contains the costs of the selected cards and of the relations between them', async () => {
    const rows = await rowsOf('');
    expect(pluck(rows, 'id')).toEqual([first.id, second.id, third.id]);
    expect(rows[0]).toMatchObject({
      external_id: 'X-1',
      card_id: card.id,
      card_type: 'Application',
      card_external_id: 'H-1',
      card_name: 'Harbour',
      kind: 'licence',
      ...period,
      amount: 10.5,
      currency: 'USD',
      description: 'Seats',
    });
    expect(rows[2]).toMatchObject({ relation_id: relation.id, relation_type: 'relAppToITC', amount: 30 });
    expect(pluck(await rowsOf('types=Application'), 'id')).toEqual([first.id]);
    expect(pluck(await rowsOf('filter=name%20%3D%20%22Server%22'), 'id')).toEqual([second.id]);
    const reader = await t.holding('inventory.view', 'inventory.export', 'costs.view');
    expect(pluck(await rowsOf('', reader), 'id')).toEqual([first.id, second.id]);
    await expectProblem(get('', viewer), 403, 'costs.view');
    for (const format of ['xlsx', 'parquet']) expect((await get(`format=${format}`)).status).toBe(200);
  });

  it('contains what has changed since a position', async () => {
    const position = await admin.position();
    await ok(admin.patch(`/api/v1/costs/${first.id}`, { amount: 11 }));
    await ok(admin.delete(`/api/v1/costs/${third.id}`), 204);
    const rows = await rowsOf(`after=${position}&columns=id,amount`);
    expect(rows.pop()).toMatchObject({ end: true });
    expect(rows).toEqual([
      expect.objectContaining({ id: third.id, deleted: true }),
      expect.objectContaining({ id: first.id, amount: 11 }),
    ]);
  });

  it('can be imported again', async () => {
    const csv = (await get('format=csv&profile=roundtrip')).text;
    const done = await importResult(
      t.services,
      await askImport(await t.ctx(), t.services, csv, { kind: 'costs', mode: 'upsert' }),
    );
    expect(done.faults).toEqual({});
    expect(done.job.counts).toMatchObject({ total: 2, unchanged: 2 });
    const changed = csv.replace(/,20,/, ',25,');
    await importResult(
      t.services,
      await askImport(await t.ctx(), t.services, changed, { kind: 'costs', mode: 'upsert' }),
    );
    expect((await admin.get(`/api/v1/costs/${second.id}`)).body.amount).toBe(25);
  });
});
