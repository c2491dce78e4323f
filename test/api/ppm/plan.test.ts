import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApp, type TestApp, type TestClient } from '../../support/harness.ts';
import { tellAll, toldTo } from '../../support/notifications.ts';
import { merge } from '../cards/merge.fixture.ts';

let t: TestApp;
let admin: TestClient;
let member: TestClient;
let viewer: TestClient;
beforeAll(async () => {
  t = await createTestApp();
  admin = await t.as('admin');
  member = await t.as('member');
  viewer = await t.as('viewer');
});
afterAll(() => t.close());

async function initiative(): Promise<string> {
  const made = await admin.post('/api/v1/cards', { type: 'Initiative', name: randomUUID() });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}
const url = (id: string, what: string) => `/api/v1/ppm/initiatives/${id}/${what}`;
async function add(id: string, what: string, body: object): Promise<string> {
  const made = await admin.post(url(id, what), body);
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}
const task = (id: string, title: string, more: object = {}) => add(id, 'tasks', { title, ...more });
const item = (id: string, title: string, more: object = {}) => add(id, 'wbs', { title, ...more });
/** The body of a dependency, ends as `task <id>` or `wbs <id>`. */
const between = (pred: string, succ: string) => {
  const [pred_kind, pred_id] = pred.split(' ');
  const [succ_kind, succ_id] = succ.split(' ');
  return { pred_kind, pred_id, succ_kind, succ_id };
};
const depend = (id: string, pred: string, succ: string) =>
  admin.post(url(id, 'dependencies'), between(pred, succ));
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
async function undo(batch: string, more: object = {}) {
  return await admin.post(`/api/v1/mutation-batches/${batch}/rollback`, { dry_run: false, ...more });
}
const now = async (): Promise<string> => (await admin.get('/api/v1/changes?after=now')).body.next;
const kinds = async (position: string, client = admin) =>
  (await client.get(`/api/v1/changes?after=${position}`)).body.items.map(
    ({ event_type }: { event_type: string }) => event_type,
  );
const todos = async (subject: string) =>
  await t.services
    .db('todos')
    .where({ subject_id: subject })
    .orderBy('created_at')
    .select('assigned_to', 'status', 'description');

describe('a task', () => {
  it('is given to somebody, who has a to-do as long as it is to be done', async () => {
    const id = await initiative();
    const position = await now();
    const made = await admin.post(url(id, 'tasks'), {
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
    const undone = await undo(await lastBatch());
    expect(undone.status, undone.text).toBe(200);
    expect((await todos(made.body.id)).map(({ status }) => status)).toEqual(['done', 'open']);
    const kept = (await admin.get(`/api/v1/accounts/${viewer.userId}/personal-data`)).body;
    expect(kept.tasks).toMatchObject([{ title: 'Move all data' }]);
  });

  it('is listed by filter and order, and refused where it does not fit', async () => {
    const id = await initiative();
    const other = await initiative();
    const top = await item(id, 'Top');
    const foreign = await item(other, 'Elsewhere');
    const first = await task(id, 'B', { priority: 'low', wbs_id: top });
    const second = await task(id, 'A', { priority: 'critical', status: 'blocked', sort_order: 2 });
    const listed = async (query: string) =>
      (await viewer.get(`${url(id, 'tasks')}?${query}`)).body.items.map((one: { id: string }) => one.id);
    expect(await listed('')).toEqual([first, second]);
    expect(await listed('sort_by=priority')).toEqual([second, first]);
    expect(await listed('status=blocked')).toEqual([second]);
    expect(await listed(`wbs_id=${top}`)).toEqual([first]);
    expect(await listed(`assignee_id=${member.userId}`)).toEqual([]);
    expect(await listed('search=b')).toContain(first);
    const page = await viewer.get(`${url(id, 'tasks')}?cursor=&page_size=1&fields=id`);
    expect(page.body.items).toEqual([{ id: first }]);
    const refused = (body: object) => refusal(admin.post(url(id, 'tasks'), { title: 'T', ...body }));
    expect(await refused({ wbs_id: foreign })).toContain('wbs_id unknown_value');
    expect(await refused({ assignee_id: randomUUID() })).toContain('assignee_id unknown_user');
    expect(await refused({ start_date: '2026-03-02', due_date: '2026-03-01' })).toContain(
      'due_date before_start',
    );
    expect(await refused({ due_date: '2500-01-01' })).toContain('due_date out_of_range');
    expect(await refused({ title: ' ' })).toContain('title required');
    expect(await refusal(admin.patch(`/api/v1/ppm/tasks/${first}`, { status: null }))).toContain(
      'validation_failed',
    );
    for (const act of [
      admin.patch(`/api/v1/ppm/tasks/${randomUUID()}`, {}),
      admin.get(`/api/v1/ppm/tasks/${randomUUID()}/comments`),
      admin.post(`/api/v1/ppm/tasks/${randomUUID()}/comments`, { content: 'C' }),
      admin.delete(`/api/v1/ppm/dependencies/${randomUUID()}`),
      admin.get(url(randomUUID(), 'critical-path')),
      admin.get(url(randomUUID(), 'completion')),
    ]) {
      expect(await refusal(act)).toEqual([404, 'not_found']);
    }
  });

  it('has comments, which are their authors’ own', async () => {
    const id = await initiative();
    const on = `/api/v1/ppm/tasks/${await task(id, 'T')}/comments`;
    const made = await member.post(on, { content: 'Monday.' });
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject({ user_id: member.userId, content: 'Monday.' });
    const one = `/api/v1/ppm/task-comments/${made.body.id}`;
    expect((await member.patch(one, { content: 'Tuesday.' })).body.content).toBe('Tuesday.');
    expect(await refusal(admin.patch(one, { content: 'Never.' }))).toEqual([403, 'forbidden']);
    expect(await refusal(admin.delete(one))).toEqual([403, 'forbidden']);
    expect(await refusal(member.post(on, { content: ' ' }))).toContain('content required');
    expect((await viewer.get(on)).body.items).toMatchObject([{ content: 'Tuesday.' }]);
    expect((await viewer.get(url(id, 'tasks'))).body.items[0].comment_count).toBe(1);
    expect((await member.delete(one)).status).toBe(204);
    expect((await viewer.get(on)).body.total).toBe(0);
  });

  it('and all of a plan shows with its initiative alone, and to nobody who may not see portfolios', async () => {
    const id = await initiative();
    const made = await task(id, 'T');
    const position = await now();
    await admin.patch(`/api/v1/ppm/tasks/${made}`, { status: 'done' });
    const hide = async (is_hidden: boolean) => {
      await t.services.db('card_types').where({ key: 'Initiative' }).update({ is_hidden });
      await t.services.db.raw(`select raise_topics(array['metamodel'])`);
    };
    await hide(true);
    for (const act of [
      admin.get(url(id, 'tasks')),
      admin.get(url(id, 'critical-path')),
      admin.patch(`/api/v1/ppm/tasks/${made}`, { status: 'todo' }),
      admin.get(`/api/v1/ppm/tasks/${made}/comments`),
    ]) {
      expect(await refusal(act)).toEqual([404, 'not_found']);
    }
    await hide(false);
    await t.services
      .db('roles')
      .insert({ key: 'reader', label: 'R', permissions: '{"inventory.view":true}' });
    const reader = await t.as('reader');
    expect(await kinds(position, reader)).toEqual([]);
    expect(await kinds(position, viewer)).toEqual(['ppm_task.updated']);
    expect((await reader.get(url(id, 'tasks'))).body.permission).toBe('ppm.view');
    await admin.patch('/api/v1/settings/ppm-enabled', { enabled: false });
    expect(await refusal(admin.get(url(id, 'tasks')))).toEqual([403, 'module_disabled']);
    await admin.patch('/api/v1/settings/ppm-enabled', { enabled: true });
  });
});

describe('the work breakdown', () => {
  it('tells how far each item is, and the initiative', async () => {
    const id = await initiative();
    const build = await item(id, 'Build');
    const test = await item(id, 'Test', { parent_id: build, completion: 70 });
    await item(id, 'Launch', { completion: 25, is_milestone: true });
    const long = { start_date: '2026-03-01', due_date: '2026-03-10', status: 'done' };
    await task(id, 'long', { ...long, wbs_id: build });
    await task(id, 'short', { wbs_id: build });
    await task(id, 'tests', { wbs_id: test, start_date: '2026-03-01', due_date: '2026-03-11' });
    await task(id, 'apart', { status: 'done' });
    const items = (await viewer.get(`${url(id, 'wbs')}?sort_by=title`)).body.items;
    expect(items).toMatchObject([
      { title: 'Build', progress: 45, task_count: 3, completion: 0 },
      { title: 'Launch', progress: 25, task_count: 0, completion: 25 },
      { title: 'Test', progress: 0, task_count: 1, completion: 70 },
    ]);
    expect((await viewer.get(url(id, 'completion'))).body).toEqual({ completion: 35 });
    expect(
      (await viewer.get(`${url(id, 'wbs')}?fields=title,progress&sort_by=title&page_size=1`)).body.items,
    ).toEqual([{ title: 'Build', progress: 45 }]);
  });

  it('is a tree of ten levels, whose items take those below with them and leave their tasks', async () => {
    const id = await initiative();
    const chain: string[] = [];
    for (let level = 0; level < 10; level += 1) {
      chain.push(await item(id, `L${level}`, { parent_id: chain.at(-1) ?? null }));
    }
    expect(await refusal(admin.post(url(id, 'wbs'), { title: 'Deep', parent_id: chain[9] }))).toContain(
      'parent_id too_deep',
    );
    const one = (n: number) => `/api/v1/ppm/wbs/${chain[n]}`;
    expect(await refusal(admin.patch(one(2), { parent_id: chain[5] }))).toContain('parent_id parent_cycle');
    expect(await refusal(admin.patch(one(2), { parent_id: randomUUID() }))).toContain(
      'parent_id unknown_value',
    );
    expect(
      await refusal(admin.patch(one(2), { start_date: '2026-03-02', end_date: '2026-03-01' })),
    ).toContain('end_date before_start');
    expect((await admin.patch(one(9), { parent_id: chain[0] })).body.parent_id).toBe(chain[0]);
    const held = await task(id, 'Held', { wbs_id: chain[5] });
    const free = await task(id, 'Free');
    expect((await depend(id, `wbs ${chain[4]}`, `task ${free}`)).status).toBe(201);
    expect((await admin.delete(one(3))).status).toBe(204);
    const left = (await admin.get(url(id, 'wbs'))).body;
    expect(left.total).toBe(4);
    expect(
      (await admin.get(url(id, 'tasks'))).body.items.find((found: { id: string }) => found.id === held)
        .wbs_id,
    ).toBeNull();
    expect((await admin.get(url(id, 'dependencies'))).body.total).toBe(0);
    const undone = await undo(await lastBatch());
    expect(undone.status, undone.text).toBe(200);
    expect((await admin.get(url(id, 'wbs'))).body.total).toBe(10);
    expect((await admin.get(url(id, 'dependencies'))).body.total).toBe(1);
    expect(
      (await admin.get(url(id, 'tasks'))).body.items.find((found: { id: string }) => found.id === held)
        .wbs_id,
    ).toBe(chain[5]);
  });
});

describe('a dependency', () => {
  it('joins what there is in one initiative, once, and lets nothing wait for itself', async () => {
    const id = await initiative();
    const other = await initiative();
    const [p, q] = [await item(id, 'P'), await item(id, 'Q')];
    const [a, b, c] = [
      await task(id, 'A', { wbs_id: p }),
      await task(id, 'B', { wbs_id: q }),
      await task(id, 'C'),
    ];
    const made = await depend(id, `task ${a}`, `task ${b}`);
    expect(made.body).toMatchObject({
      initiative_id: id,
      pred_kind: 'task',
      pred_id: a,
      succ_id: b,
      kind: 'FS',
    });
    expect(await refusal(depend(id, `task ${a}`, `task ${b}`))).toEqual([409, 'duplicate_dependency']);
    expect(await refusal(depend(id, `task ${a}`, `task ${a}`))).toContain('succ_id same');
    expect(await refusal(depend(id, `task ${b}`, `task ${a}`))).toContain('succ_id dependency_cycle');
    expect(await refusal(depend(id, `wbs ${q}`, `wbs ${p}`))).toContain('succ_id dependency_cycle');
    expect(await refusal(depend(id, `wbs ${p}`, `task ${a}`))).toContain('succ_id dependency_cycle');
    expect(await refusal(depend(id, `task ${a}`, `wbs ${randomUUID()}`))).toContain('succ_id unknown_value');
    expect(await refusal(depend(other, `task ${a}`, `task ${b}`))).toContain('pred_id unknown_value');
    expect(
      await refusal(
        admin.post(url(id, 'dependencies'), { ...between(`task ${a}`, `task ${c}`), kind: 'SS' }),
      ),
    ).toContain('validation_failed');
    expect((await depend(id, `wbs ${p}`, `task ${c}`)).status).toBe(201);
    // c after p, and now in it; and p, which c waits for, in what waits for c
    expect(await refusal(admin.patch(`/api/v1/ppm/tasks/${c}`, { wbs_id: p }))).toContain(
      'wbs_id dependency_cycle',
    );
    expect((await depend(id, `task ${c}`, `wbs ${q}`)).status).toBe(201);
    expect(await refusal(admin.patch(`/api/v1/ppm/wbs/${p}`, { parent_id: q }))).toContain(
      'parent_id dependency_cycle',
    );
    expect((await admin.delete(`/api/v1/ppm/dependencies/${made.body.id}`)).status).toBe(204);
    // the other way round is taken now, and so the deleted one cannot come back
    const deleted = await lastBatch();
    await admin.delete(
      `/api/v1/ppm/dependencies/${(await admin.get(url(id, 'dependencies'))).body.items[1].id}`,
    );
    await admin.delete(
      `/api/v1/ppm/dependencies/${(await admin.get(url(id, 'dependencies'))).body.items[0].id}`,
    );
    expect((await depend(id, `task ${b}`, `task ${a}`)).status).toBe(201);
    const undone = await undo(deleted);
    expect([undone.status, undone.body.code]).toEqual([409, 'rollback_conflicts']);
  });

  it('made at the same time as others closes no circle with them', async () => {
    const id = await initiative();
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.push(await task(id, `T${n}`));
    const answers = await Promise.all(
      ids.map((from, n) => depend(id, `task ${from}`, `task ${ids[(n + 1) % ids.length]}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 422]);
    expect((await admin.get(url(id, 'critical-path'))).status).toBe(200);
  });

  it('decides what is critical', async () => {
    const id = await initiative();
    const gate = await item(id, 'Gate', { is_milestone: true });
    const dates = (from: number, to: number) => ({
      start_date: `2026-03-0${from}`,
      due_date: `2026-03-0${to}`,
    });
    const a = await task(id, 'A', dates(2, 5));
    const b = await task(id, 'B', dates(2, 6));
    const c = await task(id, 'C', dates(2, 4));
    for (const [pred, succ] of [
      [a, b],
      [a, c],
    ])
      await depend(id, `task ${pred}`, `task ${succ}`);
    for (const pred of [b, c]) await depend(id, `task ${pred}`, `wbs ${gate}`);
    const { body } = await viewer.get(url(id, 'critical-path'));
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
    const [survivor, gone] = [await initiative(), await initiative()];
    const w = await item(gone, 'W');
    const inner = await item(gone, 'Inner', { parent_id: w });
    const a = await task(gone, 'A', { wbs_id: inner, assignee_id: member.userId });
    const b = await task(gone, 'B');
    await depend(gone, `wbs ${w}`, `task ${b}`);
    await member.post(`/api/v1/ppm/tasks/${a}/comments`, { content: 'Said.' });
    const merged = await merge(admin, survivor, [gone]);
    expect(merged.body.moved, merged.text).toMatchObject({
      task: 2,
      'WBS item': 2,
      'task dependency': 1,
      'task comment': 1,
    });
    expect((await admin.get(url(survivor, 'critical-path'))).body.items).toHaveLength(4);
    expect((await admin.delete(`/api/v1/cards/${survivor}`)).status).toBe(200);
    const undone = await undo(await lastBatch());
    expect(undone.status, undone.text).toBe(200);
    expect((await admin.get(url(survivor, 'critical-path'))).body.items).toHaveLength(4);
    expect((await admin.get(`/api/v1/ppm/tasks/${a}/comments`)).body.total).toBe(1);
    // what others have built on stays
    const batch = await t.services
      .db('events')
      .where({ event_type: 'ppm_wbs.created' })
      .whereRaw(`data ->> 'id' = ?`, [w])
      .first('batch_id');
    const refused = await undo(batch.batch_id, { force: true });
    expect(refused.body.counts ?? refused.body.code, refused.text).toMatchObject({ left: 1 });
  });
});
