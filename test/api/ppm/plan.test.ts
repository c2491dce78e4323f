import { randomUUID } from 'node:crypto';
import { expectProblem, faults, ok, openApp, pluck } from '../../support/harness.ts';
import { tellAll, toldTo } from '../../support/notifications.ts';
import { merge } from '../cards/merge.fixture.ts';
import { planner } from './plan.fixture.ts';

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);
const p = planner(t, admin);

const kinds = async (position: string, client = admin) => pluck(await client.changes(position), 'event_type');
const todos = async (subject: string) =>
  await db('todos')
    .where({ subject_id: subject })
    .orderBy('created_at')
    .select('assigned_to', 'status', 'description');

describe('a task', () => {
  it('is given to somebody, who has a to-do as long as it is to be done', async () => {
    const id = await p.initiative();
    const position = await admin.position();
    const made = await admin.post(p.url(id, 'tasks'), {
      title: 'Move the data',
      assignee_id: member.userId.toUpperCase(),
      start_date: '2026-03-02',
      due_date: '2026-03-20',
      tags: ['data'],
    });
    expect(made.body).toMatchObject({
      initiative_id: id,
      status: 'todo',
      priority: 'medium',
      assignee_id: member.userId,
      sort_order: 0,
      tags: ['data'],
      wbs_id: null,
      comment_count: 0,
    });
    const one = `/api/v1/ppm/tasks/${made.body.id}`;
    expect(await todos(made.body.id)).toMatchObject([
      { assigned_to: member.userId, status: 'open', description: 'Move the data' },
    ]);
    expect(await kinds(position)).toEqual(['todo.created', 'ppm_task.created']);
    await tellAll(t.services);
    expect((await toldTo(t.services, member.userId)).map(({ type }) => type)).toEqual(['task_assigned']);
    expect((await admin.patch(one, { status: 'done' })).body.status).toBe('done');
    expect(await todos(made.body.id)).toMatchObject([{ status: 'done' }]);
    await admin.patch(one, { status: 'in_progress' });
    expect((await todos(made.body.id)).map(({ status }) => status)).toEqual(['done', 'open']);
    await admin.patch(one, { assignee_id: viewer.userId, title: 'Move all data' });
    expect(await todos(made.body.id)).toMatchObject([
      { assigned_to: member.userId, status: 'done' },
      { assigned_to: viewer.userId, status: 'open', description: 'Move all data' },
    ]);
    await admin.delete(one);
    expect(await todos(made.body.id)).toMatchObject([{ status: 'done' }]);
    await admin.undo();
    expect((await todos(made.body.id)).map(({ status }) => status)).toEqual(['done', 'open']);
    const kept = (await admin.get(`/api/v1/accounts/${viewer.userId}/personal-data`)).body;
    expect(kept.tasks).toMatchObject([{ title: 'Move all data' }]);
  });

  it('is listed by filter and order, and refused where it does not fit', async () => {
    const id = await p.initiative();
    const other = await p.initiative();
    const top = await p.item(id, 'Top');
    const foreign = await p.item(other, 'Elsewhere');
    const first = await p.task(id, 'B', { priority: 'low', wbs_id: top });
    const second = await p.task(id, 'A', { priority: 'critical', status: 'blocked', sort_order: 2 });
    const listed = async (query: string) =>
      pluck((await viewer.get(`${p.url(id, 'tasks')}?${query}`)).body.items, 'id');
    expect(await listed('')).toEqual([first, second]);
    expect(await listed('sort_by=priority')).toEqual([second, first]);
    // to do, in progress, done, blocked
    expect(await listed('sort_by=status')).toEqual([first, second]);
    expect(await listed('status=blocked')).toEqual([second]);
    expect(await listed(`wbs_id=${top}`)).toEqual([first]);
    expect(await listed(`assignee_id=${member.userId}`)).toEqual([]);
    expect(await listed('search=b')).toContain(first);
    const page = await viewer.get(`${p.url(id, 'tasks')}?cursor=&page_size=1&fields=id`);
    expect(page.body.items).toEqual([{ id: first }]);
    const refused = (body: object) => faults(admin.post(p.url(id, 'tasks'), { title: 'T', ...body }));
    expect(await refused({ wbs_id: foreign })).toContain('wbs_id unknown_value');
    expect(await refused({ assignee_id: randomUUID() })).toContain('assignee_id unknown_user');
    expect(await refused({ start_date: '2026-03-02', due_date: '2026-03-01' })).toContain(
      'due_date before_start',
    );
    expect(await refused({ due_date: '2500-01-01' })).toContain('due_date out_of_range');
    expect(await refused({ title: ' ' })).toContain('title required');
    expect(await faults(admin.patch(`/api/v1/ppm/tasks/${first}`, { status: null }))).toContain(
      'validation_failed',
    );
    for (const act of [
      admin.get(p.url(randomUUID(), 'critical-path')),
      admin.get(p.url(randomUUID(), 'completion')),
    ])
      expect(await faults(act)).toEqual([404, 'not_found']);
  });

  it('has comments, which are their authors’ own', async () => {
    const id = await p.initiative();
    const on = `/api/v1/ppm/tasks/${await p.task(id, 'T')}/comments`;
    const made = await member.create(on, { content: 'Monday.' });
    expect(made).toMatchObject({ user_id: member.userId, content: 'Monday.' });
    const one = `/api/v1/ppm/task-comments/${made.id}`;
    expect((await member.patch(one, { content: 'Tuesday.' })).body.content).toBe('Tuesday.');
    expect(await faults(admin.patch(one, { content: 'Never.' }))).toEqual([403, 'forbidden']);
    expect(await faults(admin.delete(one))).toEqual([403, 'forbidden']);
    expect(await faults(member.post(on, { content: ' ' }))).toContain('content required');
    expect((await viewer.get(on)).body.items).toMatchObject([{ content: 'Tuesday.' }]);
    expect((await viewer.get(p.url(id, 'tasks'))).body.items[0].comment_count).toBe(1);
    await ok(member.delete(one), 204);
    expect((await viewer.get(on)).body.total).toBe(0);
  });

  it('and all of a plan shows with its initiative alone, and to nobody who may not see portfolios', async () => {
    const id = await p.initiative();
    const made = await p.task(id, 'T');
    const position = await admin.position();
    await admin.patch(`/api/v1/ppm/tasks/${made}`, { status: 'done' });
    const hide = async (is_hidden: boolean) => {
      await db('card_types').where({ key: 'Initiative' }).update({ is_hidden });
      await db.raw(`select raise_topics(array['metamodel'])`);
    };
    await hide(true);
    for (const act of [
      admin.get(p.url(id, 'tasks')),
      admin.get(p.url(id, 'critical-path')),
      admin.patch(`/api/v1/ppm/tasks/${made}`, { status: 'todo' }),
      admin.get(`/api/v1/ppm/tasks/${made}/comments`),
    ])
      expect(await faults(act)).toEqual([404, 'not_found']);
    await hide(false);
    const reader = await t.holding('inventory.view');
    expect(await kinds(position, reader)).toEqual([]);
    expect(await kinds(position, viewer)).toEqual(['ppm_task.updated']);
    await expectProblem(reader.get(p.url(id, 'tasks')), 403, 'ppm.view');
    await admin.patch('/api/v1/settings/ppm-enabled', { enabled: false });
    expect(await faults(admin.get(p.url(id, 'tasks')))).toEqual([403, 'module_disabled']);
    await admin.patch('/api/v1/settings/ppm-enabled', { enabled: true });
  });
});

describe('the work breakdown', () => {
  it('tells how far each item is, and the initiative', async () => {
    const id = await p.initiative();
    const build = await p.item(id, 'Build');
    const test = await p.item(id, 'Test', { parent_id: build, completion: 70 });
    await p.item(id, 'Launch', { completion: 25, is_milestone: true });
    const long = { start_date: '2026-03-01', due_date: '2026-03-10', status: 'done' };
    await p.task(id, 'long', { ...long, wbs_id: build });
    await p.task(id, 'short', { wbs_id: build });
    await p.task(id, 'tests', { wbs_id: test, start_date: '2026-03-01', due_date: '2026-03-11' });
    await p.task(id, 'apart', { status: 'done' });
    expect((await viewer.get(`${p.url(id, 'wbs')}?sort_by=title`)).body.items).toMatchObject([
      { title: 'Build', progress: 45, task_count: 3, completion: 0 },
      { title: 'Launch', progress: 25, task_count: 0, completion: 25 },
      { title: 'Test', progress: 0, task_count: 1, completion: 70 },
    ]);
    expect((await viewer.get(p.url(id, 'completion'))).body).toEqual({ completion: 35 });
    expect(
      (await viewer.get(`${p.url(id, 'wbs')}?fields=title,progress&sort_by=title&page_size=1`)).body.items,
    ).toEqual([{ title: 'Build', progress: 45 }]);
  });

  it('is a tree of ten levels, whose items take those below with them and leave their tasks', async () => {
    const id = await p.initiative();
    const chain: string[] = [];
    for (let level = 0; level < 10; level += 1)
      chain.push(await p.item(id, `L${level}`, { parent_id: chain.at(-1) ?? null }));
    expect(await faults(admin.post(p.url(id, 'wbs'), { title: 'Deep', parent_id: chain[9] }))).toContain(
      'parent_id too_deep',
    );
    const one = (n: number) => `/api/v1/ppm/wbs/${chain[n]}`;
    expect(await faults(admin.patch(one(2), { parent_id: chain[5] }))).toContain('parent_id parent_cycle');
    expect(await faults(admin.patch(one(2), { parent_id: randomUUID() }))).toContain(
      'parent_id unknown_value',
    );
    expect(await faults(admin.patch(one(2), { start_date: '2026-03-02', end_date: '2026-03-01' }))).toContain(
      'end_date before_start',
    );
    expect((await admin.patch(one(9), { parent_id: chain[0] })).body.parent_id).toBe(chain[0]);
    const held = await p.task(id, 'Held', { wbs_id: chain[5] });
    await ok(p.depend(id, `wbs ${chain[4]}`, `task ${await p.task(id, 'Free')}`), 201);
    await ok(admin.delete(one(3)), 204);
    expect((await admin.get(p.url(id, 'wbs'))).body.total).toBe(4);
    expect(
      (await admin.get(p.url(id, 'tasks'))).body.items.find((found: { id: string }) => found.id === held)
        .wbs_id,
    ).toBeNull();
    expect((await admin.get(p.url(id, 'dependencies'))).body.total).toBe(0);
    await admin.undo();
    expect((await admin.get(p.url(id, 'wbs'))).body.total).toBe(10);
    expect((await admin.get(p.url(id, 'dependencies'))).body.total).toBe(1);
    expect(
      (await admin.get(p.url(id, 'tasks'))).body.items.find((found: { id: string }) => found.id === held)
        .wbs_id,
    ).toBe(chain[5]);
  });
});

describe('a dependency', () => {
  it('joins what there is in one initiative, once, and lets nothing wait for itself', async () => {
    const id = await p.initiative();
    const other = await p.initiative();
    const [front, back] = [await p.item(id, 'P'), await p.item(id, 'Q')];
    const [a, b, c] = [
      await p.task(id, 'A', { wbs_id: front }),
      await p.task(id, 'B', { wbs_id: back }),
      await p.task(id, 'C'),
    ];
    const made = await p.depend(id, `task ${a}`, `task ${b}`);
    const { body } = made;
    expect(body).toMatchObject({ initiative_id: id, pred_kind: 'task', pred_id: a, succ_id: b, kind: 'FS' });
    expect(await faults(p.depend(id, `task ${a}`, `task ${b}`))).toEqual([409, 'duplicate_dependency']);
    expect(await faults(p.depend(id, `task ${a}`, `task ${a}`))).toContain('succ_id same');
    expect(await faults(p.depend(id, `task ${b}`, `task ${a}`))).toContain('succ_id dependency_cycle');
    expect(await faults(p.depend(id, `wbs ${back}`, `wbs ${front}`))).toContain('succ_id dependency_cycle');
    expect(await faults(p.depend(id, `wbs ${front}`, `task ${a}`))).toContain('succ_id dependency_cycle');
    expect(await faults(p.depend(id, `task ${a}`, `wbs ${randomUUID()}`))).toContain('succ_id unknown_value');
    expect(await faults(p.depend(other, `task ${a}`, `task ${b}`))).toContain('pred_id unknown_value');
    expect(
      await faults(
        admin.post(p.url(id, 'dependencies'), { ...p.between(`task ${a}`, `task ${c}`), kind: 'SS' }),
      ),
    ).toContain('validation_failed');
    await ok(p.depend(id, `wbs ${front}`, `task ${c}`), 201);
    // c after p, and now in it; and p, which c waits for, in what waits for c
    expect(await faults(admin.patch(`/api/v1/ppm/tasks/${c}`, { wbs_id: front }))).toContain(
      'wbs_id dependency_cycle',
    );
    await ok(p.depend(id, `task ${c}`, `wbs ${back}`), 201);
    expect(await faults(admin.patch(`/api/v1/ppm/wbs/${front}`, { parent_id: back }))).toContain(
      'parent_id dependency_cycle',
    );
    await ok(admin.delete(`/api/v1/ppm/dependencies/${made.body.id}`), 204);
    // the other way round is taken now, and so the deleted one cannot come back
    const deleted = await p.lastBatch();
    await admin.delete(
      `/api/v1/ppm/dependencies/${(await admin.get(p.url(id, 'dependencies'))).body.items[1].id}`,
    );
    await admin.delete(
      `/api/v1/ppm/dependencies/${(await admin.get(p.url(id, 'dependencies'))).body.items[0].id}`,
    );
    await ok(p.depend(id, `task ${b}`, `task ${a}`), 201);
    await expectProblem(p.undo(deleted), 409, 'rollback_conflicts');
  });

  it('made at the same time as others closes no circle with them', async () => {
    const id = await p.initiative();
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.push(await p.task(id, `T${n}`));
    const answers = await Promise.all(
      ids.map((from, n) => p.depend(id, `task ${from}`, `task ${ids[(n + 1) % ids.length]}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 422]);
    await ok(admin.get(p.url(id, 'critical-path')));
  });

  it('decides what is critical', async () => {
    const id = await p.initiative();
    const gate = await p.item(id, 'Gate', { is_milestone: true });
    const dates = (from: number, to: number) => ({
      start_date: `2026-03-0${from}`,
      due_date: `2026-03-0${to}`,
    });
    const a = await p.task(id, 'A', dates(2, 5));
    const b = await p.task(id, 'B', dates(2, 6));
    const c = await p.task(id, 'C', dates(2, 4));
    for (const [pred, succ] of [
      [a, b],
      [a, c],
    ])
      await p.depend(id, `task ${pred}`, `task ${succ}`);
    for (const pred of [b, c]) await p.depend(id, `task ${pred}`, `wbs ${gate}`);
    const { body } = await viewer.get(p.url(id, 'critical-path'));
    expect(body).toMatchObject({
      initiative_id: id,
      start_date: '2026-03-02',
      end_date: '2026-03-09',
      duration: 7,
    });
    expect(body.critical_path).toEqual([
      { kind: 'task', id: a, title: 'A' },
      { kind: 'task', id: b, title: 'B' },
      { kind: 'wbs', id: gate, title: 'Gate' },
    ]);
    expect(body.items.find((found: { id: string }) => found.id === c)).toEqual({
      kind: 'task',
      id: c,
      title: 'C',
      wbs_id: null,
      duration: 2,
      earliest_start: '2026-03-05',
      earliest_end: '2026-03-07',
      latest_start: '2026-03-07',
      latest_end: '2026-03-09',
      slack: 2,
      critical: false,
    });
  });

  it('moves with a merge, as all of a plan, and is there again when its card is', async () => {
    const [survivor, gone] = [await p.initiative(), await p.initiative()];
    const w = await p.item(gone, 'W');
    const inner = await p.item(gone, 'Inner', { parent_id: w });
    const a = await p.task(gone, 'A', { wbs_id: inner, assignee_id: member.userId });
    await p.depend(gone, `wbs ${w}`, `task ${await p.task(gone, 'B')}`);
    await member.post(`/api/v1/ppm/tasks/${a}/comments`, { content: 'Said.' });
    const merged = await merge(admin, survivor, [gone]);
    expect(merged.body.moved, merged.text).toMatchObject({
      task: 2,
      'WBS item': 2,
      'task dependency': 1,
      'task comment': 1,
    });
    expect((await admin.get(p.url(survivor, 'critical-path'))).body.items).toHaveLength(4);
    await ok(admin.delete(`/api/v1/cards/${survivor}`));
    await admin.undo();
    expect((await admin.get(p.url(survivor, 'critical-path'))).body.items).toHaveLength(4);
    expect((await admin.get(`/api/v1/ppm/tasks/${a}/comments`)).body.total).toBe(1);
    // once more away, and back again
    for (const n of [0, 1]) {
      await admin.undo();
      expect((await admin.get(`/api/v1/cards/${survivor}`)).status).toBe([404, 200][n]);
    }
    // what others have built on stays
    const batch = await db('events')
      .where({ event_type: 'ppm_wbs.created' })
      .whereRaw(`data ->> 'id' = ?`, [w])
      .first('batch_id');
    const refused = await p.undo(batch.batch_id, { force: true });
    expect(refused.body.counts ?? refused.body.code, refused.text).toMatchObject({ left: 1 });
  });
});
