import { startWorkers } from '../../../../workers/runtime.ts';
import { closeAfterAll, expectProblem, ok, openApp, pluck } from '../../../support/harness.ts';
import { askImport, importResult } from '../../../support/imports.ts';

const { t, db, admin, member } = await openApp(['admin', 'member']);
closeAfterAll(await startWorkers(t.services));

const year = new Date().getUTCFullYear();
const load = async (content: string, options: object = {}) =>
  await importResult(
    t.services,
    await askImport(await t.ctx(), t.services, content, { kind: 'costs', mode: 'upsert', ...options }),
  );
const annual = async (id: string) => (await admin.get(`/api/v1/cards/${id}`)).body.attributes.costTotalAnnual;
const costsOf = async (id: string) =>
  (await admin.get(`/api/v1/cards/${id}/costs?sort_by=period_start`)).body.items;

const payroll = await admin.card({ external_id: 'APP-1', name: 'Payroll' });
const harbour = await admin.card({ external_id: 'APP-2', name: 'Harbour' });
const server = await admin.card({ type: 'ITComponent', external_id: 'APP-1', name: 'Server' });
const relation = await admin.relate('relAppToITC', payroll.id, server.id);

const header = 'external_id,card_type,card_external_id,kind,period_start,period_end,amount';
const span = `${year}-01-01,${year}-12-31`;

describe('an import of costs', () => {
  it('creates, changes and leaves costs by their external ids, and updates annual costs', async () => {
    const rows = [`L-1,Application,APP-1,licence,${span},1200`, `L-2,,APP-2,staff,${span},30.5`];
    const first = await load([header, ...rows].join('\n'));
    expect(first.faults).toEqual({});
    expect(first.job.counts).toMatchObject({ total: 2, created: 2, failed: 0 });
    expect([await annual(payroll.id), await annual(harbour.id)]).toEqual([1200, 30.5]);
    const again = await load([header, rows[0], `L-2,,,staff,${span},31`].join('\n'));
    expect(again.job.counts).toMatchObject({ total: 2, updated: 1, unchanged: 1, failed: 0 });
    expect([await annual(payroll.id), await annual(harbour.id)]).toEqual([1200, 31]);
    const events = await db('events').where({ event_type: 'cost.updated' }).select('data');
    expect(events.at(-1)!.data.changes).toEqual({ amount: { old: 30.5, new: 31 } });
  });

  it('finds the type of a card by its label', async () => {
    const row = `T-1,application,APP-1,licence,${year - 1}-01-01,${year - 1}-12-31,5`;
    expect((await load([header, row].join('\n'))).faults).toEqual({});
  });

  it('reads NDJSON, names and relations', async () => {
    const period = { period_start: `${year}-01-01`, period_end: `${year}-12-31` };
    const lines = [
      { external_id: 'N-1', card_name: 'payroll', kind: 'staff', ...period, amount: 10 },
      {
        external_id: 'N-2',
        relation_id: relation.id,
        kind: 'other',
        ...period,
        amount: 7,
        description: 'Share',
      },
    ];
    const { faults } = await load(lines.map((line) => JSON.stringify(line)).join('\n'), { format: 'ndjson' });
    expect(faults).toEqual({});
    expect(await annual(payroll.id)).toBe(1210);
    const read = (await admin.get(`/api/v1/relations/${relation.id}`)).body;
    expect(read.attributes).toEqual({ costTotalAnnual: 7 });
  });

  it('reports rows that do not fit, and writes the others unless it is atomic', async () => {
    const content = [
      header,
      `E-1,,APP-1,licence,${span},1`,
      `E-2,,NONE,licence,${span},1`,
      `E-3,Application,APP-1,beer,${span},1`,
      `E-4,Application,APP-1,licence,${year}-02-01,${year}-01-31,1`,
      `E-5,Application,APP-1,licence,${span},1e12`,
      `E-6,Application,APP-1,licence,${span},`,
      `L-1,Application,APP-2,licence,${span},1`,
      `E-8,Application,APP-2,licence,${span},5`,
      `E-8,Application,APP-2,licence,${span},6`,
    ].join('\n');
    const faults = {
      2: ['card_external_id ambiguous_card'],
      3: ['card_external_id unknown_card'],
      4: ['kind unknown_option'],
      5: ['period_end before_start'],
      6: ['amount bad_number'],
      7: ['amount required'],
      8: ['card_external_id owner_differs'],
      10: ['external_id duplicate_in_file'],
    };
    const atomic = await load(content, { atomic: true });
    expect(atomic.job).toMatchObject({ status: 'failed' });
    expect(await db('costs').where({ external_id: 'E-8' })).toEqual([]);
    const dry = await load(content, { dry_run: true });
    expect(dry.faults).toEqual(faults);
    expect(await db('costs').where({ external_id: 'E-8' })).toEqual([]);
    const done = await load(content);
    expect(done.faults).toEqual(faults);
    expect(done.job.counts).toEqual(dry.job.counts);
    expect(done.job.counts).toMatchObject({ total: 9, created: 1, failed: 8 });
    expect(await annual(harbour.id)).toBe(36);
    const create = await load([header, `E-8,Application,APP-2,licence,${span},5`].join('\n'), {
      mode: 'create',
    });
    expect(create.faults).toEqual({ 2: ['external_id external_id_taken'] });
  });

  it('needs the rights to see costs and to edit', async () => {
    const client = await t.holding('inventory.view', 'inventory.edit');
    const send = (query: string, by = client) =>
      by.request({
        method: 'POST',
        url: `/api/v1/imports?kind=costs${query}`,
        headers: { 'content-type': 'text/csv' },
        payload: `${header}\n`,
      });
    await expectProblem(send(''), 403, 'costs.view');
    await expectProblem(send('&profile=focus', member), 422, 'validation_failed', 'card_column');
    await expectProblem(send('&profile=focus&card_column=beer', member), 422);
    await ok(send('', member), 202);
  });
});

describe('a FOCUS file', () => {
  const head = 'BilledCost,EffectiveCost,BillingCurrency,ChargePeriodStart,ChargePeriodEnd,ResourceId,Tags';
  const charge = (
    billed: number,
    effective: number,
    start: string,
    end: string,
    resource: string,
    tag = '',
  ) =>
    `${billed},${effective},USD,${start}T00:00:00Z,${end}T00:00:00Z,${resource},"${tag && `{""app"": ""${tag}""}`}"`;
  const content = [
    head,
    charge(1.1, 1, `${year}-01-01`, `${year}-01-02`, 'R-1', 'R-2'),
    charge(2.2, 2, `${year}-01-31`, `${year}-02-01`, 'R-1', 'R-2'),
    charge(-0.3, 0, `${year}-02-01`, `${year}-03-01`, 'R-1'),
    charge(12, 12, `${year}-01-01`, `${year + 1}-01-01`, 'R-2'),
    charge(5, 5, `${year}-01-01`, `${year}-02-01`, ''),
    charge(5, 5, `${year}-01-01`, `${year}-02-01`, ''),
    charge(7, 7, `${year}-01-01`, `${year}-02-01`, 'NONE'),
    'much,much,USD,2026-01-01,2026-02-01,R-1,',
  ].join('\n');
  const focus = { profile: 'focus', card_column: 'ResourceId' };

  it('becomes one cost of each card, month and currency, which a later file replaces', async () => {
    const [one, two] = [
      await admin.card({ type: 'ITComponent', external_id: 'R-1' }),
      await admin.card({ type: 'ITComponent', external_id: 'R-2' }),
    ];
    const first = await load(content, focus);
    expect(first.faults).toEqual({
      6: ['ResourceId required'],
      8: ['card_external_id unknown_card'],
      9: ['amount bad_number'],
    });
    expect(first.job.counts).toMatchObject({ created: 3, failed: 3 });
    expect(await costsOf(one.id)).toMatchObject([
      { period_start: `${year}-01-01`, period_end: `${year}-01-31`, amount: 3.3, kind: 'infrastructure' },
      { period_start: `${year}-02-01`, amount: -0.3 },
    ]);
    expect(await costsOf(two.id)).toMatchObject([{ period_end: `${year}-12-31`, amount: 12 }]);
    expect(await annual(one.id)).toBe(3);
    const again = await load(content, focus);
    expect(again.job.counts).toMatchObject({ created: 0, unchanged: 3 });
    const effective = await load(content, { ...focus, amount_column: 'EffectiveCost' });
    expect(effective.job.counts).toMatchObject({ updated: 2, unchanged: 1 });
    expect(await annual(one.id)).toBe(3);
    const tagged = await load(content, {
      ...focus,
      card_column: 'Tags.app',
      card_type: 'ITComponent',
      source: 'tags',
      cost_kind: 'other',
    });
    expect(tagged.job.counts).toMatchObject({ created: 1, failed: 2 });
    expect(pluck(await costsOf(two.id), 'kind').sort()).toEqual(['infrastructure', 'other']);
  });
});
