import { ok, openApp, pluck } from '../../support/harness.ts';
import { card, writesOf } from '../../support/writes.ts';
import { chain } from '../bpm/models.ts';
import { merge, undo } from './merge.fixture.ts';

const { t, db, admin } = await openApp(['admin']);
const { refused } = writesOf(t);
const pair = async (type: string) => [await admin.card({ type }), await admin.card({ type })] as const;
const join = async (p: { id: string }, q: { id: string }): Promise<string> =>
  (await ok(merge(admin, p.id, [q.id]))).merge_id;

describe('objects attached after a merge', () => {
  it('move with the plan to which they belong, and may not connect both plans', async () => {
    const [p, q] = await pair('Initiative');
    const plan = (id: string, rest: string) => `/api/v1/ppm/initiatives/${id}/${rest}`;
    const item = await admin.create(plan(q.id, 'wbs'), { title: 'Item' });
    const first = await admin.create(plan(q.id, 'tasks'), { title: 'First' });
    const own = await admin.create(plan(p.id, 'tasks'), { title: 'Own' });
    const merge_id = await join(p, q);
    const task = await admin.create(plan(p.id, 'tasks'), { title: 'New', wbs_id: item.id });
    const below = await admin.create(plan(p.id, 'wbs'), { title: 'Below', parent_id: item.id });
    const link = await admin.create(plan(p.id, 'dependencies'), {
      pred_kind: 'task',
      pred_id: own.id,
      succ_kind: 'task',
      succ_id: first.id,
    });
    const refusal = await refused(() => undo(admin, merge_id, { force: true }));
    expect(pluck(refusal.body.conflicts, 'id', 'code')).toEqual([[link.id, 'split']]);
    await db('ppm_dependencies').where({ id: link.id }).delete();
    expect((await ok(undo(admin, merge_id))).conflicts).toEqual([]);
    const cardOf = async (table: string, id: string) => (await db(table).where({ id }).first()).card_id;
    expect(await cardOf('ppm_tasks', task.id)).toBe(q.id);
    expect(await cardOf('ppm_wbs', below.id)).toBe(q.id);
    expect(await cardOf('ppm_tasks', own.id)).toBe(p.id);
  });

  it('move with the comment that they reply to', async () => {
    const [p, q] = await pair('Application');
    const root = await admin.create(card(q.id, '/comments'), { content: 'Root' });
    const merge_id = await join(p, q);
    const reply = await admin.create(card(p.id, '/comments'), { content: 'Reply', parent_id: root.id });
    await ok(undo(admin, merge_id));
    expect((await db('comments').where({ id: reply.id }).first()).card_id).toBe(q.id);
  });
});

it('values and series that follow later writes are no conflict where lines were added to a sum', async () => {
  const [p, q] = await pair('Initiative');
  const spend = (id: string, actual: number) =>
    admin.create(`/api/v1/ppm/initiatives/${id}/costs`, { description: 'Fee', category: 'opex', actual });
  await spend(p.id, 1);
  await spend(q.id, 2);
  const merge_id = await join(p, q);
  await spend(p.id, 4);
  expect((await ok(undo(admin, merge_id))).conflicts).toEqual([]);
  const sums = await Promise.all([p, q].map(async ({ id }) => (await ok(admin.get(card(id)))).attributes));
  expect(pluck(sums, 'costActual')).toEqual([5, 2]);
});

it('values and series that follow later writes move with the first to-do of their series', async () => {
  const [p, q] = await pair('Application');
  const first = await admin.create(card(q.id, '/todos'), {
    description: 'Again',
    due_date: '2030-01-01',
    recurrence_unit: 'weeks',
  });
  const merge_id = await join(p, q);
  await ok(admin.patch(`/api/v1/todos/${first.id}`, { status: 'done' }));
  expect((await ok(undo(admin, merge_id))).conflicts).toEqual([]);
  expect(await db('todos').where({ series_id: first.id }).pluck('card_id')).toEqual([q.id, q.id]);
});

describe('published flows', () => {
  const flow = (id: string) => `/api/v1/bpm/processes/${id}/flow`;
  const drafted = async (id: string) =>
    (await admin.create(`${flow(id)}/drafts`, { bpmn_xml: chain({ a: 'A' }) })).id as string;
  async function publish(id: string, version: string): Promise<void> {
    await ok(admin.post(`${flow(id)}/versions/${version}/submit`));
    await ok(admin.post(`${flow(id)}/versions/${version}/approve`));
  }
  const statusOf = async (id: string) =>
    (await db('process_flow_versions').where({ id }).first('status', 'process_id')) as object;

  it('of merged processes are archived until the undo', async () => {
    const [p, q] = await pair('BusinessProcess');
    const [own, other] = [await drafted(p.id), await drafted(q.id)];
    await publish(p.id, own);
    await publish(q.id, other);
    const merge_id = await join(p, q);
    expect(await statusOf(other)).toEqual({ status: 'archived', process_id: p.id });
    expect(await ok(admin.get(`${flow(p.id)}/published`))).toMatchObject({ id: own });
    await ok(undo(admin, merge_id));
    expect(await statusOf(other)).toEqual({ status: 'published', process_id: q.id });
  });

  it('stay where they were approved after the merge', async () => {
    const [p, q] = await pair('BusinessProcess');
    const draft = await drafted(q.id);
    const merge_id = await join(p, q);
    await publish(p.id, draft);
    const refusal = await refused(() => undo(admin, merge_id));
    expect(pluck(refusal.body.conflicts, 'id', 'code')).toEqual([[draft, 'changed']]);
    await ok(undo(admin, merge_id, { force: true }));
    expect(await statusOf(draft)).toEqual({ status: 'published', process_id: p.id });
  });
});

it('lifecycles are merged phase by phase', async () => {
  const p = await admin.card({ lifecycle: { plan: '2020-01-01', active: '2021-01-01' } });
  await join(p, await admin.card({ lifecycle: { active: '2019-01-01', endOfLife: '2030-01-01' } }));
  const { lifecycle } = await ok(admin.get(card(p.id)));
  expect(lifecycle).toMatchObject({ plan: '2020-01-01', active: '2021-01-01', endOfLife: '2030-01-01' });
});

const types = '/api/v1/metamodel/types';
const select = (key: string, type: string, options: string[]) => ({
  key,
  label: key,
  type,
  options: options.map((option) => ({ key: option, label: option.toUpperCase() })),
});

const text = (key: string, type = 'text') => ({ key, label: key, type });
const section = (fields: unknown[]) => [{ section: 'Facts', fields }];
const before = {
  subtypes: ['s1', 's2'].map((key) => ({ key, label: key })),
  fields_schema: section([
    text('gone'),
    text('size'),
    text('word'),
    select('one', 'single_select', ['a', 'b']),
    select('many', 'multiple_select', ['a', 'b']),
    text('stays'),
  ]),
};

const after = {
  subtypes: [{ key: 's1', label: 's1' }],
  fields_schema: section([
    text('size', 'number'),
    text('word', 'number'),
    select('one', 'single_select', ['a']),
    select('many', 'multiple_select', ['a']),
    text('stays'),
  ]),
};

const values = {
  subtype: 's2',
  attributes: { gone: 'x', size: '12', word: 'many', one: 'b', many: ['a', 'b'], stays: 'same' },
};

const expected = { subtype: null, attributes: { size: 12, many: ['a'], stays: 'same' } };
async function makeType(key: string) {
  await ok(admin.post(types, { key, label: key, ...before }), 201);
  return () => ok(admin.patch(`${types}/${key}?force=true`, after));
}

const read = async (id: string) => (await ok(admin.get(card(id)))) as Record<string, unknown>;
it.each([
  ['that the survivor took', {}],
  ['that the survivor had too', values],
])('by the undo of a merge, for values %s', async (name, own) => {
  const type = name.endsWith('took') ? 'Taken' : 'Owned';
  const change = await makeType(type);
  const survivor = await admin.card({ type, name: 'Survivor', ...own });
  const merged = await admin.card({ type, name: 'Merged', ...values });
  const { merge_id } = await ok(merge(admin, survivor.id, [merged.id]));
  await change();
  expect((await ok(undo(admin, merge_id))).conflicts).toEqual([]);
  expect(await read(merged.id)).toMatchObject(expected);
  expect((await read(merged.id)).attributes).toEqual(expected.attributes);
  expect((await read(survivor.id)).attributes).toEqual(type === 'Taken' ? {} : expected.attributes);
});

it('by the rollback of a deletion', async () => {
  const change = await makeType('Deleted');
  const deleted = await admin.card({ type: 'Deleted', name: 'Deleted', ...values });
  await ok(admin.delete(card(deleted.id)));
  const { batch_id } = await db('events')
    .where({ event_type: 'card.deleted' })
    .orderBy('position', 'desc')
    .first('batch_id');
  await change();
  await ok(admin.post(`/api/v1/mutation-batches/${batch_id}/rollback`, { dry_run: false }));
  const { subtype, attributes } = await read(deleted.id);
  expect({ subtype, attributes }).toEqual(expected);
});
