import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { startWorkers } from '../../../workers/runtime.ts';
import { eventKinds, expectProblem, faults, ok, openApp, pluck } from '../../support/harness.ts';
import { untilReported } from '../../support/jobs.ts';
import { forAllAsync } from '../../support/property.ts';
import { merge } from '../cards/merge.fixture.ts';

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);

const initiative = async (more: Record<string, unknown> = {}): Promise<string> =>
  (await admin.card({ type: 'Initiative', ...more })).id;
const url = (id: string, what: string) => `/api/v1/ppm/initiatives/${id}/${what}`;
const add = async (id: string, what: string, body: object, client = admin): Promise<string> =>
  (await client.create(url(id, what), body)).id;
const spent = (actual: number) => ({ description: 'Licences', category: 'opex', actual });
const attributes = async (id: string) => (await admin.get(`/api/v1/cards/${id}`)).body.attributes;
const lastBatch = async (): Promise<string> =>
  (await db('events').whereNotNull('batch_id').orderBy('position', 'desc').first('batch_id')).batch_id;
const since = async (position: string, client = admin) => await client.changes(position);

it('a status report is added, listed newest first, changed and deleted, with an event for each', async () => {
  const id = await initiative({ name: 'Harbour' });
  const position = await admin.position();
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
  expect(pluck(listed, 'id')).toEqual([made.body.id, older]);
  expect(listed[0]).toEqual(made.body);
  const one = `/api/v1/ppm/reports/${made.body.id}`;
  const changed = await member.patch(
    one,
    { cost_health: 'offTrack', summary: null },
    { 'if-match': made.headers.etag! },
  );
  expect(changed.body).toMatchObject({ cost_health: 'offTrack', summary: null });
  await expectProblem(member.patch(one, {}, { 'if-match': made.headers.etag! }), 412, 'precondition_failed');
  await ok(member.delete(one), 204);
  expect(eventKinds(await since(position, viewer), 'ppm_report')).toBe('created created updated deleted');
  await admin.undo();
  const item = (await viewer.get(url(id, 'reports'))).body.items[0];
  expect(item).toMatchObject({ id: made.body.id, cost_health: 'offTrack' });
  expect((await viewer.get(`/api/v1/cards/${id}/history`)).text).toContain('ppm_report.updated');
});

it('a status report is refused where it does not fit, and where there is no such initiative', async () => {
  const id = await initiative();
  expect(await faults(admin.post(url(id, 'reports'), { report_date: '0000-01-01' }))).toContain(
    'report_date format',
  );
  expect(await faults(admin.post(url(id, 'reports'), { report_date: '1066-10-14' }))).toContain(
    'report_date out_of_range',
  );
  await expectProblem(admin.post(url(id, 'reports'), {}), 422);
  const app = (await admin.post('/api/v1/cards', { type: 'Application', name: randomUUID() })).body.id;
  for (const other of [app, randomUUID()]) {
    await expectProblem(admin.get(url(other, 'reports')), 404, 'not_found');
    await expectProblem(admin.post(url(other, 'reports'), { report_date: '2026-01-01' }), 404, 'not_found');
  }
  await expectProblem(admin.get(url('7', 'reports')), 422);
});

it('a project risk has a score of probability times impact, and an owner who is an active user', async () => {
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
  const sorted = (await viewer.get(`${url(id, 'risks')}?sort_by=risk_score&fields=id,risk_score`)).body.items;
  expect(sorted).toEqual([
    { id: other, risk_score: 3 },
    { id: made.body.id, risk_score: 20 },
  ]);
  const patched = await admin.patch(`/api/v1/ppm/risks/${made.body.id}`, {
    impact: 1,
    status: 'closed',
    owner_id: null,
  });
  const byStatus = (await viewer.get(`${url(id, 'risks')}?sort_by=status&fields=status`)).body.items;
  expect(byStatus).toEqual([{ status: 'open' }, { status: 'closed' }]);
  expect(patched.body).toMatchObject({ risk_score: 4, status: 'closed', owner_name: null });
  expect(await faults(admin.post(url(id, 'risks'), { title: ' ' }))).toContain('title required');
  expect(await faults(admin.post(url(id, 'risks'), { title: 'R', owner_id: randomUUID() }))).toContain(
    'owner_id unknown_user',
  );
  await expectProblem(admin.post(url(id, 'risks'), { title: 'R', impact: 6 }), 422);
});

describe('cost and budget lines', () => {
  it('add up to the attributes of the initiative, which is scored and told in the same write', async () => {
    const id = await initiative();
    const quality = (await admin.get(`/api/v1/cards/${id}`)).body.data_quality;
    const { body } = await admin.get(url(id, 'has-costs'));
    expect(body).toEqual({ has_budget_lines: false, has_cost_lines: false });
    const first = await add(id, 'costs', { ...spent(0.1), planned: 7, date: '2026-02-01' });
    await add(id, 'costs', spent(0.2));
    expect(await attributes(id)).toEqual({ costActual: 0.3 });
    const position = await admin.position();
    await add(id, 'budgets', { fiscal_year: 2026, category: 'capex', amount: 1000 });
    expect((await admin.get(`/api/v1/cards/${id}`)).body.data_quality).toBeGreaterThan(quality);
    expect((await since(position)).map(({ event_type, data }) => [event_type, data.rolled_up])).toEqual([
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
    await ok(admin.delete(`/api/v1/ppm/costs/${first}`), 204);
    expect(await attributes(id)).toEqual({ costActual: 0.2, costBudget: 1000 });
  });

  it('keep everything else from setting what they add up to', async () => {
    const id = await initiative({ attributes: { costActual: 5, costBudget: 6 } });
    const line = await add(id, 'costs', spent(40));
    const card = `/api/v1/cards/${id}`;
    const fault = 'attributes.costActual sum_of_lines';
    expect(await faults(admin.patch(card, { attributes: { costActual: 41 } }))).toContain(fault);
    expect(await faults(admin.patch(card, { attributes: { costActual: null } }))).toContain(fault);
    expect(
      await faults(
        admin.patch('/api/v1/cards/bulk', { ids: [id], updates: { attributes: { costActual: 1 } } }),
      ),
    ).toContain(fault);
    // what is sent back unchanged, and what has no lines, may be set
    const patched = await admin.patch(card, { attributes: { costActual: 40, costBudget: 7 } });
    expect(patched.body.attributes).toEqual({ costActual: 40, costBudget: 7 });
    expect((await admin.patch(card, { attributes: null })).body.attributes).toEqual({ costActual: 40 });
    await ok(admin.delete(`/api/v1/ppm/costs/${line}`), 204);
    expect(await attributes(id)).toEqual({});
    await ok(admin.patch(card, { attributes: { costActual: 41 } }));
  });

  it('are stronger than a formula, which counts again without them', async () => {
    const id = await initiative();
    const line = await add(id, 'costs', spent(40));
    const formula = await admin.create('/api/v1/calculations', {
      name: 'Actual',
      target_type_key: 'Initiative',
      target_field_key: 'costActual',
      formula: 'IF(data.name == "", 12, 12)',
    });
    const started = await admin.post(`/api/v1/calculations/${formula.id}/activate`);
    expect(started.status, started.text).toBeLessThan(300);
    await admin.patch(`/api/v1/cards/${id}`, { name: randomUUID() });
    expect((await attributes(id)).costActual).toBe(40);
    expect((await attributes(await initiative())).costActual).toBe(12);
    await admin.delete(`/api/v1/ppm/costs/${line}`);
    await admin.patch(`/api/v1/cards/${id}`, { name: randomUUID() });
    expect((await attributes(id)).costActual).toBe(12);
    expect((await admin.delete(`/api/v1/calculations/${formula.id}`)).status).toBeLessThan(300);
  });

  it('show no amounts to those who see no costs, in answers and events, and are not written by them', async () => {
    const id = await initiative();
    const position = await admin.position();
    await add(id, 'costs', { ...spent(4711.5), planned: 4712.5 });
    await add(id, 'budgets', { fiscal_year: 2026, category: 'opex', amount: 4713.5 });
    const [line] = (await viewer.get(url(id, 'costs'))).body.items;
    expect(line).toMatchObject({ description: 'Licences', planned: null, actual: null });
    expect((await viewer.get(url(id, 'budgets'))).body.items[0].amount).toBeNull();
    const events = await viewer.get(`/api/v1/changes?after=${position}`);
    expect(events.text).toContain('ppm_cost_line.created');
    expect(events.text).not.toMatch(/471[123]\.5/);
    const planner = await t.holding('inventory.view', 'ppm.view', 'ppm.manage');
    await expectProblem(planner.post(url(id, 'costs'), spent(1)), 403, 'costs.view');
    await expectProblem(planner.delete(`/api/v1/ppm/costs/${line.id}`), 403, 'costs.view');
    await planner.create(url(id, 'risks'), { title: 'R' });
    // a role on the initiative shows its costs
    await db('stakeholders').insert({ card_id: id, user_id: planner.userId, role: 'responsible' });
    const item = (await planner.get(url(id, 'costs'))).body.items[0];
    expect(item).toMatchObject({ actual: 4711.5, planned: 4712.5 });
    await planner.create(url(id, 'costs'), spent(1));
  });

  it('are undone with the sums before them, also by hand before there were any', async () => {
    const id = await initiative({ attributes: { costActual: 5 } });
    const line = await add(id, 'costs', spent(10));
    const first = await lastBatch();
    const other = await add(id, 'costs', spent(20));
    expect(await attributes(id)).toEqual({ costActual: 30 });
    // a later line is no conflict with an earlier one
    await admin.undo(first);
    expect(await attributes(id)).toEqual({ costActual: 20 });
    await ok(admin.delete(`/api/v1/ppm/costs/${other}`), 204);
    await admin.undo();
    expect(await attributes(id)).toEqual({ costActual: 20 });
    expect(await faults(admin.get(url(id, `costs?search=${line}`)))).toEqual([200, undefined]);
    const fresh = await initiative({ attributes: { costActual: 5 } });
    await add(fresh, 'costs', spent(10));
    await admin.undo();
    expect(await attributes(fresh)).toEqual({ costActual: 5 });
  });

  it('move with a merge, come back with its undoing, and go with their card and come back with it', async () => {
    const survivor = await initiative({ attributes: { costActual: 5 } });
    const gone = await initiative();
    await add(gone, 'costs', spent(10));
    await add(gone, 'reports', { report_date: '2026-03-31' });
    const merged = await ok(merge(admin, survivor, [gone]));
    expect(merged.moved).toMatchObject({ 'cost line': 1, 'status report': 1 });
    expect(await attributes(survivor)).toEqual({ costActual: 10 });
    await ok(admin.post(`/api/v1/card-merges/${merged.merge_id}/undo`));
    expect([await attributes(survivor), await attributes(gone)]).toEqual([
      { costActual: 5 },
      { costActual: 10 },
    ]);
    await ok(admin.delete(`/api/v1/cards/${gone}`));
    await expectProblem(admin.get(url(gone, 'costs')), 404, 'not_found');
    await admin.undo();
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
      const answer = await ok(
        admin.request({
          method: 'POST',
          url: '/api/v1/imports?kind=cards&mode=upsert',
          headers: { 'content-type': 'text/csv' },
          payload: `type,external_id,name,alias,attributes.costActual\nInitiative,${external_id},${name},Imported,${actual}\n`,
        }),
        202,
      );
      return (await untilReported(t.services, answer.job_id)).counts;
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
    await forAllAsync(4, [fc.array(write, { minLength: 8, maxLength: 12 })], async (writes) => {
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
          await ok(admin.delete(`/api/v1/ppm/${kind}/${one}`), 204);
          there.delete(one);
        } else {
          await ok(admin.patch(`/api/v1/ppm/${kind}/${one}`, body[kind](amount)));
          there.set(one, amount);
          if (act === 'undo' && before.get(one) !== amount) {
            await admin.undo();
            lines[kind] = before;
          }
        }
      }
      const { costActual, costBudget } = await attributes(id);
      expect([costActual, costBudget]).toEqual([sum(lines.costs.values()), sum(lines.budgets.values())]);
    });
  });
});
