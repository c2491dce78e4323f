// @redis
import { createCard, patchCard } from '../../../../domain/inventory/cards/cards.write.ts';
import { openImports } from '../../../support/imports.ts';

const { t, imports } = await openImports();

const row = (type: string, external_id: string, parent: string | null | undefined, more: object) => ({
  type,
  external_id,
  name: external_id,
  ...(parent === null ? { parent_id: null } : parent === undefined ? {} : { parent_external_id: parent }),
  ...more,
});
const app = (external_id: string, parent?: string | null, more: object = {}) =>
  row('Application', external_id, parent, more);
const cap = (external_id: string, parent?: string | null, more: object = {}) =>
  row('BusinessCapability', external_id, parent, more);
const upsert = (rows: object[]) => imports.run(rows, { mode: 'upsert' });

/** The name of each card's parent (`-` for a root), and its level, by external id. */
async function tree(prefix: string): Promise<Record<string, string>> {
  const rows = await t.services
    .db('cards as c')
    .leftJoin('cards as p', 'p.id', 'c.parent_id')
    .where('c.external_id', 'like', `${prefix}%`)
    .select('c.external_id', 'p.external_id as parent', 'c.attributes');
  return Object.fromEntries(
    rows.map(({ external_id, parent, attributes }) => [
      external_id,
      [parent ?? '-', attributes.capabilityLevel].filter(Boolean).join(' '),
    ]),
  );
}

describe('parents', () => {
  it('are the same by their id and by their path, which can be the one before or after the import', async () => {
    await imports.run([app('V-1'), app('V-2', 'V-1'), app('V-3', 'V-2'), app('V-4'), app('V-5')]);
    const ids = Object.fromEntries(
      (await t.services.db('cards').whereLike('external_id', 'V-%').select('id', 'external_id')).map(
        ({ id, external_id }) => [external_id, id],
      ),
    );
    const below = (id: string, parent: string, parent_path: string[], more: object = {}) => ({
      ...{ type: 'Application', id: ids[id], parent_id: ids[parent], parent_path },
      ...more,
    });
    const same = await upsert([below('V-3', 'V-2', ['v-1', 'V-2']), below('V-2', 'V-1', ['V-1'])]);
    expect([same.faults, same.job.counts]).toMatchObject([{}, { unchanged: 2 }]);
    const other = await upsert([
      below('V-3', 'V-2', ['V-1', 'V-4']),
      below('V-2', 'V-1', ['Nowhere']),
      app('V-5', 'V-4', { parent_path: ['V-1'] }),
      { type: 'Application', id: ids['V-4'], parent_path: ['V-1'] },
    ]);
    // the id of the first is still that of the stored parent, and so the path is what was edited
    expect(other.faults).toEqual({
      2: ['parent_path other_parent_path'],
      3: ['parent_path other_parent_path'],
    });
    expect(other.report[1]!.errors[0]!.message).toBe(
      'is not the path of the card in parent_external_id: leave one of both empty',
    );
    // renamed and moved at once: the old paths and the new ones are right
    const moved = await upsert([
      below('V-2', 'V-5', ['V-5'], { name: 'Second' }),
      below('V-3', 'V-2', ['V-1', 'V-2']),
      app('V-6', 'V-2', { parent_path: ['V-5', 'Second'] }),
    ]);
    expect(moved.faults).toEqual({});
    expect(await tree('V-')).toEqual({
      ...{ 'V-1': '-', 'V-2': 'V-5', 'V-3': 'V-2', 'V-4': 'V-1', 'V-5': '-', 'V-6': 'V-2' },
    });
  });

  it('move to where the path or the id was edited, and nowhere by what may be a former name', async () => {
    await imports.run([app('W-1'), app('W-2', 'W-1'), app('W-3', 'W-1'), app('W-4', 'W-2')]);
    const ids = Object.fromEntries(
      (await t.services.db('cards').whereLike('external_id', 'W-%').select('id', 'external_id')).map(
        ({ id, external_id }) => [external_id, id],
      ),
    );
    const row = (id: string, parent: string, ...parent_path: string[]) => ({
      ...{ type: 'Application', id: ids[id], parent_id: ids[parent], parent_path },
    });
    // W-3 moves below W-2 by its path, which the path of a new card below it says too
    const byPath = await upsert([
      row('W-3', 'W-1', 'W-1', 'W-2'),
      app('W-5', undefined, { parent_path: ['W-1', 'W-2', 'W-3'] }),
      row('W-4', 'W-2', 'W-1', 'W-2'),
    ]);
    expect([byPath.faults, byPath.job.counts]).toMatchObject([{}, { created: 1, updated: 1, unchanged: 1 }]);
    expect(await tree('W-')).toEqual({ 'W-1': '-', 'W-2': 'W-1', 'W-3': 'W-2', 'W-4': 'W-2', 'W-5': 'W-3' });
    const byId = await upsert([row('W-4', 'W-3', 'W-1', 'W-2')]);
    expect([byId.faults, byId.job.counts]).toMatchObject([{}, { updated: 1 }]);
    expect(await tree('W-')).toMatchObject({ 'W-4': 'W-3' });
    // written before W-2 was renamed, when the path was that of W-2; meanwhile another card has the name
    await upsert([
      { type: 'Application', id: ids['W-2'], name: 'Renamed' },
      app('W-6', 'W-1', { name: 'W-2' }),
    ]);
    const stale = await upsert([row('W-3', 'W-2', 'W-1', 'W-2')]);
    expect(stale.faults).toEqual({ 1: ['parent_path other_parent_path'] });
    const several = await upsert([row('W-4', 'W-1', 'W-1', 'W-2')]);
    expect(several.faults).toEqual({ 1: ['parent_path other_parent_path'] });
  });

  it('are found in the file before and behind, in the inventory, and along paths', async () => {
    await imports.run([app('P-0')]);
    const { job } = await imports.run([
      app('P-3', 'P-2'),
      app('P-1', 'P-0'),
      app('P-2', 'P-1'),
      { type: 'Application', external_id: 'P-4', name: 'P-4', parent_path: ['p-0', ' P-1 ', 'P-2'] },
      {
        type: 'Application',
        external_id: 'P-6',
        name: 'P-6',
        parent_path: ['P-0', 'P-1', 'P-2', 'P-4', 'Mid'],
      },
      { type: 'Application', external_id: 'P-5', name: 'Mid', parent_path: ['P-0', 'P-1', 'P-2', 'P-4'] },
    ]);
    expect(job.counts).toMatchObject({ created: 6, failed: 0 });
    expect(await tree('P-')).toEqual({
      'P-0': '-',
      'P-1': 'P-0',
      'P-2': 'P-1',
      'P-3': 'P-2',
      'P-4': 'P-2',
      'P-5': 'P-4',
      'P-6': 'P-5',
    });
  });

  it('that are not there, of another type or cannot be, fail their rows and what lies below', async () => {
    await imports.run([
      app('Q-0'),
      app('Q-1', undefined, { status: 'ARCHIVED' }),
      row('Provider', 'Q-P', undefined, {}),
    ]);
    const { faults } = await imports.run([
      app('Q-2', 'Q-P'),
      app('Q-3', 'Q-2'),
      app('Q-4', 'Q-3'),
      app('Q-5', undefined, { parent_id: (await imports.card('Q-P')).id }),
      app('Q-6', undefined, { parent_path: ['Q-0', 'nowhere'] }),
      app('Q-7', 'Q-1'),
      row('Provider', 'Q-8', 'Q-P', {}),
      app('Q-9', undefined, { parent_id: '0f6f1c1e-7a1e-4f7e-9d3c-2b1a5e8d7c60' }),
      app('Q-10', 'Q-10'),
      app('Q-11', 'Q-10'),
      app('Q-12', 'Q-1', { status: 'ARCHIVED' }),
    ]);
    expect(faults).toEqual({
      1: ['parent_external_id unknown_parent'],
      2: ['parent_external_id parent_failed'],
      3: ['parent_external_id parent_failed'],
      4: ['parent_id parent_type'],
      5: ['parent_path unknown_parent'],
      6: ['parent_external_id parent_archived'],
      7: ['parent_external_id parent_type'],
      8: ['parent_id unknown_parent'],
      9: ['parent_external_id parent_cycle'],
      10: ['parent_external_id parent_failed'],
    });
  });

  it('whose row fails, but that exist, take their children nevertheless', async () => {
    await imports.run([app('R-0')]);
    const { faults } = await upsert([
      app('R-0', undefined, { lifecycle: { active: 'soon' } }),
      app('R-1', 'R-0'),
    ]);
    expect(faults).toEqual({ 1: ['lifecycle.active bad_date'] });
    expect(await tree('R-')).toEqual({ 'R-0': '-', 'R-1': 'R-0' });
  });
});

describe('moves', () => {
  it('turn a branch upside down, and back into roots', async () => {
    await imports.run([app('M-1'), app('M-2', 'M-1'), app('M-3', 'M-2')]);
    const turned = await upsert([app('M-1', 'M-3'), app('M-3', null), app('M-2', 'M-1')]);
    expect(turned.job.counts).toMatchObject({ updated: 2, unchanged: 1, failed: 0 });
    expect(await tree('M-')).toEqual({ 'M-3': '-', 'M-1': 'M-3', 'M-2': 'M-1' });
    const events = await imports.events();
    expect(events.map(({ event_type, data }) => [event_type, Object.keys(data.changes)])).toEqual([
      ['card.updated', ['parent_id']],
      ['card.updated', ['parent_id']],
    ]);
  });

  it('that close a loop are refused, each row of it, also by cards that the file does not name', async () => {
    await imports.run([app('L-1'), app('L-2', 'L-1'), app('L-3', 'L-2'), app('L-4')]);
    const { faults } = await upsert([
      app('L-1', 'L-5'),
      app('L-5', 'L-3'),
      app('L-6', 'L-5'),
      app('L-4', 'L-1'),
    ]);
    expect(faults).toEqual({
      1: ['parent_external_id parent_cycle'],
      2: ['parent_external_id parent_cycle'],
      3: ['parent_external_id parent_failed'],
    });
    expect(await tree('L-')).toEqual({ 'L-1': '-', 'L-2': 'L-1', 'L-3': 'L-2', 'L-4': 'L-1' });
  });
});

it('capability levels follow from the place, below a Macro one less, also of cards not in the file', async () => {
  await imports.run([
    cap('C-0', undefined, { attributes: { capabilityLevel: 'Macro' } }),
    cap('C-1', 'C-0'),
    cap('C-2', 'C-1', { attributes: { capabilityLevel: 'L5' } }),
    cap('C-3', 'C-2'),
    cap('C-9'),
  ]);
  const before = { 'C-0': '- Macro', 'C-1': 'C-0 L1', 'C-2': 'C-1 L2', 'C-3': 'C-2 L3', 'C-9': '- L1' };
  expect(await tree('C-')).toEqual(before);
  await upsert([cap('C-1', 'C-9'), cap('C-4', 'C-3')]);
  const moved = await tree('C-');
  expect(moved).toEqual({ ...before, 'C-1': 'C-9 L2', 'C-2': 'C-1 L3', 'C-3': 'C-2 L4', 'C-4': 'C-3 L5' });
  const changes = (await imports.events()).map(({ data }) => [data.name, Object.keys(data.changes)]);
  expect(changes).toContainEqual(['C-3', ['attributes.capabilityLevel']]);
  expect((await upsert([cap('C-9', 'C-8'), cap('C-8'), cap('C-5', 'C-4')])).faults).toEqual({
    1: ['parent_external_id capability_too_deep'],
    3: ['parent_external_id capability_too_deep'],
  });
  await upsert([cap('C-9', undefined, { attributes: { capabilityLevel: 'Macro' } })]);
  expect(await tree('C-')).toMatchObject({ 'C-9': '- Macro', 'C-1': 'C-9 L1', 'C-4': 'C-3 L4' });
  const macro = await upsert([
    cap('C-9', 'C-0'),
    cap('C-7', 'C-0', { attributes: { capabilityLevel: 'Macro' } }),
    cap('C-6', undefined, { attributes: { capabilityLevel: 'L9' } }),
  ]);
  expect(macro.faults).toEqual({
    1: ['attributes.capabilityLevel macro_not_root'],
    2: ['attributes.capabilityLevel macro_not_root'],
    3: ['attributes.capabilityLevel unknown_option'],
  });
});

it('names are unique among active siblings, whatever stands in the file or has failed', async () => {
  await imports.run([app('S-0'), app('S-1', 'S-0', { name: 'Taken' })]);
  const { faults } = await imports.run([
    app('S-2', 'S-0', { name: ' TAKEN' }),
    app('S-3', undefined, { name: 'Same', lifecycle: { active: 'never' } }),
    app('S-4', undefined, { name: 'same' }),
    app('S-5', undefined, { name: 'SAME ' }),
    app('S-6', 'S-0', { name: 'same' }),
    app('S-7', undefined, { name: 'same', status: 'ARCHIVED' }),
    row('Provider', 'S-8', undefined, { name: 'same' }),
  ]);
  expect(faults).toEqual({
    1: ['name sibling_name_taken'],
    2: ['lifecycle.active bad_date'],
    4: ['name sibling_name_taken'],
  });
});

it('status archives with all children or not at all, and restores', async () => {
  await imports.run([app('A-1'), app('A-2', 'A-1'), app('A-3', 'A-2'), app('A-4', 'A-1')]);
  const archived = { status: 'ARCHIVED' };
  const part = await upsert([app('A-1', undefined, archived), app('A-2', undefined, archived)]);
  expect(part.faults).toEqual({ 1: ['status children_present'], 2: ['status children_present'] });
  const all = await upsert([
    app('A-1', undefined, archived),
    app('A-2', undefined, archived),
    app('A-3', undefined, { ...archived, description: 'gone' }),
    app('A-4', null),
    app('A-5', 'A-2'),
  ]);
  expect(all.faults).toEqual({ 5: ['parent_external_id parent_archived'] });
  expect((await imports.events()).map(({ event_type, data }) => `${event_type} ${data.name}`).sort()).toEqual(
    ['card.archived A-1', 'card.archived A-2', 'card.archived A-3', 'card.updated A-4'],
  );
  const one = await imports.card('A-3');
  expect(one.archived_at).not.toBeNull();
  expect(one.archive_batch_id).toBe((await imports.card('A-1')).archive_batch_id);
  const active = { status: 'ACTIVE' };
  const wrong = await upsert([app('A-3', undefined, active)]);
  expect(wrong.faults).toEqual({ 1: ['parent_id parent_archived'] });
  const restored = await upsert([app('A-2', undefined, active), app('A-1', undefined, active)]);
  expect(restored.job.counts).toMatchObject({ updated: 2 });
  const types = (await imports.events()).map(({ event_type }) => event_type);
  expect(types).toEqual(['card.restored', 'card.restored']);
});

it('hierarchies of any type have at most 100 levels, by rows, by new cards and by moves', async () => {
  const chain = Array.from({ length: 102 }, (_, n) => app(`D-${n + 1}`, n === 0 ? undefined : `D-${n}`));
  const { faults, job } = await imports.run(chain);
  expect(job.counts).toMatchObject({ created: 100, failed: 2 });
  expect(faults).toEqual({ 101: ['parent_external_id too_deep'], 102: ['parent_external_id too_deep'] });
  const ctx = await t.ctx();
  const tooDeep = { errors: [expect.objectContaining({ field: 'parent_id', code: 'too_deep' })] };
  const last = await imports.card('D-100');
  const leaf = { type: 'Application', name: 'D-leaf' };
  await expect(createCard(ctx, { ...leaf, parent_id: last.id })).rejects.toMatchObject(tooDeep);

  await imports.run([app('D-top')]);
  const top = await imports.card('D-top');
  const root = await imports.card('D-1');
  await expect(patchCard(ctx, root.id, { parent_id: top.id })).rejects.toMatchObject(tooDeep);
  expect((await upsert([app('D-1', 'D-top')])).faults).toEqual({ 1: ['parent_external_id too_deep'] });
  await patchCard(ctx, (await imports.card('D-2')).id, { parent_id: top.id });
  expect((await tree('D-'))['D-2']).toBe('D-top');
});
