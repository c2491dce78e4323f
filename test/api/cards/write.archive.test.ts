import { ok, openApp } from '../../support/harness.ts';
import { card, NOBODY, writesOf } from '../../support/writes.ts';

const { t, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);
const { appoint, eventsOf, expectRefused, expectInvalid } = writesOf(t);

const archive = (id: string, body?: unknown, client = member, headers = {}) =>
  client.post(card(id, '/archive'), body, headers);
const restore = (id: string, body?: unknown, client = member) => client.post(card(id, '/restore'), body);
const read = async (id: string) => (await admin.get(card(id))).body;

/** A parent with two children, and a grandchild below the first. */
async function family(type = 'Application') {
  const parent = await admin.card({ type });
  const one = await admin.card({ type, parent_id: parent.id });
  const two = await admin.card({ type, parent_id: parent.id });
  return { parent, one, two, grandchild: await admin.card({ type, parent_id: one.id }) };
}

describe('POST /cards/{id}/archive', () => {
  it('archives a card without children, with or without a body, and keeps its approval', async () => {
    const made = await member.card({ attributes: { costTotalAnnual: 3 } });
    await admin.post(card(made.id, '/approval-status?action=approve'));
    const { answer, events } = await eventsOf(() => archive(made.id), 200);
    expect(answer.body).toMatchObject({
      primary: {
        id: made.id,
        status: 'ARCHIVED',
        approval_status: 'APPROVED',
        archived_at: expect.any(String),
      },
      affected_children_ids: [],
      affected_related_card_ids: [],
    });
    expect(answer.body.primary).toEqual(await read(made.id));
    expect(events).toMatchObject([
      { event_type: 'card.archived', card_id: made.id, batch_id: expect.any(String), cost_keys: null },
    ]);
    expect(events[0]!.data.changes).toEqual({
      status: { old: 'ACTIVE', new: 'ARCHIVED' },
      archived_at: { old: null, new: answer.body.primary.archived_at },
    });
    for (const body of [{}, null, { child_strategy: null }])
      await ok(archive((await member.card()).id, body));
  });

  it('refuses what is archived, unknown, guarded or malformed', async () => {
    const { id } = await member.card();
    const { etag } = (await member.get(card(id))).headers;
    await member.patch(card(id), { alias: 'x' });
    await expectRefused(() => archive(id, {}, member, { 'if-match': etag! }), 412);
    await archive(id);
    await expectRefused(() => archive(id), 409, 'wrong_state');
    await expectRefused(() => archive(NOBODY), 404);
    for (const body of [{ child_strategy: 'x' }, { related_card_ids: ['x'] }, { more: 1 }, []])
      await expectRefused(() => archive(id, body), 422);
  });

  it('asks what becomes of children', async () => {
    const { parent } = await family();
    await expectRefused(() => archive(parent.id), 409, 'children_present', { child_count: 2 });
  });

  it('cascades: all active cards below go too, under one batch', async () => {
    const { parent, one, two, grandchild } = await family();
    const { answer, events } = await eventsOf(() => archive(parent.id, { child_strategy: 'cascade' }));
    expect(new Set(answer.body.affected_children_ids)).toEqual(new Set([one.id, two.id, grandchild.id]));
    expect(events.map((event) => event.event_type)).toEqual(Array(4).fill('card.archived'));
    expect(new Set(events.map((event) => event.batch_id)).size).toBe(1);
    expect(await read(grandchild.id)).toMatchObject({ status: 'ARCHIVED', parent_id: one.id });
    expect((await member.get(card(parent.id, '/restore-impact'))).body.passengers).toHaveLength(3);
  });

  it('disconnects: children lose the parent, approvals break, levels follow', async () => {
    const { parent, one, two, grandchild } = await family('BusinessCapability');
    await admin.post(card(one.id, '/approval-status?action=approve'));
    await admin.post(card(grandchild.id, '/approval-status?action=approve'));
    const { answer, events } = await eventsOf(() => archive(parent.id, { child_strategy: 'disconnect' }));
    expect(new Set(answer.body.affected_children_ids)).toEqual(new Set([one.id, two.id]));
    expect(await read(one.id)).toMatchObject({
      status: 'ACTIVE',
      parent_id: null,
      approval_status: 'BROKEN',
      attributes: { capabilityLevel: 'L1' },
    });
    expect(await read(grandchild.id)).toMatchObject({
      parent_id: one.id,
      approval_status: 'APPROVED',
      attributes: { capabilityLevel: 'L2' },
    });
    expect(events.map((event) => [event.event_type, event.card_id])).toEqual([
      ['card.archived', parent.id],
      ['card.updated', one.id],
      ['card.updated', two.id],
      ['card.updated', grandchild.id],
    ]);
    expect(events[1]!.data.changes).toEqual({
      parent_id: { old: parent.id, new: null },
      approval_status: { old: 'APPROVED', new: 'BROKEN' },
      'attributes.capabilityLevel': { old: 'L2', new: 'L1' },
    });
  });

  it('reparents: children move to the grandparent, also one with the name of the parent', async () => {
    const top = await admin.card();
    const parent = await admin.card({ name: 'Same', parent_id: top.id });
    const child = await admin.card({ name: 'Same', parent_id: parent.id });
    await ok(archive(parent.id, { child_strategy: 'reparent' }));
    expect(await read(child.id)).toMatchObject({ parent_id: top.id, status: 'ACTIVE' });
  });

  it('refuses when a moved child would meet a sibling of its name, and writes nothing', async () => {
    const parent = await admin.card();
    await admin.card({ name: 'Clash', parent_id: parent.id });
    await admin.card({ name: 'Clash' });
    for (const child_strategy of ['disconnect', 'reparent'])
      await expectRefused(() => archive(parent.id, { child_strategy }), 409, 'sibling_name_taken');
  });

  it('takes related cards along, whose own children are disconnected', async () => {
    const app = await admin.card();
    const component = await admin.card({ type: 'ITComponent' });
    const below = await admin.card({ type: 'ITComponent', parent_id: component.id });
    const other = await admin.card({ type: 'ITComponent' });
    await admin.relate('relAppToITC', app.id, component.id);
    await expectInvalid(() => archive(app.id, { related_card_ids: [other.id] }), 'related_card_ids.0');
    expect((await archive(app.id, { related_card_ids: [component.id.toUpperCase()] })).body).toMatchObject({
      affected_related_card_ids: [component.id],
      affected_children_ids: [below.id],
    });
    expect(await read(below.id)).toMatchObject({ status: 'ACTIVE', parent_id: null });
    const impact = await member.get(card(app.id, '/restore-impact'));
    expect(impact.body.passengers).toMatchObject([{ id: component.id, role: 'related' }]);
    expect((await member.get(`/api/v1/relations?card_id=${app.id}`)).body.total).toBe(0);
  });

  it('takes every active related card along where asked', async () => {
    const app = await admin.card();
    const parts = [await admin.card({ type: 'ITComponent' }), await admin.card({ type: 'ITComponent' })];
    for (const part of parts) await admin.relate('relAppToITC', app.id, part.id);
    await archive(parts[0]!.id);
    const answer = await archive(app.id, { cascade_all_related: true });
    expect(answer.body.affected_related_card_ids).toEqual([parts[1]!.id]);
  });

  it('needs the right on every card that it touches', async () => {
    const { parent, one, two, grandchild } = await family();
    await expectRefused(() => archive(parent.id, {}, viewer), 403, 'inventory.archive');
    await appoint(parent.id, viewer, 'responsible');
    for (const child_strategy of ['cascade', 'disconnect'])
      await expectRefused(() => archive(parent.id, { child_strategy }, viewer), 403);
    await appoint(one.id, viewer, 'business_application_owner');
    await appoint(two.id, viewer, 'business_application_owner');
    await expectRefused(() => archive(parent.id, { child_strategy: 'cascade' }, viewer), 403);
    await ok(archive(parent.id, { child_strategy: 'disconnect' }, viewer));
    expect(await read(grandchild.id)).toMatchObject({ parent_id: one.id });
  });
});

describe('POST /cards/{id}/restore', () => {
  it('restores one card, or with it the named passengers of its batch', async () => {
    const { parent, one, two, grandchild } = await family();
    await archive(parent.id, { child_strategy: 'cascade' });
    const { answer, events } = await eventsOf(() =>
      restore(parent.id, { also_restore_card_ids: [one.id, grandchild.id] }),
    );
    expect(answer.body).toMatchObject({
      primary: { id: parent.id, status: 'ACTIVE', archived_at: null },
      restored_passenger_ids: [one.id, grandchild.id],
    });
    expect(events.map((event) => event.event_type)).toEqual(Array(3).fill('card.restored'));
    expect(events[0]!.data.changes).toEqual({
      status: { old: 'ARCHIVED', new: 'ACTIVE' },
      archived_at: { old: expect.any(String), new: null },
    });
    expect(await read(two.id)).toMatchObject({ status: 'ARCHIVED' });
    expect((await restore(two.id)).body.primary).toMatchObject({ status: 'ACTIVE', parent_id: parent.id });
  });

  it('refuses what is active, unknown, no passenger, or below an archived card', async () => {
    const { parent, one } = await family();
    const stranger = await member.card();
    await expectRefused(() => restore(parent.id), 409, 'wrong_state');
    await archive(parent.id, { child_strategy: 'cascade' });
    await archive(stranger.id);
    for (const id of [stranger.id, NOBODY])
      await expectInvalid(
        () => restore(parent.id, { also_restore_card_ids: [id] }),
        'also_restore_card_ids.0',
      );
    await expectRefused(() => restore(one.id), 409, 'wrong_state', { archived_parent_id: parent.id });
    await ok(restore(one.id, { also_restore_card_ids: [parent.id] }));
    await expectRefused(() => restore(NOBODY), 404);
  });

  it('refuses when the name has been taken meanwhile', async () => {
    const first = await member.card({ name: 'Seat' });
    await archive(first.id);
    const second = await member.card({ name: 'seat' });
    await expectRefused(() => restore(first.id), 409, 'sibling_name_taken', { existing_id: second.id });
  });

  it('needs the right on each card', async () => {
    const { parent, one } = await family();
    await archive(parent.id, { child_strategy: 'cascade' });
    await expectRefused(() => restore(parent.id, {}, viewer), 403);
    await appoint(parent.id, viewer, 'responsible');
    await expectRefused(() => restore(parent.id, { also_restore_card_ids: [one.id] }, viewer), 403);
    await ok(restore(parent.id, {}, viewer));
  });
});
