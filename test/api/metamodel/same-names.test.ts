// @redis
import { rollBack } from '../../../domain/app/batches/batches.rollback.ts';
import { startWorkers } from '../../../workers/runtime.ts';
import { closeAfterAll, expectProblem, openApp } from '../../support/harness.ts';
import { createImporter } from '../../support/imports.ts';

const { t, db, admin } = await openApp(['admin']);
closeAfterAll(await startWorkers(t.services));
const imports = createImporter(t.services, await t.ctx());
const TYPE = 'BusinessCapability';
const allow = (allow_same_name: boolean) =>
  admin.patch(`/api/v1/metamodel/types/${TYPE}`, { allow_same_name });
const create = (name: string, external_id?: string, more: object = {}) =>
  admin.post('/api/v1/cards', { type: TYPE, name, ...(external_id && { external_id }), ...more });
const row = (name: string, external_id?: string, more: object = {}) => ({
  ...{ type: TYPE, name, ...more },
  ...(external_id && { external_id }),
});

it('is off by default, and lets cards with external ids share a name when it is on', async () => {
  const first = (await create('Billing', 'S-1')).body;
  await expectProblem(await create('Billing', 'S-2'), 409, 'sibling_name_taken');
  expect((await allow(true)).body.allow_same_name).toBe(true);
  expect((await create('billing', 'S-2')).status).toBe(201);
  await expectProblem(await create('Billing'), 409, 'sibling_name_taken');
  expect((await create('Billing', undefined, { parent_id: first.id })).status).toBe(201);
  // neither gives up its external id while they share the name
  await expectProblem(
    await admin.patch(`/api/v1/cards/${first.id}`, { external_id: null }),
    409,
    'sibling_name_taken',
  );
  const lone = (await create('Alone')).body;
  await expectProblem(await create('Alone', 'S-3'), 409, 'sibling_name_taken');
  await expectProblem(
    await admin.patch(`/api/v1/cards/${lone.id}`, { name: 'Billing' }),
    409,
    'sibling_name_taken',
  );
  const renamed = await admin.patch(`/api/v1/cards/${lone.id}`, { name: 'Billing', external_id: 'S-4' });
  expect(renamed.status).toBe(200);
});

it('is not switched off while cards share names', async () => {
  const refused = await allow(false);
  await expectProblem(refused, 409, 'same_names_present');
  expect(refused.body.card_count).toBe(3);
});

it('holds when cards are archived, restored and undone', async () => {
  const [a] = (await Promise.all(['A-1', 'A-2'].map((key) => create('Twin', key)))).map(({ body }) => body);
  await admin.post(`/api/v1/cards/${a.id}/archive`, {});
  const bare = await admin.patch(`/api/v1/cards/${a.id}`, { external_id: null });
  expect(bare.status).toBe(200);
  await expectProblem(await admin.post(`/api/v1/cards/${a.id}/restore`, {}), 409, 'sibling_name_taken');
  await admin.patch(`/api/v1/cards/${a.id}`, { external_id: 'A-1' });
  expect((await admin.post(`/api/v1/cards/${a.id}/restore`, {})).status).toBe(200);
});

it('lets an import identify them by external id, and refuses an ambiguous path', async () => {
  const { job, faults } = await imports.run([
    row('Import', 'I-1'),
    row('Import', 'I-2'),
    row('Other', 'I-3'),
    row('Other'),
    row('Billing'),
    row('Child', 'I-4', { parent_path: ['Billing'] }),
    row('Child', 'I-5', { parent_path: ['Import'] }),
    row('Child', 'I-6', { parent_external_id: 'S-2' }),
  ]);
  expect(faults).toEqual({
    4: ['name sibling_name_taken'],
    5: ['name sibling_name_taken'],
    6: ['parent_path ambiguous_path'],
    7: ['parent_path ambiguous_path'],
  });
  expect(job.counts).toMatchObject({ created: 4, failed: 4 });
  const again = await imports.run(
    [row('Import', 'I-1', { description: 'x' }), row('Import'), row('Import', 'I-2')],
    { mode: 'upsert' },
  );
  expect(again.job.counts).toMatchObject({ updated: 1, unchanged: 1, failed: 1 });
  expect(again.faults).toEqual({ 2: ['name ambiguous_path'] });
  await rollBack(await t.ctx(), job.id, { dry_run: false, force: true });
});

it('holds in bulk', async () => {
  const { body } = await admin.post('/api/v1/cards/bulk-create', {
    cards: [
      { row_index: 1, ...row('Bulk', 'B-1') },
      { row_index: 2, ...row('Bulk', 'B-2') },
      { row_index: 3, ...row('Bulk') },
      { row_index: 4, ...row('Below', 'B-4'), parent_path: ['Bulk'] },
    ],
  });
  expect(body.results.map(({ code }: { code: string | null }) => code)).toEqual([
    null,
    null,
    'sibling_name_taken',
    'ambiguous_path',
  ]);
});

it('never leaves two cards of one name without external ids, whoever writes them at once', async () => {
  const rounds = Array.from({ length: 12 }, (_, n) => n);
  const done = await Promise.all(
    rounds.flatMap((n) => [
      create(`Race ${n}`),
      create(`Race ${n}`, `R-${n}`),
      create(`Race ${n}`, `R-${n}-b`),
    ]),
  );
  expect(new Set(done.map(({ status }) => status))).toEqual(new Set([201, 409]));
  const { rows } = await db.raw(`select name from cards where name like 'Race %' group by name
    having count(*) > 1 and bool_or(external_id is null)`);
  expect(rows).toEqual([]);
  expect(await db('cards').whereLike('name', 'Race %').countDistinct('name').first()).toMatchObject({
    count: 12,
  });
});

it('makes names unique again when it is off', async () => {
  await db('cards')
    .where({ type: TYPE })
    .whereIn('external_id', ['S-1', 'S-2', 'A-1', 'B-1', 'I-1'])
    .update({ name: db.raw("name || ' ' || external_id") });
  for (const { id } of await db('cards')
    .where({ type: TYPE })
    .whereLike('name', 'Race %')
    .whereLike('external_id', '%-b'))
    await db('cards')
      .where({ id })
      .update({ name: db.raw("name || ' b'") });
  expect((await allow(false)).status).toBe(200);
  await expectProblem(await create('Race 1', 'other'), 409, 'sibling_name_taken');
  expect(await db('cards').whereNotNull('sibling_key').first('id')).toBeUndefined();
});
