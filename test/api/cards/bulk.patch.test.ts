import { answered, expectProblem, ok, openApp, type TestClient } from '../../support/harness.ts';
import { card, NOBODY, writesOf } from '../../support/writes.ts';

const { t, admin } = await openApp(['admin']);
const { appoint, eventsOf, expectRefused, idle, refused, expectInvalid } = writesOf(t);

const bulk = (
  ids: string[],
  updates: Record<string, unknown>,
  more: { client?: TestClient; dry_run?: boolean; headers?: Record<string, string> } = {},
) =>
  (more.client ?? admin).patch(
    '/api/v1/cards/bulk',
    { ids, updates, dry_run: more.dry_run ?? false },
    more.headers,
  );
const makeAll = (bodies: Record<string, unknown>[]) => Promise.all(bodies.map((body) => admin.card(body)));
const read = async (id: string) => (await admin.get(card(id))).body;

it('changes each card, breaks its approval, scores it and emits an event for it', async () => {
  const [approved, draft, same] = await makeAll([{}, {}, { attributes: { timeModel: 'invest' } }]);
  await admin.post(card(approved!.id, '/approval-status?action=approve'));
  const ids = [approved!.id, draft!.id.toUpperCase(), same!.id, NOBODY, approved!.id];
  const { answer, events } = await eventsOf(() => bulk(ids, { attributes: { timeModel: 'invest' } }), 200);
  const after = await read(approved!.id);
  expect(after).toMatchObject({ approval_status: 'BROKEN', attributes: { timeModel: 'invest' } });
  expect(after.data_quality).toBeGreaterThan(approved!.data_quality);
  expect(after.updated_by).toBe(admin.userId);
  expect(answer.body).toEqual({
    dry_run: false,
    updated: 2,
    would_update: 0,
    results: [
      {
        row_index: 0,
        card_id: approved!.id,
        id: approved!.id,
        status: 'updated',
        before: {
          approval_status: 'APPROVED',
          data_quality: approved!.data_quality,
          attributes: { timeModel: null },
        },
        after: {
          approval_status: 'BROKEN',
          data_quality: after.data_quality,
          attributes: { timeModel: 'invest' },
        },
      },
      expect.objectContaining({ row_index: 1, card_id: draft!.id, status: 'updated' }),
      { row_index: 2, card_id: same!.id, id: same!.id, status: 'unchanged', before: {}, after: {} },
      { row_index: 3, card_id: NOBODY, id: null, status: 'not_found', before: {}, after: {} },
    ],
  });
  expect(events.map(({ event_type, card_id }) => [event_type, card_id]).sort()).toEqual(
    [approved!.id, draft!.id].sort().map((id) => ['card.updated', id]),
  );
  expect(new Set(events.map(({ batch_id }) => batch_id)).size).toBe(1);
  expect(events.find(({ card_id }) => card_id === draft!.id)!.data.changes).toEqual({
    'attributes.timeModel': { old: null, new: 'invest' },
    data_quality: { old: draft!.data_quality, new: after.data_quality },
  });
});

it('answers the same for a dry run, and writes nothing', async () => {
  const [a, b] = await makeAll([{}, {}]);
  const ids = [a!.id, b!.id];
  const dry = await idle(() => bulk(ids, { alias: 'Dry' }, { dry_run: true }));
  expect(dry.body).toMatchObject({ dry_run: true, updated: 0, would_update: 2 });
  const wet = await bulk(ids, { alias: 'Dry' });
  const rows = (body: typeof dry.body) =>
    body.results.map(({ status: _, ...row }: Record<string, unknown>) => row);
  expect(rows(wet.body)).toEqual(rows(dry.body));
  expect(await idle(() => bulk(ids, { alias: 'Dry' }))).toMatchObject({ body: { updated: 0 } });
});

it('changes all of them or none, and names the card that is refused', async () => {
  const [application, part] = await makeAll([{}, { type: 'ITComponent' }]);
  const ids = [application!.id, part!.id];
  const updates = { attributes: { timeModel: 'invest' } };
  expect(await refused(() => bulk(ids, updates))).toMatchObject({
    status: 422,
    fields: ['attributes.timeModel'],
    body: { card_id: part!.id, card_type: 'ITComponent' },
  });
  const cases: [Record<string, unknown>, number, string][] = [
    [{ status: 'ARCHIVED' }, 422, 'use_operation'],
    [{ attributes: { nope: 1 } }, 422, 'validation_failed'],
    [{ lifecycle: { active: '2020-02-30' } }, 422, 'validation_failed'],
    [{ name: ' ' }, 422, 'validation_failed'],
    [{ nope: 1 }, 422, 'validation_failed'],
    [{ parent_id: NOBODY }, 422, 'validation_failed'],
  ];
  for (const [updates, status, code] of cases)
    expect(await refused(() => bulk([application!.id], updates))).toMatchObject({ status, code });
  for (const ids of [[], ['nope'], Array(10_001).fill(NOBODY)])
    await expectRefused(() => bulk(ids, { alias: 'X' }), 422);
});

it('refuses names and external ids that another card has, in the set too', async () => {
  const [taken, a, b] = await makeAll([{ name: 'Taken', external_id: 'TAKEN' }, {}, {}]);
  const refusal = await refused(() => bulk([a!.id], { name: 'taken' }));
  expect(refusal).toMatchObject({ code: 'sibling_name_taken', body: { existing_id: taken!.id } });
  await expectRefused(() => bulk([a!.id, b!.id], { name: 'Both' }), 409, 'sibling_name_taken', {
    card_id: expect.any(String),
    existing_id: expect.any(String),
  });
  expect(await refused(() => bulk([a!.id, b!.id], { external_id: 'TAKEN' }))).toMatchObject({
    code: 'external_id_taken',
    body: { existing_id: taken!.id },
  });
});

it('moves cards, with the levels below them, and no card below itself', async () => {
  const unit = { type: 'BusinessCapability' };
  const [top, left, right] = await makeAll([
    { ...unit, name: 'Top' },
    { ...unit, name: 'Left' },
    { ...unit, name: 'Right' },
  ]);
  const leaf = await admin.card({ ...unit, name: 'Leaf', parent_id: left!.id });
  const deep = await admin.card({ ...unit, name: 'Deep', parent_id: leaf.id });
  const level = async (id: string) => (await read(id)).attributes.capabilityLevel;

  const { answer, events } = await eventsOf(() =>
    bulk([left!.id, right!.id, leaf.id], { parent_id: top!.id }),
  );
  expect(answer.body.updated).toBe(3);
  // the leaf is at level 2 before and after, and so is nothing told of what lies below it
  expect(events.map(({ card_id }) => card_id).sort()).toEqual([left!.id, right!.id, leaf.id].sort());
  expect(await level(left!.id)).toBe('L2');
  expect(await level(leaf.id)).toBe('L2');
  expect(await level(deep.id)).toBe('L3');

  await bulk([leaf.id], { parent_id: left!.id });
  expect([await level(leaf.id), await level(deep.id)]).toEqual(['L3', 'L4']);
  await expectRefused(
    () => bulk([right!.id, top!.id], { parent_id: deep.id }),
    422,
    'parent_cycle',
    'parent_id',
  );
  const [five] = await makeAll([{ ...unit, name: 'Five', parent_id: deep.id }]);
  await expectRefused(() => bulk([right!.id], { parent_id: five!.id }), 409, 'capability_too_deep');
  await expectInvalid(
    () => bulk([right!.id], { attributes: { capabilityLevel: 'Macro' } }),
    'attributes.capabilityLevel',
  );
  await ok(bulk([top!.id], { attributes: { capabilityLevel: 'Macro' } }));
  expect([await level(top!.id), await level(left!.id), await level(five!.id)]).toEqual(['Macro', 'L1', 'L4']);
  expect((await bulk([left!.id, right!.id], { parent_id: null })).body.updated).toBe(2);
  expect([await level(left!.id), await level(deep.id)]).toEqual(['L1', 'L3']);
});

it('asks for the right to edit each card, and cuts costs', async () => {
  const [own, other] = await makeAll([{ attributes: { costTotalAnnual: 1 } }, {}]);
  const keeper = await t.holding('inventory.view', 'inventory.bulk_edit');
  await appoint(own!.id, keeper, 'responsible');
  const ids = [own!.id, other!.id];
  await expectRefused(() => bulk(ids, { alias: 'K' }, { client: keeper }), 403, 'inventory.edit', {
    card_ids: [other!.id],
  });
  expect((await bulk([own!.id], { alias: 'K' }, { client: keeper })).body.updated).toBe(1);
  const editor = await t.holding('inventory.view', 'inventory.edit', 'inventory.bulk_edit');
  const costs = { attributes: { costTotalAnnual: 2 } };
  await expectRefused(() => bulk(ids, costs, { client: editor }), 403, 'costs.view');
  // who sees no costs clears none
  const cleared = await answered(bulk(ids, { attributes: null, description: 'C' }, { client: editor }));
  expect((await read(own!.id)).attributes.costTotalAnnual).toBe(1);
  expect(cleared.text).not.toContain('costTotalAnnual');
});

it('is carried out once under an idempotency key', async () => {
  const [a] = await makeAll([{}]);
  const headers = { 'idempotency-key': 'bulk-once' };
  const first = await bulk([a!.id], { alias: 'Once' }, { headers });
  const again = await bulk([a!.id], { alias: 'Once' }, { headers });
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(again.text).toBe(first.text);
  await expectProblem(bulk([a!.id], { alias: 'Twice' }, { headers }), 409);
});
