import { loadDemo } from '../../../../domain/app/demo/demo.load.ts';
import { appPermissions } from '../../../../domain/kernel/permissions/permissions.data.ts';
import { addRows, archiveRows, changeRows, preview } from '../../../support/archive-rows.ts';
import {
  applyArchive,
  exportArchive,
  openTwoServices,
  pack,
  transferOf,
  unpack,
} from '../../../support/archives.ts';
import { postFile } from '../../../support/forms.ts';
import { until } from '../../../support/until.ts';

/* An archive of one demo goes into a service with a demo of its own: other ids, the same landscape. */
const { source, target } = await openTwoServices();
await loadDemo(await source.ctx(), '2026-01-15');
await loadDemo(await target.ctx(), '2026-01-15');
const there = await source.as('admin');
const { body: card } = await there.post('/api/v1/cards', {
  type: 'Application',
  name: 'Brought along',
  external_id: 'NEW-1',
});
await there.post('/api/v1/cards', { type: 'Application', name: 'In the way' });
await there.patch('/api/v1/metamodel/types/Application', { description: 'As it is there' });
const known = await source.services
  .db('cards')
  .where({ type: 'Application' })
  .whereNotNull('external_id')
  .orderBy('external_id')
  .first();
await there.patch(`/api/v1/cards/${known.id}`, { description: 'Described there' });
await there.post(`/api/v1/cards/${card.id}/comments`, { content: 'Said there' });
await there.patch('/api/v1/settings/currency', { currency: 'EUR' });
const vocabulary = { synonyms: [['Order Management', 'Bestellwesen']], vendors: ['Acme'] };
await there.patch('/api/v1/settings/matching-vocabulary', vocabulary);
const admin = await target.as('admin');
await admin.post('/api/v1/cards', { type: 'Application', name: 'In the way', external_id: 'OWN-1' });
await admin.post('/api/v1/cards', { type: 'Application', name: 'Of its own', external_id: 'OWN-2' });
const parts = await unpack(await exportArchive(source.services, await source.ctx()));
it('finds what is here by its names, brings what is new, changes what differs, and deletes nothing', async () => {
  const { db } = target.services;
  const ctx = await target.ctx();
  const before = await db('cards').pluck('id');
  const { id, diff } = await preview(target, parts);
  expect(diff!.kinds.cards).toMatchObject({ create: 1, update: 1, conflict: 1 });
  expect(diff!.kinds.relations).toMatchObject({ create: 0, update: 0, conflict: 0 });
  expect(diff!.kinds.tags).toMatchObject({ create: 0, update: 0, conflict: 0 });
  expect(diff!.kinds.card_types).toMatchObject({ create: 0, update: 1 });
  expect(diff!.conflicts).toMatchObject([
    { kind: 'cards', key: 'Application/In the way', code: 'taken:cards_sibling_name' },
  ]);
  expect((await applyArchive(ctx, id)).result!.left).toEqual(diff!.conflicts);
  const after = await db('cards').pluck('id');
  expect(after).toEqual(expect.arrayContaining(before));
  expect(after.length).toBe(before.length + 1);
  const brought = await db('cards').where({ external_id: 'NEW-1' }).first();
  expect(await db('comments').where({ card_id: brought.id }).pluck('content')).toEqual(['Said there']);
  expect(await db('cards').where({ description: 'Described there' }).pluck('type')).toEqual(['Application']);
  expect((await admin.get('/api/v1/settings/currency')).body).toMatchObject({ currency: 'EUR' });
  expect((await admin.get('/api/v1/settings/matching-vocabulary')).body).toEqual(vocabulary);
  expect((await admin.get('/api/v1/metamodel/types/Application')).body.description).toBe('As it is there');
  const { body: history } = await admin.get(`/api/v1/cards/${brought.id}/history`);
  expect(history.items.map(({ event_type }: { event_type: string }) => event_type)).toContain('card.created');

  expect((await preview(target, parts)).diff!.totals).toMatchObject({ create: 0, update: 0, conflict: 1 });
}, 60_000);

it('takes nothing from values that lie under a type, and nothing that the importer may not give', async () => {
  const narrowed = changeRows(parts, 'card_types', ({ key }) =>
    key === 'Application' ? { subtypes: [] } : undefined,
  );
  expect((await preview(target, narrowed)).diff!.conflicts).toContainEqual(
    expect.objectContaining({ kind: 'card_types', key: 'Application', code: 'values_do_not_fit' }),
  );
}, 60_000);

it('takes an archive of an older schema, whose rows lack columns', async () => {
  const older = changeRows(parts, 'cards', () => ({ alias: undefined }));
  const manifest = JSON.parse(older.get('manifest.json')!.toString());
  manifest.schema_version = '0000-before';
  const file = manifest.files.find(({ kind }: { kind: string }) => kind === 'cards');
  file.columns = file.columns.filter((column: string) => column !== 'alias');
  older.set('manifest.json', Buffer.from(JSON.stringify(manifest)));
  const { status, diff } = await preview(target, older);
  expect([status, diff!.totals.update]).toEqual(['previewed', 0]);
}, 60_000);

it('names what others take while it waits, and writes the rest', async () => {
  const { db } = target.services;
  const ctx = await target.ctx();
  const late = [1, 2, 3].map((n) => ({
    id: `00000000-0000-4000-8000-00000000000${n}`,
    parent_id: null,
    external_id: `LATE-${n}`,
    name: `Late ${n}`,
  }));
  const { id, diff } = await preview(target, addRows(parts, 'cards', late));
  expect(diff!.kinds.cards).toMatchObject({ create: 3 });
  const { type } = archiveRows(parts, 'cards')[0]!;
  expect((await admin.post('/api/v1/cards', { type, name: 'Late 2' })).status).toBe(201);
  const { result } = await applyArchive(ctx, id);
  expect(result!.kinds.cards).toMatchObject({ create: 2, conflict: 2 });
  expect(result!.left).toContainEqual(
    expect.objectContaining({ kind: 'cards', key: `${type}/LATE-2`, code: 'taken:cards_sibling_name' }),
  );
  expect(
    await db('cards').where('external_id', 'like', 'LATE-%').orderBy('external_id').pluck('external_id'),
  ).toEqual(['LATE-1', 'LATE-3']);
}, 60_000);

it('lets nobody give by an archive what he does not hold himself', async () => {
  const roles = addRows(parts, 'roles', [
    { key: 'almighty', label: 'Almighty', permissions: { '*': true } },
    { key: 'boundless', label: 'Boundless', permissions: { '*': true } },
    { key: 'modest', label: 'Modest', permissions: { 'costs.view': true } },
  ]);
  await admin.post('/api/v1/roles', {
    key: 'mover',
    label: 'Mover',
    color: '#000000',
    // every permission by its key, and not what is still to come
    permissions: Object.fromEntries(Object.keys(appPermissions).map((key) => [key, true])),
  });
  const mover = await target.as('mover');
  const sent = await postFile(mover, '/api/v1/admin/workspace/import', 'w.zip', await pack(roles));
  const ctx = await target.ctx();
  const read = await until('the transfer to be read', async () => {
    const transfer = await transferOf(ctx, sent.body.id);
    return transfer.status === 'parsing' ? undefined : transfer;
  });
  expect(read.diff!.conflicts).toContainEqual(
    expect.objectContaining({ kind: 'roles', key: 'almighty', code: 'unknown_permission' }),
  );
  expect(read.diff!.conflicts).toContainEqual(expect.objectContaining({ kind: 'roles', key: 'boundless' }));
  expect(read.diff!.kinds.roles).toMatchObject({ create: 1 });
  // not even an administrator brings a second role with the wildcard
  expect((await preview(target, roles)).diff!.conflicts).toContainEqual(
    expect.objectContaining({ kind: 'roles', key: 'boundless' }),
  );
}, 60_000);
