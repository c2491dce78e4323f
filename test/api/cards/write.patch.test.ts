import { answered, ok, openApp, type TestClient } from '../../support/harness.ts';
import { card, NOBODY, writesOf } from '../../support/writes.ts';

const { t, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);
const { appoint, eventsOf, expectRefused, idle, refused, expectInvalid } = writesOf(t);

const patch = (client: TestClient, id: string, body: unknown, headers?: Record<string, string>) => () =>
  client.patch(card(id), body, headers);
const approve = async (id: string) => {
  const answer = await admin.post(card(id, '/approval-status?action=approve'));
  expect(answer.body.approval_status).toBe('APPROVED');
};

describe('PATCH /cards/{id}', () => {
  it('changes what is sent, merges, clears by null, and tells it in one event', async () => {
    const { id } = await member.card({
      name: 'Before',
      alias: 'A',
      description: 'x',
      lifecycle: { plan: '2020-01-01', active: '2021-01-01' },
      attributes: { timeModel: 'invest', costTotalAnnual: 7, hostingType: 'hybrid' },
    });
    const body = {
      name: 'After',
      alias: null,
      lifecycle: { plan: null, endOfLife: '2030-01-01' },
      attributes: { timeModel: null, costTotalAnnual: 8 },
    };
    const { answer, events } = await eventsOf(patch(admin, id, body), 200);
    expect(answer.body).toMatchObject({
      name: 'After',
      alias: null,
      description: 'x',
      lifecycle: { active: '2021-01-01', endOfLife: '2030-01-01' },
      attributes: { hostingType: 'hybrid', costTotalAnnual: 8 },
      data_quality: 22.2,
      created_by: member.userId,
      updated_by: admin.userId,
    });
    expect((await member.get(card(id))).headers.etag).toBe(answer.headers.etag);
    expect(events).toMatchObject([
      {
        event_type: 'card.updated',
        card_id: id,
        cost_keys: ['attributes.costTotalAnnual'],
        data: { id, type: 'Application', name: 'After' },
      },
    ]);
    expect(events[0]!.data.changes).toEqual({
      name: { old: 'Before', new: 'After' },
      alias: { old: 'A', new: null },
      data_quality: { old: 38.9, new: 22.2 },
      'lifecycle.plan': { old: '2020-01-01', new: null },
      'lifecycle.endOfLife': { old: null, new: '2030-01-01' },
      'attributes.timeModel': { old: 'invest', new: null },
      'attributes.costTotalAnnual': { old: 7, new: 8 },
    });
  });

  it('writes nothing when nothing changes', async () => {
    const made = await member.card({
      attributes: { timeModel: 'invest' },
      lifecycle: { active: '2020-01-01' },
    });
    for (const body of [
      {},
      { name: ` ${made.name} `, description: '', parent_id: null },
      { attributes: { timeModel: 'invest', hostingType: null }, lifecycle: { active: '2020-01-01' } },
    ])
      expect((await idle(patch(member, made.id, body))).body).toEqual(made);
  });

  it('breaks an approval by content, not by an external id', async () => {
    const { id } = await member.card({ description: 'x' });
    await approve(id);
    expect((await member.patch(card(id), { external_id: 'E-77' })).body.approval_status).toBe('APPROVED');
    const { answer, events } = await eventsOf(patch(member, id, { description: null }));
    expect(answer.body.approval_status).toBe('BROKEN');
    expect(events[0]!.data.changes).toMatchObject({
      approval_status: { old: 'APPROVED', new: 'BROKEN' },
      description: { old: 'x', new: null },
    });
  });

  it.each([
    ['status', { status: 'ARCHIVED' }, 'use_operation', ['status']],
    ['approval status', { approval_status: 'APPROVED' }, 'use_operation', ['approval_status']],
    ['type', { type: 'Provider' }, 'validation_failed', ['type']],
    ['data quality', { data_quality: 100 }, 'validation_failed', ['data_quality']],
    ['cleared name', { name: null }, 'validation_failed', ['name']],
    ['blank name', { name: '\t' }, 'validation_failed', ['name']],
    ['bad option', { attributes: { timeModel: 'x' } }, 'validation_failed', ['attributes.timeModel']],
    ['unknown parent', { parent_id: NOBODY }, 'validation_failed', ['parent_id']],
    [
      'an order that only the merge shows',
      { lifecycle: { endOfLife: '2019-01-01' } },
      'validation_failed',
      ['lifecycle.endOfLife'],
    ],
  ])('refuses %s with 422', async (name, body, code, fields) => {
    const { id } = await member.card({ name: `For ${name}`, lifecycle: { active: '2020-01-01' } });
    expect(await refused(patch(member, id, body))).toMatchObject({ status: 422, code, fields });
  });

  it('answers 404 for unknown cards and 422 for malformed ids', async () => {
    await expectRefused(patch(member, NOBODY, {}), 404, 'not_found');
    await expectRefused(patch(member, 'x', {}), 422);
    await expectRefused(patch(member, `urn:uuid:${NOBODY}`, {}), 422);
  });

  it('guards by If-Match', async () => {
    const { id } = await member.card();
    const { etag } = (await member.get(card(id))).headers;
    const first = await answered(member.patch(card(id), { alias: 'one' }, { 'if-match': etag! }));
    await expectRefused(
      patch(member, id, { alias: 'two' }, { 'if-match': etag! }),
      412,
      'precondition_failed',
    );
    await ok(member.patch(card(id), { alias: 'two' }, { 'if-match': first.headers.etag! }));
  });

  it('needs inventory.edit or a stakeholder role that may edit', async () => {
    const { id } = await member.card();
    await expectRefused(patch(viewer, id, { alias: 'x' }), 403, 'inventory.edit');
    await appoint(id, viewer, 'observer');
    await expectRefused(patch(viewer, id, { alias: 'x' }), 403);
    await appoint(id, viewer, 'business_application_owner');
    expect((await patch(viewer, id, { alias: 'x' })()).body.alias).toBe('x');
    const { id: other } = await member.card();
    await expectRefused(patch(viewer, other, { alias: 'x' }), 403);
  });

  it('keeps costs from those who may not see them, and keeps them for those who may', async () => {
    const thrifty = await t.holding('inventory.view', 'inventory.edit');
    const { id } = await member.card({ attributes: { costTotalAnnual: 5, timeModel: 'invest' } });
    await expectRefused(patch(thrifty, id, { attributes: { costTotalAnnual: 6 } }), 403, 'costs.view');
    await expectRefused(patch(thrifty, id, { attributes: { costTotalAnnual: null } }), 403);
    expect((await thrifty.patch(card(id), { attributes: null })).body.attributes).toEqual({});
    expect((await member.get(card(id))).body.attributes).toEqual({ costTotalAnnual: 5 });
    await appoint(id, thrifty, 'responsible');
    expect((await thrifty.patch(card(id), { attributes: { costTotalAnnual: 6 } })).body.attributes).toEqual({
      costTotalAnnual: 6,
    });
  });

  it('refuses names and external ids that are taken, and lets archived cards keep theirs', async () => {
    const one = await member.card({ name: 'Taken', external_id: 'T-1' });
    const two = await member.card();
    await expectRefused(patch(member, two.id, { name: 'TAKEN' }), 409, 'sibling_name_taken', {
      existing_id: one.id,
    });
    await expectRefused(patch(member, two.id, { external_id: 'T-1' }), 409, 'external_id_taken', {
      existing_id: one.id,
    });
    expect((await member.patch(card(one.id), { name: 'taken' })).body.name).toBe('taken');
    await member.post(card(one.id, '/archive'));
    await ok(member.patch(card(two.id), { name: 'Taken' }));
    expect((await member.patch(card(one.id), { external_id: null })).body.external_id).toBeNull();
  });
});

describe('moving', () => {
  it('refuses circles at any depth', async () => {
    const a = await member.card();
    const b = await member.card({ parent_id: a.id });
    const c = await member.card({ parent_id: b.id });
    for (const parent of [a, b, c])
      await expectRefused(patch(member, a.id, { parent_id: parent.id }), 422, 'parent_cycle', 'parent_id');
    expect((await member.patch(card(c.id), { parent_id: a.id })).body.parent_id).toBe(a.id);
  });

  it('gives the levels below an event each, and breaks no approval but that of the moved card', async () => {
    const type = 'BusinessCapability';
    const root = await admin.card({ type });
    const a = await admin.card({ type });
    const b = await admin.card({ type, parent_id: a.id });
    const c = await admin.card({ type, parent_id: b.id });
    for (const { id } of [a, b, c]) await approve(id);
    const { answer, events } = await eventsOf(patch(admin, a.id, { parent_id: root.id }));
    expect(answer.body).toMatchObject({ attributes: { capabilityLevel: 'L2' }, approval_status: 'BROKEN' });
    expect(events.map((event) => [event.event_type, event.card_id, event.data.changes])).toEqual([
      [
        'card.updated',
        a.id,
        {
          parent_id: { old: null, new: root.id },
          approval_status: { old: 'APPROVED', new: 'BROKEN' },
          'attributes.capabilityLevel': { old: 'L1', new: 'L2' },
        },
      ],
      ['card.updated', b.id, { 'attributes.capabilityLevel': { old: 'L2', new: 'L3' } }],
      ['card.updated', c.id, { 'attributes.capabilityLevel': { old: 'L3', new: 'L4' } }],
    ]);
    const { body } = await admin.get(card(c.id));
    expect(body).toMatchObject({ attributes: { capabilityLevel: 'L4' }, approval_status: 'APPROVED' });
    const deep = await admin.card({ type, parent_id: c.id });
    const other = await admin.card({ type });
    await expectRefused(patch(admin, root.id, { parent_id: other.id }), 409, 'capability_too_deep');
    expect((await admin.get(card(deep.id))).body.attributes.capabilityLevel).toBe('L5');
  });

  it('sets and takes back Macro on roots, with the levels below', async () => {
    const type = 'BusinessCapability';
    const root = await admin.card({ type });
    const child = await admin.card({ type, parent_id: root.id });
    const levelOf = async (id: string) => (await admin.get(card(id))).body.attributes.capabilityLevel;
    const set = (level: unknown) => admin.patch(card(root.id), { attributes: { capabilityLevel: level } });
    expect((await set('Macro')).body.attributes.capabilityLevel).toBe('Macro');
    expect(await levelOf(child.id)).toBe('L1');
    await idle(() => set('Macro'));
    expect((await admin.patch(card(root.id), { attributes: null })).body.attributes.capabilityLevel).toBe(
      'Macro',
    );
    const other = await admin.card({ type });
    await expectInvalid(patch(admin, root.id, { parent_id: other.id }), 'attributes.capabilityLevel');
    await expectInvalid(
      patch(admin, child.id, { attributes: { capabilityLevel: 'Macro' } }),
      'attributes.capabilityLevel',
    );
    await idle(patch(admin, child.id, { attributes: { capabilityLevel: 'L1' } }));
    expect((await set(null)).body.attributes.capabilityLevel).toBe('L1');
    expect(await levelOf(child.id)).toBe('L2');
    await set('Macro');
    const moved = await admin.patch(card(root.id), {
      parent_id: other.id,
      attributes: { capabilityLevel: null },
    });
    expect(moved.body.attributes.capabilityLevel).toBe('L2');
    expect(await levelOf(child.id)).toBe('L3');
  });
});
