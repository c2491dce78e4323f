import { field, makeType } from '../../../api/metamodel/metamodel.fixture.ts';
import { addRows, archiveRows, changeRows, preview } from '../../../support/archive-rows.ts';
import {
  applyArchive,
  exportArchive,
  only,
  openTwoServices,
  unpack,
  uploadArchive,
} from '../../../support/archives.ts';

/* Archives are changed by hand: limits across rows are checked like those of requests. */
const { source, target } = await openTwoServices();
const admin = await source.as('admin');
const there = await target.as('admin');
const fields = [field('memo', 'text'), field('size', 'number'), field('free', 'number')];
const type = await makeType(admin, fields, { has_hierarchy: true });
const card = await admin.create('/api/v1/cards', { type, name: 'Root', attributes: { free: 1 } });
await admin.create('/api/v1/calculations', {
  name: 'Memo',
  target_type_key: type,
  target_field_key: 'memo',
  formula: "'a'",
});
const log = 'One line of a log.\n'.repeat(400_000);
const form = new FormData();
form.append('file', new Blob([log]), 'log.txt');
const request = new Request('http://estate.example', { method: 'POST', body: form });
const attached = await admin.request({
  method: 'POST',
  url: `/api/v1/cards/${card.id}/file-attachments`,
  headers: { 'content-type': request.headers.get('content-type')! },
  payload: Buffer.from(await request.arrayBuffer()),
});
expect(attached.status, attached.text).toBe(201);
const parts = await unpack(await exportArchive(source.services, await source.ctx()));
const numbered = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

it('imports an archive whose attachment compresses to less than a 250th', async () => {
  const archive = await exportArchive(source.services, await source.ctx());
  const { status, error_message } = await uploadArchive(target.services, await target.ctx(), archive);
  expect([status, error_message]).toEqual(['previewed', null]);
});

const small = only(parts, /^(?:users|settings|card_types|cards|calculations)$/);

it('skips formulas that cannot be active together, and ends', async () => {
  const formula = (n: number, target_field_key: string, text: string, more: object = {}) => ({
    ...{ id: numbered(n), name: `F${n}`, target_field_key, formula: text, is_active: true, ...more },
  });
  const rows = [
    formula(1, 'memo', "'a'"),
    formula(2, 'memo', "'b'", { execution_order: -1 }),
    formula(3, 'size', 'data.free + 1'),
    formula(4, 'free', 'data.size + 1'),
    formula(5, 'size', '1 +', { is_active: false }),
    formula(6, 'nothing', '1', { is_active: false }),
    formula(7, 'size', '1', { is_active: false, target_type_key: 'Nothing' }),
  ];
  const { id, diff } = await preview(target, addRows(small, 'calculations', rows));
  expect(diff!.conflicts.map(({ kind, key, code, field: at }) => [kind, key, code, at])).toEqual([
    ['calculations', 'F2', 'field_calculated', null],
    ['calculations', 'F3', 'calculation_cycle', null],
    ['calculations', 'F4', 'calculation_cycle', null],
    ['calculations', 'F5', 'bad_formula', 'formula'],
    ['calculations', 'F6', 'unknown_attribute', 'target_field_key'],
    ['calculations', 'F7', 'unknown_type', 'target_type_key'],
  ]);
  expect((await applyArchive(await target.ctx(), id)).status).toBe('applied');
  const { body } = await there.get('/api/v1/calculations');
  expect(body.items.filter((item: { is_active: boolean }) => item.is_active)).toMatchObject([
    { name: 'F1', target_field_key: 'memo' },
  ]);
  expect(await target.services.db('cards').pluck('attributes')).toEqual([{ free: 1, memo: 'a' }]);
});

it('checks formulas again when it writes them, with those activated meanwhile', async () => {
  const row = {
    ...{ id: numbered(10), name: 'F10', target_field_key: 'size', formula: '5' },
    is_active: true,
  };
  const { id, diff } = await preview(target, addRows(small, 'calculations', [row]));
  expect(diff!.conflicts).toEqual([]);
  const other = await there.create('/api/v1/calculations', {
    ...{ name: 'Meanwhile', target_type_key: type, target_field_key: 'size', formula: '6' },
  });
  await there.post(`/api/v1/calculations/${other.id}/activate`);
  const { status, result } = await applyArchive(await target.ctx(), id);
  expect([status, result!.left.map(({ key, code }) => [key, code])]).toEqual([
    'applied',
    [['F10', 'field_calculated']],
  ]);
});

it('skips cards that would lie below level 100, also below cards here', async () => {
  const root = archiveRows(small, 'cards')[0]!;
  const chain = Array.from({ length: 130 }, (_, n) => ({
    ...{ id: numbered(100 + n), name: `C${n}`, external_id: null },
    parent_id: n === 0 ? root.id : numbered(99 + n),
  }));
  const { diff } = await preview(target, addRows(small, 'cards', chain));
  const codes = diff!.conflicts.map(({ key, code, field: at }) => [key, code, at]);
  expect(codes).toContainEqual([`${type}/C99`, 'too_deep', 'parent_id']);
  expect(codes.length).toBe(31);
  const below = changeRows(addRows(small, 'cards', chain.slice(0, 99)), 'cards', ({ id }) =>
    id === root.id ? null : undefined,
  );
  const first = await preview(target, below);
  expect(first.diff!.kinds.cards).toMatchObject({ create: 99, conflict: 0 });
  // Meanwhile the root moves down, so that the last one has no place.
  const above = await there.create('/api/v1/cards', { type, name: 'Above' });
  const [stored] = await target.services.db('cards').where({ name: 'Root' }).pluck('id');
  const moved = await there.patch(`/api/v1/cards/${stored}`, { parent_id: above.id });
  expect(moved.status, moved.text).toBe(200);
  const { status, result } = await applyArchive(await target.ctx(), first.id);
  expect(status).toBe('applied');
  expect(result!.left.map(({ key, code }) => [key, code])).toEqual([[`${type}/C98`, 'too_deep']]);
});

it('skips capabilities below the last level, also below cards here', async () => {
  const capability = { type: 'BusinessCapability', name: 'Top' };
  const top = await admin.create('/api/v1/cards', capability);
  const given = only(
    await unpack(await exportArchive(source.services, await source.ctx())),
    /^(?:users|settings|card_types|cards)$/,
  );
  const root = archiveRows(given, 'cards').find(({ id }) => id === top.id)!;
  const chain = (from: number, levels: string[], parent_id: string | null = null) =>
    levels.map((capabilityLevel, n) => ({
      ...root,
      ...{ id: numbered(from + n), name: `C${from + n}`, attributes: { capabilityLevel } },
      parent_id: n === 0 ? parent_id : numbered(from + n - 1),
    }));
  const levels = ['L1', 'L2', 'L3', 'L4', 'L5', 'L5'];
  const { diff } = await preview(
    target,
    addRows(given, 'cards', [...chain(300, levels), ...chain(400, ['Macro', ...levels])]),
  );
  expect(diff!.conflicts.map(({ key, code, field: at }) => [key, code, at])).toEqual([
    ['BusinessCapability/C305', 'capability_too_deep', 'parent_id'],
    ['BusinessCapability/C406', 'capability_too_deep', 'parent_id'],
  ]);

  await applyArchive(await target.ctx(), (await preview(target, given)).id);
  const below = await preview(target, addRows(given, 'cards', chain(500, levels.slice(1, 5), top.id)));
  expect(below.diff!.totals.conflict).toBe(0);
  // Meanwhile the card above them moves down.
  const above = await there.create('/api/v1/cards', { ...capability, name: 'Above' });
  const [stored] = await target.services.db('cards').where({ name: 'Top' }).pluck('id');
  const moved = await there.patch(`/api/v1/cards/${stored}`, { parent_id: above.id });
  expect(moved.status, moved.text).toBe(200);
  const { status, result } = await applyArchive(await target.ctx(), below.id);
  expect(status).toBe('applied');
  expect(result!.left.map(({ key, code }) => [key, code])).toEqual([
    ['BusinessCapability/C503', 'capability_too_deep'],
  ]);
});
