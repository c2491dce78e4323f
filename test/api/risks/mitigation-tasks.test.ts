// @redis
import { randomUUID } from 'node:crypto';
import { occurrenceStatuses } from '../../../domain/governance/risks/risks.model.ts';
import { occurrenceActs } from '../../../domain/governance/risks/risks.rules.ts';
import { mitigationsDueJob } from '../../../domain/governance/risks/tasks.store.ts';
import { mitigationsDueProcessor } from '../../../workers/processors.ts';
import { startWorkers } from '../../../workers/runtime.ts';
import { expectInvalid, expectProblem, ok, openApp, pluck, refusal } from '../../support/harness.ts';
import { ask, untilStatus } from '../../support/jobs.ts';
import { riskWorld, url } from './risks.fixture.ts';

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);
const w = riskWorld(t, admin);
const card = await w.card();
const risk: { id: string; reference: string; title: string } = await w.risk({ card_ids: [card] });

type Values = Record<string, unknown>;
const task = (more: Values = {}) =>
  admin.create(`${url}/${risk.id}/mitigation-tasks`, { title: 'Do it', ...more });
const at = (id: string) => `/api/v1/mitigation-tasks/${id}`;
const act = (
  made: { id: string; occurrences: { id: string }[] },
  what: string,
  body?: object,
  client = admin,
) => client.post(`${at(made.id)}/occurrences/${made.occurrences.at(-1)!.id}/${what}`, body);
const dues = (body: { occurrences: Values[] }) => pluck(body.occurrences, 'due_date', 'status');
const inDays = async (days: number): Promise<string> =>
  (await db.raw('select (current_date + ?::int)::text as day', [days])).rows[0].day;

describe('a mitigation task', () => {
  it('is added, changed and deleted, with its events in the histories of the cards', async () => {
    const since = await admin.position();
    const made = await task({ description: 'Soon.', due_date: await inDays(60), owner_id: member.userId });
    expect(made).toMatchObject({
      reference: expect.stringMatching(/^T-\d{6}$/),
      risk_id: risk.id,
      risk_reference: risk.reference,
      owner_id: member.userId,
      recurrence_unit: 'none',
      recurrence_interval: 1,
      lead_time_days: 14,
      is_active: true,
      occurrences: [
        { sequence: 1, status: 'scheduled', activated_at: null, assigned_owner_id: member.userId },
      ],
    });
    expect((await viewer.get(`${url}/${risk.id}/mitigation-tasks`)).body.items).toEqual([made]);
    expect((await viewer.get(`${at(made.id)}/occurrences`)).body.items).toEqual(made.occurrences);
    expect(await w.asked(member.userId)).toEqual([]);
    // it comes within the lead time
    const moved = await admin.patch(at(made.id), { due_date: await inDays(3), title: 'Now' });
    expect(moved.body.occurrences).toMatchObject([{ status: 'open', due_date: await inDays(3) }]);
    expect(await w.asked(member.userId)).toEqual([`Mitigate a risk (${made.reference}): Now`]);
    await admin.patch(at(made.id), { owner_id: viewer.userId });
    expect([await w.asked(member.userId), await w.asked(viewer.userId)]).toEqual([
      [],
      [`Mitigate a risk (${made.reference}): Now`],
    ]);
    await ok(admin.delete(at(made.id)), 204);
    expect(await w.asked(viewer.userId)).toEqual([]);
    await expectProblem(admin.get(`${at(made.id)}/occurrences`), 404, 'not_found');
    expect((await admin.changes(since, 'risk')).map(({ event_type }) => event_type.split('.')[1])).toEqual([
      'created',
      'occurrence_added',
      'updated',
      'activated',
      'updated',
      'occurrence_updated',
      'occurrence_removed',
      'deleted',
    ]);
    expect((await viewer.get(`/api/v1/cards/${card}/history`)).body.items[0]).toMatchObject({
      event_type: 'risk_mitigation_task.deleted',
      data: { reference: made.reference, risk_id: risk.id, card_ids: [card] },
    });
    await admin.undo();
    expect((await admin.get(`${at(made.id)}/occurrences`)).body.total).toBe(1);
    await admin.delete(at(made.id));
  });

  it('is refused where it does not fit', async () => {
    const unknown = randomUUID();
    const made = await task();
    const tasks = `${url}/${risk.id}/mitigation-tasks`;
    await expectInvalid(admin.post(tasks, { title: ' ', owner_id: unknown }), 'title', 'owner_id');
    expect(await refusal(admin.post(tasks, { title: 'T', recurrence_interval: 366 }))).toContain(
      'recurrence_interval',
    );
    expect(await refusal(admin.post(tasks, { title: 'T', recurrence_unit: 'hours' }))).toContain(
      'recurrence_unit',
    );
    for (const missing of [
      admin.get(`${at(unknown)}/occurrences`),
      admin.post(`${at(unknown)}/occurrences/${made.occurrences[0].id}/complete`),
    ])
      await expectProblem(missing, 404, 'not_found');
    await act(made, 'complete');
    await expectProblem(admin.patch(at(made.id), { due_date: '2031-01-01' }), 409, 'wrong_state');
    await admin.delete(at(made.id));
  });

  it('is listed with those of other risks, by the risks', async () => {
    const other = await w.risk({ title: 'Apart', category: 'financial' });
    const made = (await admin.post(`${url}/${other.id}/mitigation-tasks`, { title: 'Save' })).body;
    const all = (await viewer.get(`${url}/mitigation-tasks/export?category=financial&search=apart`)).body;
    expect(all.items).toEqual([made]);
    expect(made).toMatchObject({ risk_reference: other.reference, risk_title: 'Apart' });
    expect((await viewer.get(`${url}/mitigation-tasks/export?category=strategic`)).body.total).toBe(0);
  });
});

describe('an occurrence', () => {
  it('goes its way for those who maintain the register, and ends for whom it is assigned to', async () => {
    const made = await task({ owner_id: viewer.userId });
    const [{ id }] = made.occurrences;
    const others = await t.as('viewer', 'other');
    for (const [name, { from, to }] of Object.entries(occurrenceActs)) {
      for (const status of occurrenceStatuses) {
        const set = () => db('risk_mitigation_occurrences').where({ id }).update({ status });
        await set();
        await expectProblem(act(made, name, undefined, others), 403);
        for (const client of name === 'promote' ? [member] : [member, viewer]) {
          await set();
          const answer = await act(made, name, undefined, client);
          if (status === from) expect(answer.body.occurrences).toMatchObject([{ status: to }]);
          else expect(answer.body).toMatchObject({ code: 'wrong_state', occurrence_status: status });
        }
      }
    }
    await expectProblem(act(made, 'promote', undefined, viewer), 403, 'risks.manage');
    await admin.delete(at(made.id));
  });

  it('is completed with who, when and a note, and its to-do with it', async () => {
    const made = await task({ owner_id: viewer.userId });
    expect(await w.asked(viewer.userId)).toHaveLength(1);
    const done = await act(made, 'complete', { notes: 'Done.' }, viewer);
    expect(done.body.occurrences).toMatchObject([
      {
        status: 'done',
        completed_by: viewer.userId,
        owner_at_completion: viewer.userId,
        completion_notes: 'Done.',
      },
    ]);
    expect(done.body.occurrences[0].completed_by_name).not.toBeNull();
    expect(await w.asked(viewer.userId)).toEqual([]);
    const kept = (await viewer.get(`/api/v1/accounts/${viewer.userId}/personal-data`)).body;
    expect(kept.risk_mitigations).toMatchObject([{ task: made.reference, completed: true }]);
    await admin.undo();
    expect((await admin.get(`${at(made.id)}/occurrences`)).body.items).toMatchObject([{ status: 'open' }]);
    expect(await w.asked(viewer.userId)).toHaveLength(1);
    await admin.delete(at(made.id));
  });

  it('of a task that recurs is followed by the next, by the last day of a month that is too short', async () => {
    let made = await task({ due_date: '2031-01-31', recurrence_unit: 'months' });
    expect(made.lead_time_days).toBe(7);
    for (const what of ['complete', 'skip', 'complete']) {
      await act(made, 'promote');
      made = (await act(made, what)).body;
    }
    expect(dues(made)).toEqual([
      ['2031-01-31', 'done'],
      ['2031-02-28', 'skipped'],
      ['2031-03-31', 'done'],
      ['2031-04-30', 'scheduled'],
    ]);
    // inactive it ends with what is waited for, active it goes on
    await admin.patch(at(made.id), { is_active: false });
    await act(made, 'promote');
    made = (await act(made, 'complete')).body;
    expect(made.occurrences).toHaveLength(4);
    made = (await admin.patch(at(made.id), { is_active: true })).body;
    expect(dues(made).at(-1)).toEqual(['2031-05-31', 'scheduled']);

    let leap = await task({ due_date: '2032-02-29', recurrence_unit: 'years', recurrence_interval: 2 });
    for (let n = 0; n < 2; n += 1) {
      await act(leap, 'promote');
      leap = (await act(leap, 'complete')).body;
    }
    expect(dues(leap).map(([due]) => due)).toEqual(['2032-02-29', '2034-02-28', '2036-02-29']);
  });

  it('without a day is followed by one an interval after today, and ends with the calendar', async () => {
    const made = await task({ recurrence_unit: 'weeks', recurrence_interval: 3 });
    expect(dues((await act(made, 'complete')).body)).toEqual([
      [null, 'done'],
      [await inDays(21), 'scheduled'],
    ]);
    const last = await task({ due_date: '9999-12-31', recurrence_unit: 'days' });
    await act(last, 'promote');
    expect((await act(last, 'complete')).body.occurrences).toHaveLength(1);
  });
});

it('what comes within its lead time is opened once a day, and its owner asked', async () => {
  const workers = await startWorkers(t.services, [mitigationsDueProcessor]);
  const run = async () => {
    const id = await ask(await t.ctx(), mitigationsDueJob, {});
    return (await untilStatus(t.services, id, 'succeeded')).counts;
  };
  const due = await task({ title: 'Due', due_date: await inDays(30), owner_id: member.userId });
  const later = await task({ title: 'Later', due_date: await inDays(16) });
  const paused = await task({ title: 'Paused', due_date: await inDays(30) });
  await admin.patch(at(paused.id), { is_active: false });
  const closed = await w.risk();
  const ofClosed = await admin.post(`${url}/${closed.id}/mitigation-tasks`, {
    title: 'Shut',
    due_date: await inDays(30),
  });
  await db('risks').where({ id: closed.id }).update({ status: 'closed' });
  // two weeks and two days pass
  await db('risk_mitigation_occurrences')
    .whereIn('task_id', [due.id, paused.id, ofClosed.body.id])
    .update({ due_date: db.raw('current_date + 14') });
  await db('risk_mitigation_occurrences')
    .where({ task_id: later.id })
    .update({ due_date: db.raw('current_date + 15') });
  const since = await admin.position();
  expect(await run()).toEqual({ opened: 1 });
  expect(await admin.changes(since, 'risk')).toMatchObject([
    {
      event_type: 'risk_mitigation_task.activated',
      data: { task_id: due.id, changes: { status: { old: 'scheduled', new: 'open' } }, card_ids: [card] },
    },
  ]);
  expect(await w.asked(member.userId)).toEqual([`Mitigate a risk (${due.reference}): Due`]);
  expect(await run()).toEqual({ opened: 0 });
  await workers.close(2_000);
});
