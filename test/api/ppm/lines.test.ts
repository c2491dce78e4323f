import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startWorkers } from '../../../workers/runtime.ts';
import { closeAfterAll, createTestApp, type TestClient } from '../../support/harness.ts';
import { untilReported } from '../../support/jobs.ts';
import { merge } from '../cards/merge.fixture.ts';

const t = closeAfterAll(await createTestApp());
const [admin, member, viewer] = await t.clients('admin', 'member', 'viewer');

async function initiative(more: Record<string, unknown> = {}): Promise<string> {
  const made = await admin.post('/api/v1/cards', { type: 'Initiative', name: randomUUID(), ...more });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}
const url = (id: string, what: string) => `/api/v1/ppm/initiatives/${id}/${what}`;
async function add(id: string, what: string, body: object, client = admin): Promise<string> {
  const made = await client.post(url(id, what), body);
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}
const spent = (actual: number) => ({ description: 'Licences', category: 'opex', actual });
const attributes = async (id: string) => (await admin.get(`/api/v1/cards/${id}`)).body.attributes;
const refusal = async (asked: ReturnType<TestClient['get']>) => {
  const { status, body } = await asked;
  return [
    status,
    body.code,
    ...(body.errors ?? []).map(({ field, code }: Record<string, string>) => `${field} ${code}`),
  ];
};
const lastBatch = async (): Promise<string> =>
  (await t.services.db('events').whereNotNull('batch_id').orderBy('position', 'desc').first('batch_id'))
    .batch_id;
async function undo(batch: string): Promise<void> {
  const answer = await admin.post(`/api/v1/mutation-batches/${batch}/rollback`, { dry_run: false });
  expect(answer.status, answer.text).toBe(200);
}
const now = async (): Promise<string> => (await admin.get('/api/v1/changes?after=now')).body.next;
const since = async (position: string, client = admin) =>
  (await client.get(`/api/v1/changes?after=${position}`)).body.items;

describe('a status report', () => {
  it('is added, listed newest first, changed and deleted, with an event for each', async () => {
    const id = await initiative({ name: 'Harbour' });
    const position = await now();
    const made = await member.post(url(id, 'reports'), { report_date: '2026-03-31', summary: 'Late.' });
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject({
      initiative_id: id,
      reporter_id: member.userId,
      reporter: { id: member.userId },
      report_date: '2026-03-31',
      schedule_health: 'onTrack',
      cost_health: 'onTrack',
      scope_health: 'onTrack',
      summary: 'Late.',
      accomplishments: null,
    });
    const older = await add(id, 'reports', { report_date: '2026-02-28', schedule_health: 'atRisk' });
    const listed = (await viewer.get(url(id, 'reports'))).body.items;
    expect(listed.map((report: { id: string }) => report.id)).toEqual([made.body.id, older]);
    expect(listed[0]).toEqual(made.body);
    const one = `/api/v1/ppm/reports/${made.body.id}`;
    const changed = await member.patch(
      one,
      { cost_health: 'offTrack', summary: null },
      { 'if-match': made.headers.etag! },
    );
    expect(changed.body).toMatchObject({ cost_health: 'offTrack', summary: null });
    expect(await refusal(member.patch(one, {}, { 'if-match': made.headers.etag! }))).toEqual([
      412,
      'precondition_failed',
    ]);
    expect((await member.delete(one)).status).toBe(204);
    expect((await since(position, viewer)).map((event: { event_type: string }) => event.event_type)).toEqual([
      'ppm_report.created',
      'ppm_report.created',
      'ppm_report.updated',
      'ppm_report.deleted',
    ]);
    await undo(await lastBatch());
    expect((await viewer.get(url(id, 'reports'))).body.items[0]).toMatchObject({
      id: made.body.id,
      cost_health: 'offTrack',
    });
    expect((await viewer.get(`/api/v1/cards/${id}/history`)).text).toContain('ppm_report.updated');
  });

  it('is refused where it does not fit, and where there is no such initiative', async () => {
    const id = await initiative();
    expect(await refusal(admin.post(url(id, 'reports'), { report_date: '0000-01-01' }))).toContain(
      'report_date format',
    );
    expect(await refusal(admin.post(url(id, 'reports'), { report_date: '1066-10-14' }))).toContain(
      'report_date out_of_range',
    );
    expect((await admin.post(url(id, 'reports'), {})).status).toBe(422);
    const app = (await admin.post('/api/v1/cards', { type: 'Application', name: randomUUID() })).body.id;
    for (const other of [app, randomUUID()]) {
      expect(await refusal(admin.get(url(other, 'reports')))).toEqual([404, 'not_found']);
      expect(await refusal(admin.post(url(other, 'reports'), { report_date: '2026-01-01' }))).toEqual([
        404,
        'not_found',
      ]);
    }
    expect(await refusal(admin.delete(`/api/v1/ppm/reports/${randomUUID()}`))).toEqual([404, 'not_found']);
    expect((await admin.get(url('7', 'reports'))).status).toBe(422);
  });
});

describe('a project risk', () => {
  it('has a score of probability times impact, and an owner who is an active user', async () => {
    const id = await initiative();
    const made = await admin.post(url(id, 'risks'), {
      title: 'Late',
      probability: 4,
      impact: 5,
      owner_id: member.userId,
    });
    expect(made.body).toMatchObject({ risk_score: 20, status: 'open', owner_id: member.userId });
    expect(made.body.owner_name).not.toBeNull();
    const other = await add(id, 'risks', { title: 'Small', probability: 1 });
    const sorted = (await viewer.get(`${url(id, 'risks')}?sort_by=risk_score&fields=id,risk_score`)).body
      .items;
    expect(sorted).toEqual([
      { id: other, risk_score: 3 },
      { id: made.body.id, risk_score: 20 },
    ]);
    const patched = await admin.patch(`/api/v1/ppm/risks/${made.body.id}`, {
      impact: 1,
      status: 'closed',
      owner_id: null,
    });
    expect(patched.body).toMatchObject({ risk_score: 4, status: 'closed', owner_name: null });
    expect(await refusal(admin.post(url(id, 'risks'), { title: ' ' }))).toContain('title required');
    expect(await refusal(admin.post(url(id, 'risks'), { title: 'R', owner_id: randomUUID() }))).toContain(
      'owner_id unknown_user',
    );
    expect((await admin.post(url(id, 'risks'), { title: 'R', impact: 6 })).status).toBe(422);
  });
});

describe('cost and budget lines', () => {
  it('add up to the attributes of the initiative, which is scored and told in the same write', async () => {
    const id = await initiative();
    const quality = (await admin.get(`/api/v1/cards/${id}`)).body.data_quality;
    expect((await admin.get(url(id, 'has-costs'))).body).toEqual({
      has_budget_lines: false,
      has_cost_lines: false,
    });
    const first = await add(id, 'costs', { ...spent(0.1), planned: 7, date: '2026-02-01' });
    await add(id, 'costs', spent(0.2));
    expect(await attributes(id)).toEqual({ costActual: 0.3 });
    const position = await now();
    await add(id, 'budgets', { fiscal_year: 2026, category: 'capex', amount: 1000 });
    expect((await admin.get(`/api/v1/cards/${id}`)).body.data_quality).toBeGreaterThan(quality);
    expect(
      (await since(position)).map(({ event_type, data }: never) => [
        event_type,
        (data as { rolled_up?: string[] }).rolled_up,
      ]),
    ).toEqual([
      ['card.updated', ['attributes.costBudget']],
      ['ppm_budget_line.created', undefined],
    ]);
    expect((await admin.get(url(id, 'has-costs'))).body).toEqual({
      has_budget_lines: true,
      has_cost_lines: true,
    });
    await admin.patch(`/api/v1/ppm/costs/${first}`, { actual: -0.2 });
    // nothing in sum is no value
    expect(await attributes(id)).toEqual({ costBudget: 1000 });
    expect((await admin.delete(`/api/v1/ppm/costs/${first}`)).status).toBe(204);
    expect(await attributes(id)).toEqual({ costActual: 0.2, costBudget: 1000 });
  });

  it('keep everything else from setting what they add up to', async () => {
    const id = await initiative({ attributes: { costActual: 5, costBudget: 6 } });
    const line = await add(id, 'costs', spent(40));
    const card = `/api/v1/cards/${id}`;
    const fault = 'attributes.costActual sum_of_lines';
    expect(await refusal(admin.patch(card, { attributes: { costActual: 41 } }))).toContain(fault);
    expect(await refusal(admin.patch(card, { attributes: { costActual: null } }))).toContain(fault);
    expect(
      await refusal(
        admin.patch('/api/v1/cards/bulk', { ids: [id], updates: { attributes: { costActual: 1 } } }),
      ),
    ).toContain(fault);
    // what is sent back unchanged, and what has no lines, may be set
    const patched = await admin.patch(card, { attributes: { costActual: 40, costBudget: 7 } });
    expect(patched.body.attributes).toEqual({ costActual: 40, costBudget: 7 });
    expect((await admin.patch(card, { attributes: null })).body.attributes).toEqual({ costActual: 40 });
    expect((await admin.delete(`/api/v1/ppm/costs/${line}`)).status).toBe(204);
    expect(await attributes(id)).toEqual({});
    expect((await admin.patch(card, { attributes: { costActual: 41 } })).status).toBe(200);
  });

  it('are stronger than a formula, which counts again without them', async () => {
    const id = await initiative();
    const line = await add(id, 'costs', spent(40));
    const formula = await admin.post('/api/v1/calculations', {
      name: 'Actual',
      target_type_key: 'Initiative',
      target_field_key: 'costActual',
      formula: 'IF(data.name == "", 12, 12)',
    });
    expect(formula.status, formula.text).toBe(201);
    const started = await admin.post(`/api/v1/calculations/${formula.body.id}/activate`);
    expect(started.status, started.text).toBeLessThan(300);
    await admin.patch(`/api/v1/cards/${id}`, { name: randomUUID() });
    expect((await attributes(id)).costActual).toBe(40);
    const free = await initiative();
    expect((await attributes(free)).costActual).toBe(12);
    await admin.delete(`/api/v1/ppm/costs/${line}`);
    await admin.patch(`/api/v1/cards/${id}`, { name: randomUUID() });
    expect((await attributes(id)).costActual).toBe(12);
    expect((await admin.delete(`/api/v1/calculations/${formula.body.id}`)).status).toBeLessThan(300);
  });

  it('show no amounts to those who see no costs, in answers and events, and are not written by them', async () => {
    const id = await initiative();
    const position = await now();
    await add(id, 'costs', { ...spent(4711.5), planned: 4712.5 });
    await add(id, 'budgets', { fiscal_year: 2026, category: 'opex', amount: 4713.5 });
    const [line] = (await viewer.get(url(id, 'costs'))).body.items;
    expect(line).toMatchObject({ description: 'Licences', planned: null, actual: null });
    expect((await viewer.get(url(id, 'budgets'))).body.items[0].amount).toBeNull();
    const events = await viewer.get(`/api/v1/changes?after=${position}`);
    expect(events.text).toContain('ppm_cost_line.created');
    expect(events.text).not.toMatch(/471[123]\.5/);
    await t.services.db('roles').insert({
      key: 'planner',
      label: 'P',
      permissions: { 'inventory.view': true, 'ppm.view': true, 'ppm.manage': true },
    });
    const planner = await t.as('planner');
    expect((await planner.post(url(id, 'costs'), spent(1))).body.permission).toBe('costs.view');
    expect((await planner.delete(`/api/v1/ppm/costs/${line.id}`)).body.permission).toBe('costs.view');
    expect((await planner.post(url(id, 'risks'), { title: 'R' })).status).toBe(201);
    // a role on the initiative shows its costs
    await t.services.db('stakeholders').insert({ card_id: id, user_id: planner.userId, role: 'responsible' });
    expect((await planner.get(url(id, 'costs'))).body.items[0]).toMatchObject({
      actual: 4711.5,
      planned: 4712.5,
    });
    expect((await planner.post(url(id, 'costs'), spent(1))).status).toBe(201);
  });

  it('are undone with the sums before them, also by hand before there were any', async () => {
    const id = await initiative({ attributes: { costActual: 5 } });
    const line = await add(id, 'costs', spent(10));
    const first = await lastBatch();
    const other = await add(id, 'costs', spent(20));
    expect(await attributes(id)).toEqual({ costActual: 30 });
    // a later line is no conflict with an earlier one
    await undo(first);
    expect(await attributes(id)).toEqual({ costActual: 20 });
    expect((await admin.delete(`/api/v1/ppm/costs/${other}`)).status).toBe(204);
    await undo(await lastBatch());
    expect(await attributes(id)).toEqual({ costActual: 20 });
    expect(await refusal(admin.get(url(id, `costs?search=${line}`)))).toEqual([200, undefined]);
    const fresh = await initiative({ attributes: { costActual: 5 } });
    await add(fresh, 'costs', spent(10));
    await undo(await lastBatch());
    expect(await attributes(fresh)).toEqual({ costActual: 5 });
  });

  it('move with a merge, come back with its undoing, and go with their card and come back with it', async () => {
    const survivor = await initiative({ attributes: { costActual: 5 } });
    const gone = await initiative();
    await add(gone, 'costs', spent(10));
    await add(gone, 'reports', { report_date: '2026-03-31' });
    const merged = await merge(admin, survivor, [gone]);
    expect(merged.status, merged.text).toBe(200);
    expect(merged.body.moved).toMatchObject({ 'cost line': 1, 'status report': 1 });
    expect(await attributes(survivor)).toEqual({ costActual: 10 });
    const undone = await admin.post(`/api/v1/card-merges/${merged.body.merge_id}/undo`);
    expect(undone.status, undone.text).toBe(200);
    expect([await attributes(survivor), await attributes(gone)]).toEqual([
      { costActual: 5 },
      { costActual: 10 },
    ]);
    expect((await admin.delete(`/api/v1/cards/${gone}`)).status).toBe(200);
    expect(await refusal(admin.get(url(gone, 'costs')))).toEqual([404, 'not_found']);
    await undo(await lastBatch());
    expect(await attributes(gone)).toEqual({ costActual: 10 });
    expect((await admin.get(url(gone, 'reports'))).body.total).toBe(1);
  });

  it('refuse what an import says of their sums, and take what it sends back', async () => {
    const external_id = randomUUID();
    const id = await initiative({ external_id });
    await add(id, 'costs', spent(40));
    const { name } = (await admin.get(`/api/v1/cards/${id}`)).body;
    const workers = await startWorkers(t.services);
    const load = async (actual: number) => {
      const answer = await admin.request({
        method: 'POST',
        url: '/api/v1/imports?kind=cards&mode=upsert',
        headers: { 'content-type': 'text/csv' },
        payload: `type,external_id,name,alias,attributes.costActual\nInitiative,${external_id},${name},Imported,${actual}\n`,
      });
      expect(answer.status, answer.text).toBe(202);
      return (await untilReported(t.services, answer.body.job_id)).counts;
    };
    expect(await load(41)).toMatchObject({ failed: 1, updated: 0 });
    expect(await load(40)).toMatchObject({ failed: 0, updated: 1 });
    expect(await attributes(id)).toEqual({ costActual: 40 });
    await workers.close(5_000);
  });

  it('written at the same time add up to all of them', async () => {
    const id = await initiative();
    await Promise.all(Array.from({ length: 6 }, (_, n) => add(id, 'costs', spent(n + 1))));
    expect(await attributes(id)).toEqual({ costActual: 21 });
  });

  it('add up to what they are, whatever is written, changed, deleted and taken back', async () => {
    const write = fc.record({
      kind: fc.constantFrom('costs' as const, 'budgets' as const),
      act: fc.constantFrom('add', 'add', 'add', 'change', 'delete', 'undo'),
      at: fc.nat(20),
      // hundredths, which no binary fraction holds
      amount: fc.integer({ min: -9_999, max: 9_999 }).map((cents) => cents / 100),
    });
    const sum = (amounts: Iterable<number>) => {
      const cents = [...amounts].reduce((total, amount) => total + Math.round(amount * 100), 0);
      return cents === 0 ? undefined : cents / 100;
    };
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 8, maxLength: 12 }), async (writes) => {
        const id = await initiative();
        const lines = { costs: new Map<string, number>(), budgets: new Map<string, number>() };
        const body = {
          costs: spent,
          budgets: (amount: number) => ({ fiscal_year: 2026, category: 'capex', amount }),
        };
        for (const { kind, act, at, amount } of writes) {
          const there = lines[kind];
          const one = [...there.keys()][at % Math.max(1, there.size)];
          const before = new Map(there);
          if (act === 'add' || !one) there.set(await add(id, kind, body[kind](amount)), amount);
          else if (act === 'delete') {
            expect((await admin.delete(`/api/v1/ppm/${kind}/${one}`)).status).toBe(204);
            there.delete(one);
          } else {
            const changed = await admin.patch(`/api/v1/ppm/${kind}/${one}`, body[kind](amount));
            expect(changed.status, changed.text).toBe(200);
            there.set(one, amount);
            if (act === 'undo' && before.get(one) !== amount) {
              await undo(await lastBatch());
              lines[kind] = before;
            }
          }
        }
        const { costActual, costBudget } = await attributes(id);
        expect([costActual, costBudget]).toEqual([sum(lines.costs.values()), sum(lines.budgets.values())]);
      }),
      { numRuns: 4 },
    );
  });
});
