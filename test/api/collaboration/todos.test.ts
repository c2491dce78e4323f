import { countOpenTodos } from '../../../domain/collaboration/todos/todos.commands.ts';
import { openDueTodos } from '../../../domain/collaboration/todos/todos.due.ts';
import { closeSystemTodos, openSystemTodo } from '../../../domain/collaboration/todos/todos.system.ts';
import { command } from '../../../domain/kernel/command.ts';
import { systemCaller } from '../../../domain/kernel/context.ts';
import type { RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import { expectProblem, ok, openApp, pluck, type TestClient } from '../../support/harness.ts';
import { card, NOBODY, writesOf } from '../../support/writes.ts';

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);
const { eventsOf, expectRefused, refused } = writesOf(t);
const app: { id: string; name: string } = await admin.card();

const of = (id: string) => card(id, '/todos');
const one = (id: string, rest = '') => `/api/v1/todos/${id}${rest}`;
const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const create = (body: Record<string, unknown> = {}, client = member, on = app.id) =>
  client.create(of(on), { description: 'Do it', ...body });
const series = async (id: string) =>
  await db('todos').where({ series_id: id }).orderBy('due_date').select('id', 'status', 'due_date');

describe('to-dos', () => {
  it('are made without a card, for those who made them and to whom they are assigned', async () => {
    const { answer, events } = await eventsOf(() =>
      member.post('/api/v1/todos', { description: ' Plan ', assigned_to: viewer.userId }),
    );
    expect(answer.status).toBe(201);
    const { id } = answer.body;
    expect(answer.body).toMatchObject({
      card_id: null,
      card_name: null,
      description: 'Plan',
      status: 'open',
    });
    expect(events).toMatchObject([{ event_type: 'todo.created', card_id: null, data: { id } }]);
    const listed = async (client: TestClient) =>
      pluck((await ok(client.get('/api/v1/todos?search=plan'))).items, 'id');
    expect(await Promise.all([member, viewer, admin].map(listed))).toEqual([[id], [id], []]);
    const other = await t.holding();
    await expectProblem(other.patch(one(id), { status: 'done' }), 404);
    const own = await other.create('/api/v1/todos', { description: 'Mine', assigned_to: other.userId });
    await ok(other.patch(one(own.id), { status: 'done' }));
    const forOther = { description: 'Yours', assigned_to: viewer.userId };
    await expectProblem(other.post('/api/v1/todos', forOther), 403, 'inventory.view');
    await ok(viewer.patch(one(id), { status: 'done' }));
    const batch = answer.headers['x-mutation-batch'];
    const undone = { dry_run: false, force: true };
    await ok(admin.post(`/api/v1/mutation-batches/${batch}/rollback`, undone));
  });

  it('are made, changed and deleted, each with one event', async () => {
    const { answer, events } = await eventsOf(() =>
      member.post(of(app.id), {
        description: ' Review ',
        assigned_to: viewer.userId,
        due_date: '2026-03-31',
      }),
    );
    expect(answer.status).toBe(201);
    const { id } = answer.body;
    expect(answer.body).toEqual({
      id,
      card_id: app.id,
      card_name: app.name,
      card_type: 'Application',
      description: 'Review',
      status: 'open',
      link: null,
      is_system: false,
      assigned_to: viewer.userId,
      assignee_name: 'viewer',
      created_by: member.userId,
      due_date: '2026-03-31',
      created_at: expect.any(String),
      series_id: null,
      recurrence_unit: 'none',
      recurrence_interval: 1,
      lead_time_days: 0,
    });
    expect(events).toMatchObject([
      {
        event_type: 'todo.created',
        card_id: app.id,
        data: {
          id,
          card_name: app.name,
          changes: { assigned_to: { old: null, new: viewer.userId }, status: { old: null, new: 'open' } },
        },
      },
    ]);
    const changed = await eventsOf(() =>
      viewer.patch(one(id), { status: 'done', assigned_to: null }, { 'if-match': answer.headers.etag! }),
    );
    // the text of the answer depends on its reader only where the card is not seen
    expect(changed.answer.body).toMatchObject({ status: 'done', assigned_to: null, assignee_name: null });
    expect(changed.events).toHaveLength(1);
    expect(changed.events[0]!.data.changes).toEqual({
      status: { old: 'open', new: 'done' },
      assigned_to: { old: viewer.userId, new: null },
    });
    expect((await eventsOf(() => member.patch(one(id), { status: 'done' }))).events).toEqual([]);
    await ok(member.patch(one(id), { status: 'open', due_date: null }));
    const gone = await eventsOf(() => member.delete(one(id)));
    expect([gone.answer.status, gone.events[0]!.event_type]).toEqual([204, 'todo.deleted']);
    await expectRefused(() => member.delete(one(id)), 404);
  });

  it('are listed by whom they concern', async () => {
    const own = await admin.card();
    const [mine, given, taken] = [
      await create({ description: 'Mine' }, member, own.id),
      await create({ description: 'Given', assigned_to: viewer.userId }, member, own.id),
      await create({ description: 'Taken', assigned_to: member.userId }, viewer, own.id),
    ];
    const ids = async (client: TestClient, query: string) =>
      pluck((await ok(client.get(`/api/v1/todos?page_size=200&${query}`))).items, 'id')
        .filter((id: string) => [mine, given, taken].some((todo) => todo.id === id))
        .reverse();
    expect(await ids(member, '')).toEqual([mine.id, given.id, taken.id]);
    expect(await ids(member, 'created_only=true')).toEqual([mine.id, given.id]);
    expect(await ids(member, 'assigned_only=true')).toEqual([taken.id]);
    expect(await ids(member, `assigned_to=${member.userId}`)).toEqual([taken.id]);
    expect(await ids(viewer, '')).toEqual([given.id, taken.id]);
    expect(await ids(admin, '')).toEqual([]);
    expect(await ids(admin, 'mine=false')).toEqual([mine.id, given.id, taken.id]);
    expect(await ids(admin, `assigned_to=${viewer.userId}`)).toEqual([given.id]);
    expect(await ids(member, 'status=done')).toEqual([]);
    expect(await ids(member, 'search=TAK&cursor=')).toEqual([taken.id]);
    const { items } = await ok(viewer.get(`${of(own.id)}?sort_by=description&fields=description`));
    expect(items).toEqual([{ description: 'Given' }, { description: 'Mine' }, { description: 'Taken' }]);
    await expectRefused(() => member.get('/api/v1/todos?mine=false'), 403, 'admin.todos');
    await expectRefused(() => member.get('/api/v1/todos?status=nope'), 422);
  });

  it('are changed by those whom they concern, and by who may change all', async () => {
    const todo = await create();
    const other = await t.as('member', 'other');
    for (const act of [
      () => other.patch(one(todo.id), { status: 'done' }),
      () => other.delete(one(todo.id)),
      () => other.post(one(todo.id, '/promote')),
    ])
      await expectRefused(act, 403, 'admin.todos');
    // who does not even see the card learns nothing
    const nobody = await t.holding();
    await expectRefused(() => nobody.patch(one(todo.id), { status: 'done' }), 404);
    await expectRefused(() => nobody.post(of(app.id), { description: 'x' }), 403, 'inventory.view');
    const asked = await create({ assigned_to: nobody.userId });
    const item = (await ok(nobody.get('/api/v1/todos'))).items[0];
    expect(item).toMatchObject({ id: asked.id, card_id: app.id, card_name: null, card_type: null });
    await ok(nobody.patch(one(asked.id), { status: 'done' }));
    await ok(admin.patch(one(todo.id), { description: 'By the administrator' }));
  });

  it('refuse what they cannot hold', async () => {
    const todo = await create();
    const post = (body: unknown) => refused(() => member.post(of(app.id), body));
    const patch = (body: unknown) => refused(() => member.patch(one(todo.id), body));
    for (const [body, field] of [
      [{ description: ' ' }, 'description'],
      [{ description: 'x', assigned_to: NOBODY }, 'assigned_to'],
      [{ description: 'x', due_date: '2026-02-30' }, 'due_date'],
      [{ description: 'x', due_date: '0000-01-01' }, 'due_date'],
      [{ description: 'x', recurrence_unit: 'hours' }, 'recurrence_unit'],
      [{ description: 'x', recurrence_interval: 0 }, 'recurrence_interval'],
      [{ description: 'x', lead_time_days: 3651 }, 'lead_time_days'],
    ] as const) {
      const { status, fields } = await post(body);
      expect([status, fields[0]]).toEqual([422, field]);
    }
    await expectProblem(post({ description: 'x', status: 'done' }), 422);
    await expectProblem(patch({ status: 'scheduled' }), 422);
    await expectProblem(patch({ status: null }), 422);
    await expectProblem(patch({ description: null }), 422);
  });
});

describe('recurring to-dos', () => {
  it('come again when they are done: open within the lead time, else scheduled', async () => {
    const weekly = await create({ due_date: day(0), recurrence_unit: 'weeks', assigned_to: viewer.userId });
    expect(weekly).toMatchObject({ series_id: weekly.id, lead_time_days: 2, status: 'open' });
    const { events } = await eventsOf(() => member.patch(one(weekly.id), { status: 'done' }));
    expect(events.map(({ event_type }) => event_type)).toEqual(['todo.updated', 'todo.created']);
    const [, next] = await series(weekly.id);
    expect(next).toMatchObject({ status: 'scheduled', due_date: day(7) });
    expect(events[1]!.data).toMatchObject({ id: next.id, assigned_to: viewer.userId });
    // done twice, it comes again once
    await ok(member.patch(one(weekly.id), { status: 'open' }));
    await ok(member.patch(one(weekly.id), { status: 'done' }));
    expect(await series(weekly.id)).toHaveLength(2);

    const late = await create({ due_date: day(-30), recurrence_unit: 'weeks' });
    await ok(member.patch(one(late.id), { status: 'done' }));
    expect((await series(late.id))[1]).toMatchObject({ status: 'open', due_date: day(-23) });
  });

  it('keep to the day of the month', async () => {
    const first = await create({ due_date: '2026-01-31', recurrence_unit: 'months' });
    await ok(member.patch(one(first.id), { status: 'done' }));
    const [, second] = await series(first.id);
    await ok(member.patch(one(second.id), { status: 'done' }));
    expect(pluck(await series(first.id), 'due_date')).toEqual(['2026-01-31', '2026-02-28', '2026-03-31']);
  });

  it('can be opened early, and not be done before', async () => {
    const first = await create({ due_date: day(0), recurrence_unit: 'years' });
    await ok(member.patch(one(first.id), { status: 'done' }));
    const [, next] = await series(first.id);
    await expectRefused(() => member.patch(one(next.id), { status: 'done' }), 409, 'wrong_state');
    await expectRefused(() => member.post(one(first.id, '/promote')), 409, 'wrong_state');
    const { answer, events } = await eventsOf(() => member.post(one(next.id, '/promote')));
    expect(answer.body.status).toBe('open');
    expect(events[0]).toMatchObject({
      event_type: 'todo.updated',
      data: { changes: { status: { old: 'scheduled', new: 'open' } } },
    });
    expect((await eventsOf(() => member.post(one(next.id, '/promote')))).events).toEqual([]);
  });

  it('follow changes of their recurrence', async () => {
    const todo = await create({ due_date: '2027-05-31' });
    expect(await ok(member.patch(one(todo.id), { recurrence_unit: 'months' }))).toMatchObject({
      series_id: todo.id,
      lead_time_days: 7,
    });
    expect(await ok(member.patch(one(todo.id), { lead_time_days: 30 }))).toMatchObject({
      lead_time_days: 30,
    });
    expect(await ok(member.patch(one(todo.id), { lead_time_days: null }))).toMatchObject({
      lead_time_days: 7,
    });
    expect(
      await ok(member.patch(one(todo.id), { recurrence_unit: null, recurrence_interval: null })),
    ).toMatchObject({ recurrence_unit: 'none', recurrence_interval: 1, lead_time_days: 0 });
  });

  it('are opened by the daily job when their time has come, once', async () => {
    const job = {
      ctx: await t.ctx(systemCaller),
      counts: {},
      signal: new AbortController().signal,
      checkpoint: async () => undefined,
    } as unknown as RunningJob;
    const first = await create({ due_date: day(-6), recurrence_unit: 'weeks' });
    await ok(member.patch(one(first.id), { status: 'done', lead_time_days: 0 }));
    const [, next] = await series(first.id);
    expect(next.status).toBe('scheduled');
    const far = await create({ due_date: day(0), recurrence_unit: 'years' });
    await ok(member.patch(one(far.id), { status: 'done' }));
    await db('todos').where({ id: next.id }).update('due_date', day(0));
    const before = (await db('events').max('position as p').first())!.p;
    expect(await openDueTodos(job)).toBe(1);
    expect(await db('events').where('position', '>', before)).toMatchObject([
      {
        event_type: 'todo.updated',
        card_id: app.id,
        data: { id: next.id, changes: { status: { old: 'scheduled', new: 'open' } } },
      },
    ]);
    expect(await openDueTodos(job)).toBe(0);
    expect((await series(far.id))[1].status).toBe('scheduled');
  });
});

describe("the service's own to-dos", () => {
  const topic = 'test_signature';
  const write = async (act: (work: Parameters<Parameters<typeof command>[1]>[0]) => Promise<unknown>) =>
    await command(await t.ctx(systemCaller), act);
  const found = (subject: string) => db('todos').where({ topic, subject_id: subject }).orderBy('created_at');
  const ask = (subjectId: string, more: object = {}) => ({
    topic,
    subjectId,
    assignedTo: viewer.userId,
    description: 'Sign it',
    card: null,
    link: '/adr/1',
    ...more,
  });

  it('are opened once, brought up to date, and closed by the service alone', async () => {
    const subject = '11111111-1111-4111-8111-111111111111';
    await write((work) => openSystemTodo(work, ask(subject)));
    await write((work) => openSystemTodo(work, ask(subject)));
    await write((work) => openSystemTodo(work, ask(subject, { dueDate: '2026-05-01' })));
    const [todo, ...more] = await found(subject);
    expect(more).toEqual([]);
    expect(todo).toMatchObject({ status: 'open', is_system: true, due_date: '2026-05-01', link: '/adr/1' });
    const listed = (await ok(viewer.get('/api/v1/todos'))).items.find(
      ({ id }: { id: string }) => id === todo.id,
    );
    expect(listed).toMatchObject({ is_system: true, card_id: null });
    for (const client of [viewer, admin]) {
      await expectRefused(() => client.patch(one(todo.id), { status: 'done' }), 403);
      await expectRefused(() => client.delete(one(todo.id)), 403);
    }
    await expectRefused(() => member.patch(one(todo.id), { status: 'done' }), 404);
    const count = async () =>
      await countOpenTodos({ ...(await t.ctx()), caller: { ...systemCaller, userId: viewer.userId } });
    const open = await count();
    await write((work) => closeSystemTodos(work, { topic, subjectId: subject }));
    expect((await found(subject))[0].status).toBe('done');
    expect(await count()).toBe(open - 1);
    await write((work) => openSystemTodo(work, ask(subject)));
    await write((work) => closeSystemTodos(work, { topic, subjectId: subject, assignedTo: member.userId }));
    expect((await found(subject)).map(({ status }) => status)).toEqual(['done', 'open']);
    await write((work) =>
      closeSystemTodos(work, { topic, subjectId: subject, assignedTo: viewer.userId }, 'withdrawn'),
    );
    expect((await found(subject)).map(({ status }) => status)).toEqual(['done']);
  });

  it('without a card are told to the one who is asked, and to nobody else', async () => {
    const after = (await ok(viewer.get('/api/v1/changes?after=now'))).next;
    const subject = '22222222-2222-4222-8222-222222222222';
    await write((work) => openSystemTodo(work, ask(subject)));
    await write((work) =>
      openSystemTodo(
        work,
        ask(subject, { assignedTo: member.userId, card: { ...app, type: 'Application' } }),
      ),
    );
    const told = async (client: TestClient) =>
      pluck(
        (await ok(client.get(`/api/v1/changes?after=${after}&event_type=todo.created`))).items,
        'card_id',
      );
    expect(await told(viewer)).toEqual([null, app.id]);
    expect(await told(member)).toEqual([app.id]);
  });
});
