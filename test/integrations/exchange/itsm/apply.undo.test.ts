import { verifyRows } from '../../../../integrations/exchange/itsm/engine/apply.ts';
import { fields, mapping, started } from './apply.landscape.ts';

it('restores both sides and the sync state', async () => {
  const { sides, plan, apply, card, remote, syncState, undo } = await started();
  sides.edit('local', card, 'name', 'b');
  sides.edit('remote', remote, 'attributes.end', '2026-01-01 00:00:00');
  sides.create('remote', { ...fields('x', 'k7') });
  const second = sides.create('local', fields('y', 'k8'));
  const was = [structuredClone(syncState.pairs), sides.objects('local'), sides.objects('remote')];
  const made = await plan();
  expect((await apply(made)).counts.applied).toBe(4);
  const { plan: back, counts } = await undo(made);
  expect(back.rows).toHaveLength(4);
  expect(counts).toMatchObject({ applied: 4, stale: 0 });
  expect([syncState.pairs, sides.objects('local'), sides.objects('remote')]).toEqual(was);
  expect(sides.cards.get(second)?.archived).toBe(false);
});

it.each(['remote_leads', 'local_leads'] as const)(
  'restores both values and the former base of a resolved conflict (%s)',
  async (rule) => {
    const { sides, plan, apply, card, remote, syncState, undo } = await started();
    const ruled = { fields: mapping.fields.map((field) => ({ ...field, direction: rule })) };
    sides.edit('local', card, 'name', 'b');
    sides.edit('remote', remote, 'name', 'c');
    const was = structuredClone(syncState.pairs);
    const names = () =>
      (['local', 'remote'] as const).map((side) => sides.objects(side).map(({ fields: { name } }) => name));
    const made = await plan(ruled);
    await apply(made);
    const winner = rule === 'remote_leads' ? 'c' : 'b';
    expect(names()).toEqual([[winner], [winner]]);
    const settled = structuredClone(syncState.pairs);
    const { plan: back, counts } = await undo(made);
    expect(counts).toMatchObject({ applied: 1, stale: 0 });
    expect(names()).toEqual([['b'], ['c']]);
    expect(syncState.pairs).toEqual(was);
    const records = new Map(
      [...sides.records].map(([id, record]) => [id, { kind: 'there', record }] as const),
    );
    const applied = back.rows.map((row) => ({ row, createdId: null }));
    expect(verifyRows(mapping, applied, { pairs: syncState.pairs, records })).toEqual([]);
    // undo the undo
    expect((await undo(back, { id: 'again' })).counts).toMatchObject({ applied: 1, stale: 0 });
    expect(names()).toEqual([[winner], [winner]]);
    expect(syncState.pairs).toEqual(settled);
  },
);

it('does not undo later changes', async () => {
  const { sides, plan, apply, card, remote, undo } = await started();
  sides.edit('remote', remote, 'name', 'b');
  const made = await plan();
  await apply(made);
  sides.edit('local', card, 'name', 'c');
  expect((await undo(made)).counts).toMatchObject({ applied: 0, stale: 1 });
  expect(sides.cards.get(card)?.fields.name).toBe('c');
});

it('does not undo what a later run has synchronised', async () => {
  const { sides, plan, apply, outcomes, card, remote, syncState, journal, undo } = await started();
  const second = sides.create('remote', fields('x', 'k7'));
  sides.edit('remote', remote, 'name', 'b');
  const made = await plan();
  await apply(made);
  const ends = new Map(outcomes);
  const other = syncState.pairs.get(second)!.cardId;
  sides.edit('local', card, 'name', 'c');
  sides.edit('local', other, 'name', 'd');
  journal.clear();
  await apply({ ...(await plan()), id: 'later' });
  expect((await undo(made, { ends })).counts).toMatchObject({ applied: 0, stale: 2 });
  for (const side of ['local', 'remote'] as const)
    expect(sides.objects(side).map(({ fields: { name } }) => name)).toEqual(['c', 'd']);
});

it.each(['a user decided to restore it', 'its record exists again'])(
  'archives no card whose values a later run has synchronised (restored since %s)',
  async (cause) => {
    const { sides, plan, apply, outcomes, card, remote, syncState, journal, undo } = await started();
    const isWanted = cause === 'a user decided to restore it';
    const record = structuredClone(sides.records.get(remote)!);
    sides.remove('local', card, false);
    if (isWanted) sides.edit('remote', remote, 'name', 'b');
    else sides.remove('remote', remote, true);
    const gone = await plan();
    await apply(gone);
    const wanted = gone.rows
      .filter(({ action }) => action === 'conflict')
      .map(({ diff: { '': values } }) => ({
        remoteId: remote,
        path: null,
        values: { local: values!.old, remote: values!.new },
        winner: 'remote' as const,
      }));
    if (!isWanted) {
      sides.tombstones.length = 0;
      sides.records.set(remote, record);
    }
    const made = await plan({}, wanted);
    expect(made.rows).toMatchObject([{ action: 'restore', cardId: card }]);
    await apply(made);
    const ends = new Map(outcomes);
    const then = structuredClone(syncState.pairs);
    sides.edit('remote', remote, 'name', 'c');
    journal.clear();
    expect((await apply({ ...(await plan()), id: 'later' })).counts.applied).toBe(1);
    expect((await undo(made, { id: 'too late', ends })).counts).toMatchObject({ applied: 0, stale: 1 });
    expect(sides.objects('local')).toMatchObject([{ id: card, fields: { name: 'c' } }]);
    // without the later run it is archived again
    sides.edit('local', card, 'name', 'a');
    syncState.pairs.clear();
    for (const [id, pair] of then) syncState.pairs.set(id, pair);
    expect((await undo(made, { ends })).counts).toMatchObject({ applied: 1, stale: 0 });
    expect(sides.objects('local')).toEqual([]);
  },
);

it.each(['made', 'restored'])(
  'archives no card that was %s by the run and into which another card was merged since',
  async (how) => {
    const { sides, plan, apply, card, syncState, undo } = await started();
    const second = sides.create('remote', fields('x', 'k7'));
    if (how === 'restored') {
      await apply(plan());
      const record = structuredClone(sides.records.get(second)!);
      sides.remove('local', syncState.pairs.get(second)!.cardId, false);
      sides.remove('remote', second, true);
      await apply(plan());
      sides.tombstones.length = 0;
      sides.records.set(second, record);
    }
    const made = await plan();
    expect(made.rows.map(({ action }) => action)).toEqual([how === 'made' ? 'create' : 'restore']);
    await apply(made);
    const into = syncState.pairs.get(second)!.cardId;
    sides.merge('local', card, into);
    expect((await undo(made)).counts).toMatchObject({ applied: 0, stale: 1 });
    expect(sides.objects('local').map(({ id }) => id)).toEqual([into]);
  },
);

it('pairs the created objects again when the undo is undone', async () => {
  const { sides, plan, apply, syncState, undo } = await started();
  sides.create('remote', fields('x', 'k7'));
  sides.create('local', fields('y', 'k8'));
  const made = await plan();
  await apply(made);
  const basesOf = () =>
    [...syncState.pairs.values()].map(({ base, origin, state }) => ({ base, origin, state }));
  const bases = basesOf();
  const names = (['local', 'remote'] as const).map((side) => sides.objects(side).length);
  let last = made;
  for (const [id, count] of [
    ['undo', 1],
    ['redo', 3],
    ['undo again', 1],
    ['redo again', 3],
  ] as const) {
    const { plan: undone, counts } = await undo(last, { id });
    last = undone;
    expect(counts).toMatchObject({ applied: 2, stale: 0 });
    expect(syncState.pairs.size).toBe(count);
  }
  expect(basesOf()).toEqual(bases);
  expect((['local', 'remote'] as const).map((side) => sides.objects(side).length)).toEqual(names);
  expect((await plan()).rows).toEqual([]);
});

it('clears no value when the first base is undone repeatedly', async () => {
  const { sides, plan, apply, card, remote, syncState, undo } = await started();
  syncState.pairs.get(remote)!.base = {};
  sides.edit('remote', remote, 'name', 'b');
  const ruled = mapping.fields.map((field) => ({ ...field, direction: 'remote_leads' as const }));
  let last = await plan({ fields: ruled });
  await apply(last);
  for (const name of ['a', 'b', 'a', 'b']) {
    const { plan: undone, counts } = await undo(last, { id: `to ${name}` });
    last = undone;
    expect(counts.stale).toBe(0);
    expect(sides.cards.get(card)?.fields.name).toBe(name);
  }
  // it has another value now
  sides.edit('local', card, 'name', 'c');
  await undo(last, { id: 'too late' });
  expect(sides.cards.get(card)?.fields.name).toBe('c');
});

it('creates no second record for a card that was merged into another one', async () => {
  const { sides, plan, apply, outcomes, card, journal, undo } = await started();
  const merged = sides.create('local', fields('y', 'k8'));
  const made = await plan();
  await apply(made);
  const { plan: back } = await undo(made);
  const ends = new Map(outcomes);
  journal.clear();
  await apply({ ...(await plan()), id: 'made anew' });
  sides.merge('local', merged, card);
  const count = sides.records.size;
  expect([(await undo(back, { id: 'redo', ends })).counts.stale, sides.records.size]).toEqual([1, count]);
});

it('creates no record for a card that is gone', async () => {
  const { sides, plan, apply, outcomes, journal, undo } = await started();
  const card = sides.create('local', fields('y', 'k8'));
  const made = await plan();
  await apply(made);
  const { plan: back } = await undo(made);
  const ends = new Map(outcomes);
  journal.clear();
  await apply({ ...(await plan()), id: 'made anew' });
  sides.remove('local', card, true);
  await apply(plan({ sync_mode: 'additive' }));
  const count = sides.records.size;
  expect([(await undo(back, { id: 'redo', ends })).counts.stale, sides.records.size]).toEqual([1, count]);
});

it('restores a removed card, and creates a removed record again', async () => {
  for (const side of ['local', 'remote'] as const) {
    const { sides, plan, apply, card, remote, undo } = await started();
    sides.remove(side === 'local' ? 'remote' : 'local', side === 'local' ? remote : card, true);
    await apply(plan());
    const made = await plan();
    await apply(made);
    expect(sides.objects(side)).toEqual([]);
    expect((await undo(made)).counts).toMatchObject({ applied: 1 });
    expect(sides.objects(side).map(({ fields: { name } }) => name)).toEqual(['a']);
    // the bases are restored too: the removal is proposed again, and nothing is created
    expect((await plan()).rows.map((row) => [row.action, row.side])).toEqual([['delete', side]]);
  }
});
