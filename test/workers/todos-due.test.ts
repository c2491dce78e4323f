import { todosDueJob } from '../../domain/collaboration/todos/todos.due.ts';
import { todosDueProcessor } from '../../workers/processors.ts';
import { startWorkers } from '../../workers/runtime.ts';
import { closeAfterAll, createTestApp } from '../support/harness.ts';
import { ask, untilStatus } from '../support/jobs.ts';

const t = closeAfterAll(await createTestApp());
const { db } = t.services;
closeAfterAll(await startWorkers(t.services, [todosDueProcessor]));

const run = async () => {
  const id = await ask(await t.ctx(), todosDueJob, {});
  return { id, counts: (await untilStatus(t.services, id, 'succeeded')).counts };
};

it('opens every scheduled to-do whose time has come, in batches, once, and tells of each', async () => {
  await db.raw(`insert into todos (description, status, due_date, lead_time_days, created_by)
     select 'due ' || n, 'scheduled', current_date + (n % 3), 2, uuidv7() from generate_series(1, 2100) n`);
  await db('todos').insert([
    { description: 'later', status: 'scheduled', due_date: db.raw('current_date + 3'), lead_time_days: 2 },
    { description: 'done', status: 'done', due_date: db.raw('current_date') },
  ]);
  const { id, counts } = await run();
  expect(counts).toEqual({ opened: 2100 });
  expect(await db('todos').where({ status: 'scheduled' }).pluck('description')).toEqual(['later']);
  const events = await db('events').where({ event_type: 'todo.updated', job_id: id });
  expect(events).toHaveLength(2100);
  expect(events[0]).toMatchObject({
    scope: 'user',
    batch_id: id,
    data: { changes: { status: { old: 'scheduled', new: 'open' } } },
  });
  expect((await run()).counts).toEqual({ opened: 0 });
});
