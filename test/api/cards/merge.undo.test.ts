import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { card, NOBODY, writesOf } from '../../support/writes.ts';
import { duplicates, inventory, merge, undo, unit } from './merge.fixture.ts';

const { t, db, admin, viewer } = await openApp(['admin', 'viewer']);
const { eventsOf, expectRefused, idle, refused } = writesOf(t);

const read = async (id: string) => (await admin.get(card(id))).body;

describe('POST /card-merges/{id}/undo', () => {
  it('brings back everything exactly, with events that tell it', async () => {
    const d = await duplicates(t, admin);
    await admin.post(card(d.survivor.id, '/approval-status?action=approve'));
    await admin.post(card(d.other.id, '/approval-status?action=approve'));
    const before = await inventory(t);
    const { body } = await merge(admin, d.survivor.id, [d.other.id]);
    expect((await read(d.survivor.id)).approval_status).toBe('BROKEN');
    const dry = await idle(() => undo(admin, body.merge_id, { dry_run: true }));
    const { answer, events } = await eventsOf(() => undo(admin, body.merge_id), 200);
    expect(answer.body).toMatchObject({
      merge_id: body.merge_id,
      dry_run: false,
      restored_card_ids: [d.other.id],
      conflicts: [],
    });
    expect(dry.body.restored_card_ids).toEqual(answer.body.restored_card_ids);
    expect(await inventory(t)).toEqual(before);
    expect(await read(d.other.id)).toMatchObject({ id: d.other.id, created_at: d.other.created_at });
    const told = events.filter(({ data }) => Object.keys(data.changes).join() !== 'data_quality');
    expect(told.map(({ event_type }) => event_type).sort()).toEqual([
      ...Array(5).fill('attachment.moved'),
      'card.created',
      'card.unmerged',
      'card.updated',
      'favorite.created',
      'relation.created',
      'relation.updated',
      'relation.updated',
      'stakeholder.added',
      'tag.added',
      'tag.added',
      'tag.removed',
    ]);
    await expectRefused(() => undo(admin, body.merge_id), 409, 'wrong_state');
  });

  it('shows no costs of a field that is none any more', async () => {
    const types = '/api/v1/metamodel/types';
    const fields = (type?: string) => [
      { section: 'Facts', fields: type ? [{ key: 'fee', label: 'Fee', type }] : [] },
    ];
    await admin.post(types, { key: 'Licence', label: 'Licence', fields_schema: fields('cost') });
    const [kept, gone] = await Promise.all(
      ['Kept', 'Gone'].map((name) => admin.card({ type: 'Licence', name, attributes: { fee: 765 } })),
    );
    const { body } = await merge(admin, kept!.id, [gone!.id]);
    for (const schema of [fields(), fields('number')])
      await ok(admin.patch(`${types}/Licence?force=true`, { fields_schema: schema }));
    const permissions = { 'inventory.view': true, 'inventory.edit': true, 'inventory.archive': true };
    await admin.post('/api/v1/roles', { key: 'merger', label: 'Merges cards', permissions });
    const merger = await t.as('merger');
    await expectRefused(() => undo(merger, body.merge_id), 403, 'costs.view');
    await ok(undo(admin, body.merge_id));
  });

  it('brings back a hierarchy', async () => {
    const top = await admin.card({ ...unit, name: 'Undo top', attributes: { capabilityLevel: 'Macro' } });
    const left = await admin.card({ ...unit, name: 'Undo left', parent_id: top.id });
    const right = await admin.card({ ...unit, name: 'Undo right', parent_id: top.id });
    const child = await admin.card({ ...unit, name: 'Undo child', parent_id: right.id });
    await admin.card({ ...unit, name: 'Undo leaf', parent_id: child.id });
    for (const [survivor, ...merged] of [
      [left.id, top.id],
      [child.id, right.id, top.id],
      [left.id, right.id, child.id],
    ] as [string, ...string[]][]) {
      const before = await inventory(t);
      await ok(undo(admin, (await ok(merge(admin, survivor, merged))).merge_id));
      expect(await inventory(t)).toEqual(before);
    }
  });

  it('keeps what was written since elsewhere, and refuses with a list where the merge was overwritten', async () => {
    const d = await duplicates(t, admin);
    const { body } = await merge(admin, d.survivor.id, [d.other.id]);
    const later = await admin.post(card(d.survivor.id, '/comments'), { content: 'Since then' });
    await admin.patch(card(d.survivor.id), {
      attributes: { timeModel: 'tolerate' },
      name: `${d.survivor.name} 2`,
    });
    await ok(undo(admin, body.merge_id, { dry_run: true }));

    await admin.patch(card(d.survivor.id), { alias: 'Mine now' });
    await admin.delete(`/api/v1/relations/${d.moved.id}`);
    const comments = (await admin.get(card(d.survivor.id, '/comments'))).body.items;
    const todo = (await admin.get(card(d.survivor.id, '/todos'))).body.items[0];
    await admin.delete(`/api/v1/todos/${todo.id}`);
    const refusal = await refused(() => undo(admin, body.merge_id));
    expect(refusal).toMatchObject({ status: 409, code: 'merge_conflict' });
    expect(pluck(refusal.body.conflicts, 'entity', 'field', 'code')).toEqual(
      expect.arrayContaining([
        ['card', 'alias', 'changed'],
        ['relation', null, 'missing'],
      ]),
    );
    expect((await ok(undo(admin, body.merge_id, { force: true }))).conflicts).toEqual(refusal.body.conflicts);
    expect(await read(d.survivor.id)).toMatchObject({
      name: `${d.survivor.name} 2`,
      alias: 'Mine now',
      description: null,
      attributes: { timeModel: 'tolerate' },
    });
    expect((await read(d.survivor.id)).attributes).not.toHaveProperty('businessCriticality');
    expect(await read(d.other.id)).toMatchObject({ alias: 'Lent', external_id: d.other.external_id });
    const left = (await admin.get(card(d.survivor.id, '/comments'))).body.items;
    expect(pluck(left, 'id')).toContain(later.body.id);
    expect(comments.length).toBeGreaterThan(left.length);
  });

  it('refuses when keys were taken, or the survivor is gone', async () => {
    const [a, b] = [await admin.card(), await admin.card({ external_id: 'TAKEN-SINCE' })];
    const { body } = await merge(admin, a.id, [b.id]);
    await admin.patch(card(a.id), { external_id: null });
    const taker = await admin.card({ external_id: 'TAKEN-SINCE' });
    const refusal = await refused(() => undo(admin, body.merge_id));
    expect(refusal).toMatchObject({ status: 409, code: 'merge_conflict' });
    expect(refusal.body.conflicts.at(-1)).toMatchObject({
      id: b.id,
      field: 'external_id',
      code: 'external_id_taken',
      message: expect.stringContaining(taker.id),
    });
    await ok(undo(admin, body.merge_id, { force: true }));
    expect(await read(b.id)).toMatchObject({ name: b.name, external_id: null });

    const [e, f] = [await admin.card(), await admin.card()];
    const named = await merge(admin, e.id, [f.id]);
    await admin.card({ name: f.name });
    const taken = await refused(() => undo(admin, named.body.merge_id, { force: true }));
    expect(taken.body.conflicts.at(-1)).toMatchObject({ id: f.id, code: 'sibling_name_taken' });

    const [c, d] = [await admin.card(), await admin.card()];
    const first = await merge(admin, c.id, [d.id]);
    const second = await merge(admin, a.id, [c.id]);
    expect(await refused(() => undo(admin, first.body.merge_id))).toMatchObject({ code: 'merge_conflict' });
    await ok(undo(admin, second.body.merge_id));
    await ok(undo(admin, first.body.merge_id));
    expect((await read(d.id)).name).toBe(d.name);
  });

  it('refuses to bring cards back below parents that are gone or archived, or makes them roots', async () => {
    const top = await admin.card({ ...unit, name: 'Gone top' });
    const stays = await admin.card({ ...unit, name: 'Gone stays' });
    const other = await admin.card({ ...unit, name: 'Gone other', parent_id: top.id });
    const child = await admin.card({ ...unit, name: 'Gone child', parent_id: other.id });
    for (const { id } of [child, other]) await ok(admin.post(card(id, '/archive'), {}));
    const { body } = await merge(admin, stays.id, [other.id]);
    expect(await read(child.id)).toMatchObject({ parent_id: stays.id, status: 'ARCHIVED' });
    await ok(admin.post(card(child.id, '/restore'), {}));
    await ok(admin.delete(card(top.id)));
    const refusal = await refused(() => undo(admin, body.merge_id));
    expect(refusal).toMatchObject({ status: 409, code: 'merge_conflict' });
    expect(refusal.body.conflicts).toMatchObject([
      { entity: 'card', id: child.id, code: 'missing', message: expect.stringContaining(other.id) },
      { entity: 'card', id: other.id, code: 'missing', message: expect.stringContaining(top.id) },
    ]);
    await ok(undo(admin, body.merge_id, { force: true }));
    expect(await read(other.id)).toMatchObject({ parent_id: null, status: 'ARCHIVED' });
    expect(await read(child.id)).toMatchObject({ parent_id: stays.id, status: 'ACTIVE' });
  });

  it('is for those who may merge, and knows its merges', async () => {
    const [a, b] = [await admin.card(), await admin.card()];
    const { body } = await merge(admin, a.id, [b.id]);
    await expectRefused(() => undo(viewer, body.merge_id), 403);
    await expectProblem(undo(admin, NOBODY), 404);
    await expectProblem(undo(admin, 'x'), 422);
    await expectProblem(undo(admin, body.merge_id, { nope: true }), 422);
  });
});

it('GET /card-merges lists merges, by card too, and reads one', async () => {
  const [a, b] = [await admin.card(), await admin.card({ external_id: 'LISTED' })];
  await admin.relate('relAppToITC', b.id, (await admin.card({ type: 'ITComponent' })).id);
  const { body } = await merge(admin, a.id, [b.id]);
  const expected = {
    id: body.merge_id,
    card_type: 'Application',
    survivor_id: a.id,
    survivor_name: a.name,
    merged: [{ id: b.id, number: b.number, name: b.name, external_id: 'LISTED' }],
    created_by: admin.userId,
    created_by_name: 'admin',
    created_at: expect.any(String),
    undone_by: null,
    undone_by_name: null,
    undone_at: null,
  };
  for (const id of [a.id, b.id]) {
    const list = await viewer.get(`/api/v1/card-merges?card_id=${id}`);
    expect(list.body).toMatchObject({ total: 1, items: [expected] });
  }
  const walked = await viewer.get('/api/v1/card-merges?cursor=&page_size=1&fields=id');
  expect(walked.body.items).toEqual([{ id: body.merge_id }]);
  expect((await viewer.get(`/api/v1/card-merges/${body.merge_id}`)).body).toEqual(expected);
  await undo(admin, body.merge_id);
  const undone = await viewer.get(`/api/v1/card-merges/${body.merge_id}`);
  expect(undone.body).toMatchObject({ undone_by: admin.userId, undone_at: expect.any(String) });
});

it('rolling back the batch of a merge, or of its undoing, comes to the same as undoing it', async () => {
  const d = await duplicates(t, admin);
  const before = await inventory(t);
  const { body } = await merge(admin, d.survivor.id, [d.other.id]);
  const merged = await inventory(t);
  const batchOf = async (event_type: string) =>
    (await db('events').where({ event_type }).orderBy('position', 'desc').first('batch_id'))
      .batch_id as string;
  const rollBack = (id: string) => admin.post(`/api/v1/mutation-batches/${id}/rollback`, { dry_run: false });
  await ok(rollBack(await batchOf('card.merged')));
  expect(await inventory(t)).toEqual(before);
  await ok(admin.get(card(d.other.id)));
  expect(await refused(() => undo(admin, body.merge_id))).toMatchObject({ code: 'wrong_state' });

  await undo(admin, (await merge(admin, d.survivor.id, [d.other.id])).body.merge_id);
  await ok(rollBack(await batchOf('card.unmerged')));
  const { card_redirects: _, ...rest } = await inventory(t);
  const { card_redirects: __, ...expected } = merged;
  expect(rest).toEqual(expected);
  await ok(admin.get(card(d.other.id)), 308);
});
