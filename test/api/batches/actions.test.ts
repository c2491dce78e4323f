import { randomUUID } from 'node:crypto';
import { expectProblem, ok, openApp, pluck, type TestClient } from '../../support/harness.ts';

const url = '/api/v1/mutation-batches';
const { db, sql, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);

const card = (name = randomUUID()) => ({ type: 'Application', name });
const create = (client: TestClient, headers: Record<string, string> = {}) =>
  client.post('/api/v1/cards', card(), headers);
const action = (id: string = randomUUID()) => ({ 'x-action-id': id });
const rollBack = (client: TestClient, id: string) => client.post(`${url}/${id}/rollback`, { dry_run: false });

describe('the response of a write', () => {
  it('names its batch, with which its writer takes it back', async () => {
    const made = await create(member);
    const batch = made.headers['x-mutation-batch'] as string;
    expect((await admin.get(`${url}/${batch}/events`)).body.total).toBe(1);
    await ok(rollBack(member, batch));
    await expectProblem(member.get(`/api/v1/cards/${made.body.id}`), 404);
  });

  it('is that of the first request if the client sends it again', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const body = card();
    const [first, again] = [
      await member.post('/api/v1/cards', body, key),
      await member.post('/api/v1/cards', body, key),
    ];
    expect(again.headers['x-mutation-batch']).toBe(first.headers['x-mutation-batch']);
  });

  it('names none where nothing was written', async () => {
    const { body } = await create(member);
    const unchanged = await member.patch(`/api/v1/cards/${body.id}`, { name: body.name });
    const read = await member.get(`/api/v1/cards/${body.id}`);
    const tried = await member.patch('/api/v1/cards/bulk', {
      card_ids: [body.id],
      updates: { alias: 'A' },
      dry_run: true,
    });
    for (const { headers } of [unchanged, read, tried])
      expect(headers).not.toHaveProperty('x-mutation-batch');
  });

  it('names that of a rollback, which can be rolled back', async () => {
    const path = `/api/v1/cards/${(await create(member)).body.id}`;
    const changed = await member.patch(path, { alias: 'A' });
    const undone = await rollBack(member, changed.headers['x-mutation-batch'] as string);
    expect((await member.get(path)).body.alias).toBeNull();
    await ok(rollBack(member, undone.headers['x-mutation-batch'] as string));
    expect((await member.get(path)).body.alias).toBe('A');
  });
});

describe('the rollback of an own creation', () => {
  const undone = async (client: TestClient, made: { headers: Record<string, unknown> }) =>
    (await rollBack(client, made.headers['x-mutation-batch'] as string)).headers[
      'x-mutation-batch'
    ] as string;

  it('is rolled back by its user without the right to delete cards', async () => {
    const made = await create(member);
    const batch = await undone(member, made);
    await ok(rollBack(member, batch));
    expect((await member.get(`/api/v1/cards/${made.body.id}`)).body.name).toBe(made.body.name);
  });

  it('is not if another user has made the card, or it was approved or archived', async () => {
    const others = await create(admin);
    const deleted = await admin.delete(`/api/v1/cards/${others.body.id}`);
    await expectProblem(rollBack(member, deleted.headers['x-mutation-batch'] as string), 403);
    const made = await create(member);
    await db('cards').where({ id: made.body.id }).update({ approval_status: 'APPROVED' });
    const batch = await undone(member, made);
    await expectProblem(rollBack(member, batch), 403, 'forbidden');
  });
});

describe('an action of the client', () => {
  it('is one batch of all its requests, also concurrent ones', async () => {
    const headers = action();
    const id = headers['x-action-id'];
    const made = await Promise.all(Array.from({ length: 6 }, () => create(member, headers)));
    for (const { status, headers: sent } of made)
      expect([status, sent['x-mutation-batch']]).toEqual([201, id]);
    await member.patch(`/api/v1/cards/${made[0]!.body.id}`, { alias: 'A' }, headers);
    const { batch, items } = (await admin.get(`${url}/${id}/events`)).body;
    expect(pluck(items, 'event_type')).toEqual([...Array(6).fill('card.created'), 'card.updated']);
    expect(batch).toMatchObject({ row_count: 7, actor_user_id: member.userId });
    await ok(rollBack(member, id));
    for (const { body } of made) await expectProblem(member.get(`/api/v1/cards/${body.id}`), 404);
    await expectProblem(create(member, headers), 409, 'wrong_state');
  });

  it('takes no writes of others, of later, or into batches of other kinds', async () => {
    const headers = action();
    await create(member, headers);
    await expectProblem(create(admin, headers), 409, 'wrong_state');
    await sql.run`update mutation_batches set created_at = now() - interval '16 minutes'
      where id = ${headers['x-action-id']}`;
    await expectProblem(create(member, headers), 409, 'wrong_state');
    const single = (await create(member)).headers['x-mutation-batch'] as string;
    await expectProblem(create(member, action(single)), 409, 'wrong_state');
    const opened = (await member.create(url, { tool_name: 'Test' })) as { id: string };
    await expectProblem(create(member, action(opened.id)), 409, 'wrong_state');
    await expectProblem(create(member, { ...action(), 'x-mutation-batch': opened.id }), 422);
    await expectProblem(create(member, action('nonsense')), 422);
    await expectProblem(admin.post('/api/v1/exports', {}, action()), 422);
    expect((await db.raw('select 1 from jobs')).rows).toEqual([]);
  });

  it('belongs to the request that an Idempotency-Key names', async () => {
    const body = card();
    const key = { 'idempotency-key': randomUUID() };
    await member.create('/api/v1/cards', body, { ...key, ...action() });
    await expectProblem(
      member.post('/api/v1/cards', body, { ...key, ...action() }),
      409,
      'idempotency_key_reused',
    );
  });
});

it('the own batch is undone with the rights that its writes needed alone', async () => {
  const made = await create(member);
  const batch = made.headers['x-mutation-batch'] as string;
  await expectProblem(rollBack(viewer, batch), 403, 'admin.rollback');
  await sql.run`update mutation_batches set actor_user_id = ${viewer.userId} where id = ${batch}`;
  await expectProblem(rollBack(viewer, batch), 403, 'inventory.create');
});
