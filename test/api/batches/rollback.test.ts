import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { tablesOf } from '../../support/tables.ts';

const url = '/api/v1/mutation-batches';

let n = 0;

const { db, sql, admin } = await openApp(['admin']);

type Send = (
  method: 'post' | 'patch' | 'delete',
  path: string,
  body?: unknown,
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of many shapes
) => Promise<any>;

/** A closed batch of the writes that `act` sends. @returns its id. */
async function batchOf(act: (send: Send) => Promise<void>): Promise<string> {
  const { body } = await admin.post(url, { tool_name: 'Test' });
  await act(async (method, path, content) => {
    const answer = await admin[method](`/api/v1${path}`, content, { 'x-mutation-batch': body.id });
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
    return answer.body;
  });
  await ok(admin.post(`${url}/${body.id}/commit`, {}));
  return body.id;
}
const rollBack = (id: string, body: Record<string, unknown> = { dry_run: false }) =>
  admin.post(`${url}/${id}/rollback`, body);
const name = () => {
  n += 1;
  return `Thing ${n}`;
};
const make = async (values: Record<string, unknown> = {}) =>
  (await admin.post('/api/v1/cards', { type: 'Application', name: name(), ...values })).body;

it('brings back cards, relations and all that was attached, and can be rolled back itself', async () => {
  const parent = await make({ attributes: { costTotalAnnual: 12 } });
  const child = await make({ parent_id: parent.id });
  const server = await make({ type: 'ITComponent' });
  const path = { type: 'relAppToITC', source_id: parent.id, target_id: server.id };
  await admin.create('/api/v1/relations', { ...path, description: 'runs on' });
  const held = { user_id: admin.userId, role: 'responsible' };
  await admin.create(`/api/v1/cards/${parent.id}/stakeholders`, held);
  await admin.create(`/api/v1/cards/${parent.id}/comments`, { content: 'Old' });
  const archived = await make();
  await ok(admin.post(`/api/v1/cards/${archived.id}/archive`, {}));
  const before = await tablesOf(db);

  const id = await batchOf(async (send) => {
    const made = await send('post', '/cards', { type: 'Application', name: name(), parent_id: child.id });
    await send('post', '/relations', { ...path, source_id: made.id });
    await send('post', `/cards/${made.id}/comments`, { content: 'New' });
    await send('post', `/cards/${child.id}/todos`, { description: 'Do it' });
    await send('patch', `/cards/${child.id}`, { name: name(), lifecycle: { active: '2026-01-01' } });
    await send('post', `/cards/${child.id}/approval-status?action=approve`);
    await send('delete', `/cards/${parent.id}`, { child_strategy: 'disconnect' });
    await send('delete', `/cards/${archived.id}`, {});
    await send('post', `/cards/${server.id}/archive`, {});
  });
  const after = await tablesOf(db);
  const tried = await rollBack(id, {});
  expect(tried.body, tried.text).toMatchObject({ dry_run: true, conflicts: [], unsupported_events: [] });
  expect(await tablesOf(db)).toEqual(after);
  const done = await ok(rollBack(id));
  expect(done.counts).toEqual(tried.body.counts);
  expect(done.counts).toEqual({ undone: done.event_count, left: 0 });
  expect(await tablesOf(db)).toEqual(before);

  expect((await rollBack(id)).body.code).toBe('wrong_state');
  await ok(rollBack(done.batch.rolled_back_by));
  expect(await tablesOf(db)).toEqual(after);
  expect((await admin.get(`${url}/${id}`)).body.rolled_back_by).toBeNull();
  await ok(rollBack(id));
  expect(await tablesOf(db)).toEqual(before);
});

it('is refused for later writes, unless force leaves them', async () => {
  const card = await make({ alias: 'old', description: 'old' });
  let made = { id: '' };
  const id = await batchOf(async (send) => {
    await send('patch', `/cards/${card.id}`, { alias: 'new', description: 'new' });
    made = await send('post', '/cards', { type: 'Application', name: name() });
  });
  await admin.patch(`/api/v1/cards/${card.id}`, { alias: 'later' });
  await admin.post(`/api/v1/cards/${made.id}/comments`, { content: 'Later' });
  const refused = await rollBack(id);
  await expectProblem(refused, 409, 'rollback_conflicts');
  expect(pluck(refused.body.conflicts, 'id').sort()).toEqual([card.id, made.id].sort());
  expect((await rollBack(id, {})).body.conflicts).toHaveLength(2);
  const forced = await rollBack(id, { dry_run: false, force: true });
  expect(forced.body.counts).toEqual({ undone: 1, left: 1 });
  expect(pluck(forced.body.left, 'fields')).toEqual([undefined, ['alias']]);
  const { body } = await admin.get(`/api/v1/cards/${card.id}`);
  expect(body).toMatchObject({ alias: 'later', description: 'old' });
  await ok(admin.get(`/api/v1/cards/${made.id}`));
});

it('leaves the parents of created cards that stay, and lists them as conflicts', async () => {
  const made: Record<string, { id: string }> = {};
  const add = async (send: Send, key: string, parent?: string) => {
    const parent_id = parent === undefined ? null : made[parent]!.id;
    made[key] = await send('post', '/cards', { type: 'Application', name: name(), parent_id });
  };
  const batch = await batchOf(async (send) => {
    for (const [key, parent] of [['top'], ['middle', 'top'], ['low', 'middle'], ['side', 'top'], ['away']])
      await add(send, key!, parent);
    await add(send, 'moved', 'away');
    await send('patch', `/cards/${made.moved!.id}`, { parent_id: made.side!.id });
    await add(send, 'alone');
    await add(send, 'pair', 'alone');
  });
  await admin.patch(`/api/v1/cards/${made.low!.id}`, { alias: 'later' });
  await admin.create(`/api/v1/cards/${made.moved!.id}/comments`, { content: 'Later' });
  const staying = ['top', 'middle', 'low', 'side', 'away', 'moved'].map((key) => made[key]!.id).sort();
  for (const force of [false, true])
    expect(pluck((await ok(rollBack(batch, { force }))).conflicts, 'id').sort()).toEqual(staying);
  const refused = await rollBack(batch);
  expect([refused.status, refused.body.conflict_count]).toEqual([409, staying.length]);
  const forced = await ok(rollBack(batch, { dry_run: false, force: true }));
  expect(pluck(forced.left, 'id').sort()).toEqual(staying);
  expect(forced.counts).toEqual({ undone: 3, left: staying.length });
  const rows = await sql.rows`
    select id, parent_id from cards where id = any(${Object.values(made).map(({ id }) => id)})`;
  expect(pluck(rows, 'id').sort()).toEqual(staying);
  expect(rows.find(({ id }: { id: string }) => id === made.moved!.id).parent_id).toBe(made.away!.id);
});

it('is refused by name for what cannot be undone, before anything is', async () => {
  const card = await make({ alias: 'old' });
  const id = await batchOf(async (send) => {
    await send('patch', `/cards/${card.id}`, { alias: 'new' });
    await send('post', '/tokens', { name: 'Test' });
  });
  for (const force of [false, true]) {
    const refused = await rollBack(id, { dry_run: false, force });
    await expectProblem(refused, 409, 'rollback_unsupported');
    expect(refused.body.unsupported_events).toMatchObject([{ event_type: 'api_token.created', count: 1 }]);
  }
  expect((await rollBack(id, {})).body.unsupported_events).toHaveLength(1);
  expect((await admin.get(`/api/v1/cards/${card.id}`)).body.alias).toBe('new');
});

it('refuses a large batch at once too, instead of starting a job', async () => {
  const id = await batchOf((send) => send('post', '/tokens', { name: 'Large' }));
  await db.raw(
    `insert into events (position, event_type, batch_id, data)
       select nextval('events_position_seq'), 'card.updated', ?, '{}' from generate_series(1, 2001)`,
    id,
  );
  const refused = await rollBack(id);
  await expectProblem(refused, 409, 'rollback_unsupported');
  expect(refused.body.unsupported_events).toMatchObject([{ event_type: 'api_token.created', count: 1 }]);
  expect((await rollBack(id, {})).status).toBe(202);
});

it('needs a closed batch that is there', async () => {
  const { body } = await admin.post(url, { tool_name: 'Open' });
  expect((await rollBack(body.id)).body.code).toBe('wrong_state');
  await expectProblem(rollBack('00000000-0000-4000-8000-000000000000'), 404);
  await expectProblem(rollBack(body.id, { dry_run: 'no' }), 422);
});

it('brings back the metamodel with what was stored under it', async () => {
  const before = await tablesOf(db);
  const id = await batchOf(async (send) => {
    await send('post', '/metamodel/types', { key: 'Gadget', label: 'Gadget' });
    await send('post', '/cards', { type: 'Gadget', name: name() });
    await send('post', '/metamodel/principles', { title: 'Reuse' });
  });
  const done = await ok(rollBack(id));
  expect(await tablesOf(db)).toEqual(before);
  await ok(rollBack(done.batch.rolled_back_by));
  await ok(admin.get('/api/v1/metamodel/types/Gadget'));
});
