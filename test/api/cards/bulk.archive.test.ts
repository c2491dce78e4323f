import { ok, openApp, pluck } from '../../support/harness.ts';
import { card, NOBODY, writesOf } from '../../support/writes.ts';

const { t, db, admin, member, viewer } = await openApp(['admin', 'viewer', 'member']);
const { appoint, eventsOf, expectRefused, idle, refused } = writesOf(t);

const unit = { type: 'BusinessCapability' };
const act = (verb: 'archive' | 'delete' | 'restore', card_ids: string[], more = {}, client = admin) =>
  client.post(`/api/v1/cards/bulk-${verb}`, { card_ids, ...more });
const read = async (id: string) => (await admin.get(card(id))).body;
const sorted = (...ids: string[]) => ids.toSorted();

/** A root with a child that has a child. */
async function family(name: string) {
  const root = await admin.card({ ...unit, name });
  const child = await admin.card({ ...unit, name: `${name} child`, parent_id: root.id });
  const leaf = await admin.card({ ...unit, name: `${name} leaf`, parent_id: child.id });
  return { root: root.id, child: child.id, leaf: leaf.id };
}

describe('POST /cards/bulk-archive and bulk-restore', () => {
  it('archives all of them with one event each, and passes over what is archived or no card', async () => {
    const [a, b] = [await admin.card(), await admin.card()];
    await admin.post(card(b.id, '/archive'));
    const ids = [a.id, b.id, NOBODY, a.id.toUpperCase()];
    const dry = await idle(() => act('archive', ids, { dry_run: true }));
    const { answer, events } = await eventsOf(() => act('archive', ids));
    expect(answer.body).toEqual({
      requested: 4,
      archived_card_ids: [a.id],
      cascaded_card_ids: [],
      moved_card_ids: [],
      skipped: [
        { card_id: b.id, reason: 'already_archived' },
        { card_id: NOBODY, reason: 'not_found' },
      ],
      dry_run: false,
    });
    expect(dry.body).toEqual({ ...answer.body, dry_run: true });
    expect(events.map(({ event_type }) => event_type)).toEqual(['card.archived']);
    const back = await eventsOf(() => act('restore', [...ids, b.id]));
    expect(back.answer.body).toEqual({
      requested: 5,
      restored_card_ids: expect.arrayContaining([a.id, b.id]),
      skipped: [{ card_id: NOBODY, reason: 'not_found' }],
      dry_run: false,
    });
    expect(back.events.map(({ event_type }) => event_type)).toEqual(['card.restored', 'card.restored']);
    expect((await act('restore', [a.id])).body.skipped).toEqual([
      { card_id: a.id, reason: 'already_active' },
    ]);
  });

  it('needs a strategy for children that do not go themselves', async () => {
    const one = await family('Strategy');
    const two = await family('Strategies');
    await expectRefused(() => act('archive', [one.root, two.root]), 409, 'children_present', {
      child_count: 2,
      card_ids: expect.arrayContaining([one.root, two.root]),
    });
    const whole = await act('archive', [one.leaf, one.root, one.child]);
    expect(whole.body.archived_card_ids.toSorted()).toEqual(sorted(one.root, one.child, one.leaf));

    const moved = await eventsOf(() => act('archive', [two.root, two.child], { child_strategy: 'reparent' }));
    expect(moved.answer.body.moved_card_ids).toEqual([two.leaf]);
    expect(await read(two.leaf)).toMatchObject({ parent_id: null, attributes: { capabilityLevel: 'L1' } });
    const types = moved.events.map(({ event_type }) => event_type).sort();
    expect(types).toEqual(['card.archived', 'card.archived', 'card.updated']);
    // parents come back with their children, in whatever order they are named
    expect(await refused(() => act('restore', [one.leaf]))).toMatchObject({ code: 'wrong_state' });
    await ok(act('restore', [one.leaf, one.child, one.root]));
    expect(await read(one.leaf)).toMatchObject({ status: 'ACTIVE', parent_id: one.child });
  });

  it('gives each card and what lies below it an act of their own', async () => {
    const one = await family('Act');
    const two = await family('Acts');
    const answer = await act('archive', [one.root, two.root], { child_strategy: 'cascade' });
    expect(answer.body.cascaded_card_ids.toSorted()).toEqual(
      sorted(one.child, one.leaf, two.child, two.leaf),
    );
    const { passengers } = (await admin.get(card(one.root, '/restore-impact'))).body;
    expect(pluck(passengers, 'id').sort()).toEqual(sorted(one.child, one.leaf));
    await ok(admin.post(card(one.root, '/restore'), { also_restore_card_ids: [one.child, one.leaf] }));
  });

  it('takes related cards along where asked', async () => {
    const app = await admin.card();
    const part = await admin.card({ type: 'ITComponent' });
    await admin.relate('relAppToITC', app.id, part.id);
    const answer = await act('archive', [app.id], { cascade_all_related: true });
    expect(answer.body.cascaded_card_ids).toEqual([part.id]);
    expect((await admin.get(card(app.id, '/restore-impact'))).body.passengers).toMatchObject([
      { id: part.id },
    ]);
  });

  it('archives and restores all of them or none', async () => {
    const [a, b, name] = [await admin.card(), await admin.card(), 'Only one'];
    await appoint(a.id, viewer, 'responsible');
    await expectRefused(() => act('archive', [a.id, b.id], {}, viewer), 403, 'inventory.archive', {
      card_ids: [b.id],
    });
    await ok(act('archive', [a.id], {}, viewer));

    const first = await admin.card({ name });
    await act('archive', [first.id]);
    const second = await admin.card({ name });
    await act('archive', [second.id]);
    await expectRefused(() => act('restore', [first.id, second.id]), 409, 'sibling_name_taken');
  });
});

it('POST /cards/bulk-delete deletes cards of any state with all that hangs on them', async () => {
  const [app, old] = [await admin.card(), await admin.card()];
  const relation = await admin.relate('relAppToITC', app.id, (await admin.card({ type: 'ITComponent' })).id);
  await admin.post(card(old.id, '/archive'));
  await appoint(app.id, admin, 'responsible');
  const ids = [app.id, old.id, NOBODY];
  const dry = await idle(() => act('delete', ids, { dry_run: true }));
  const { answer, events } = await eventsOf(() => act('delete', ids));
  expect(answer.body).toEqual({
    requested: 3,
    deleted_card_ids: [app.id, old.id],
    cascaded_card_ids: [],
    moved_card_ids: [],
    skipped: [{ card_id: NOBODY, reason: 'not_found' }],
    dry_run: false,
  });
  expect(dry.body).toEqual({ ...answer.body, dry_run: true });
  const types = events.map(({ event_type }) => event_type).sort();
  expect(types).toEqual(['card.deleted', 'card.deleted', 'relation.deleted', 'stakeholder.removed']);
  expect(await db('relations').where({ id: relation.id })).toEqual([]);
  expect(await db('cards').whereIn('id', ids)).toEqual([]);
  expect((await act('delete', [app.id])).body.skipped).toHaveLength(1);
});

it('POST /cards/bulk-delete moves children up past all that goes', async () => {
  const one = await family('Up');
  const answer = await act('delete', [one.child], { child_strategy: 'reparent' });
  expect(answer.body).toMatchObject({ deleted_card_ids: [one.child], moved_card_ids: [one.leaf] });
  expect(await read(one.leaf)).toMatchObject({ parent_id: one.root, attributes: { capabilityLevel: 'L2' } });
  await expectRefused(() => act('delete', [one.leaf], {}, member), 403, 'inventory.delete', {
    card_ids: [one.leaf],
  });
  for (const card_ids of [[], ['x']]) await expectRefused(() => act('delete', card_ids), 422);
});
