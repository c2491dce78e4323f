// @redis

/** Writes of others between plan and batch. */

import type { Knex } from 'knex';
import { lockHierarchy } from '../../../../domain/inventory/cards/cards.load.ts';
import { mayBeSilent } from '../../../support/database.ts';
import { askImport, importResult, ndjson, openImports } from '../../../support/imports.ts';
import { jobRow } from '../../../support/jobs.ts';
import { until } from '../../../support/until.ts';

const { t, imports } = await openImports();

/** Runs an import that is planned before `change` is made, and written after it. */
async function overtaken(
  rows: object[],
  mode: 'create' | 'upsert',
  change: (trx: Knex.Transaction) => Promise<unknown>,
  { kind = 'cards', create_tags }: { kind?: 'cards' | 'relations'; create_tags?: boolean } = {},
) {
  const trx = await t.services.db.transaction();
  await mayBeSilent(trx);
  // what the batch takes first
  await lockHierarchy(trx, 'exclusive');
  if (kind === 'relations') await trx.raw('select from cards for update');
  const options = { format: 'ndjson', mode, kind, create_tags } as const;
  const id = await askImport(await t.ctx(), t.services, ndjson(rows), options);
  await until('the import to be planned', async () => {
    return ((await jobRow(t.services, id)).checkpoint as { stage?: string } | null)?.stage === 'apply';
  });
  await change(trx);
  await trx.commit();
  return await importResult(t.services, id);
}

const app = (external_id: string, more: object = {}) => ({
  type: 'Application',
  external_id,
  name: external_id,
  ...more,
});

it('fail only the rows whose keys or names they take', async () => {
  const { faults, job } = await overtaken(
    [app('K-1'), app('K-2'), app('K-3', { parent_external_id: 'K-2' }), app('K-4'), app('K-5')],
    'create',
    (trx) =>
      trx('cards').insert([
        { type: 'Application', name: 'other', external_id: 'K-2' },
        { type: 'Application', name: 'k-4' },
      ]),
  );
  expect(faults).toEqual({
    2: ['external_id external_id_taken'],
    3: ['parent_external_id parent_failed'],
    4: ['name sibling_name_taken'],
  });
  expect(job.counts).toMatchObject({ created: 2, failed: 3 });
});

it('fail rows with values of a field that they change, and say why', async () => {
  await imports.run([app('F-1'), app('F-2')]);
  const rows = [
    app('F-1', { attributes: { numberOfUsers: 5 } }),
    app('F-2', { description: 'mine' }),
    app('F-3', { attributes: { numberOfUsers: 7 } }),
    app('F-4'),
  ];
  const { report, job } = await overtaken(rows, 'upsert', async (trx) => {
    await trx.raw(`update card_types set fields_schema = (
      select jsonb_agg(section || jsonb_build_object('fields', (
        select jsonb_agg(case when field ->> 'key' = 'numberOfUsers' then field || '{"type": "text"}' else field end)
        from jsonb_array_elements(section -> 'fields') field)))
      from jsonb_array_elements(fields_schema) section) where key = 'Application'`);
    await trx.raw(`select raise_topics(array['metamodel'])`);
    // so that the batch, which began before, is tried again
    await trx('cards').insert({ type: 'Application', name: 'F-4', external_id: 'F-4' });
  });
  const message =
    'must be a text: the field was changed in the metamodel while the import ran; import this row again';
  const errorsOf = (value: string) => [
    { field: 'attributes.numberOfUsers', code: 'field_changed', message, value },
  ];
  expect(report.map(({ line, errors }) => [line, errors])).toEqual([
    [1, errorsOf('5')],
    [3, errorsOf('7')],
  ]);
  expect(job.counts).toMatchObject({ created: 0, updated: 1, unchanged: 1, failed: 2 });
});

it('fail no rows that name options which they rename', async () => {
  const rows = [app('O-1', { attributes: { timeModel: 'invest' } }), app('O-2')];
  const { report, job } = await overtaken(rows, 'upsert', async (trx) => {
    await trx.raw(`update card_types set fields_schema = replace(fields_schema::text, '"key": "invest"',
      '"key": "grow", "aliases": [{"key": "invest", "deprecation": {"removal": "2999-01-01"}}]')::jsonb
      where key = 'Application'`);
    await trx.raw(`select raise_topics(array['metamodel'])`);
    // so that the batch, which began before, is tried again
    await trx('cards').insert({ type: 'Application', name: 'O-2', external_id: 'O-2' });
  });
  expect(report.flatMap(({ errors }) => errors ?? [])).toEqual([]);
  expect(job.counts).toMatchObject({ created: 1, failed: 0 });
  const [attributes] = await t.services.db('cards').where({ external_id: 'O-1' }).pluck('attributes');
  expect(attributes).toMatchObject({ timeModel: 'grow' });
});

it('fail rows with tags and stakeholders that they no longer allow, and say why', async () => {
  const group = async (name: string, more: object = {}) =>
    (
      await t.services
        .db('tag_groups')
        .insert({ name, ...more })
        .returning('id')
    )[0].id as string;
  const groups = {
    single: await group('Single'),
    typed: await group('Typed'),
    gone: await group('Gone'),
    duty: await group('Duty'),
  };
  const tags = Object.entries(groups).flatMap(([name, tag_group_id]) =>
    name === 'duty' ? [] : ['One', 'Two'].map((name) => ({ name, tag_group_id })),
  );
  await t.services.db('tags').insert(tags);
  await imports.run([app('G-0'), app('G-9', { tags: ['Single/One'] })]);
  const [user] = await t.services
    .db('users')
    .insert({ email: 'gone@estate.example', display_name: 'Gone', role: 'member' })
    .returning(['id', 'email']);
  const rows = [
    app('G-1', { tags: ['Single/One', 'Single/Two'] }),
    app('G-2', { tags: ['Single/One'] }),
    app('G-3', { tags: ['Typed/One'] }),
    app('G-0', { tags: ['Gone/One'] }),
    app('G-5', { tags: ['Gone/New', 'Single/One'] }),
    app('G-6', { tags: ['Duty/New'] }),
    app('G-7', { tags: ['Single/New'] }),
    app('G-8', { stakeholders: [`responsible:${user.email}`] }),
    app('G-9', { tags: [] }),
  ];
  const { report, job } = await overtaken(
    rows,
    'upsert',
    async (trx) => {
      await trx('tag_groups').where({ id: groups.single }).update({ mode: 'single' });
      await trx('tag_groups').where({ id: groups.typed }).update({ restrict_to_types: '["Interface"]' });
      await trx('tags').where({ tag_group_id: groups.gone }).delete();
      await trx('tag_groups').where({ id: groups.gone }).delete();
      await trx('tag_groups').where({ id: groups.duty }).update({ mandatory: true });
      await trx('tags').insert({ tag_group_id: groups.single, name: 'NEW' });
      await trx('users').where({ id: user.id }).delete();
    },
    { create_tags: true },
  );
  const said = (field: string, what: string) => [
    { field, code: 'field_changed', message: `${what} while the import ran; import this row again` },
  ];
  const gone = 'a tag or its group was deleted or changed';
  expect(report.map(({ line, errors }) => [line, errors])).toMatchObject([
    [1, said('tags', 'the group Single was changed to allow one tag')],
    [3, said('tags', 'the group Typed was restricted to cards of other types than Application')],
    [4, said('tags', gone)],
    [5, said('tags', gone)],
    [6, said('tags', gone)],
    [8, said('stakeholders', 'a user was deleted')],
  ]);
  expect(job.counts).toMatchObject({ created: 2, updated: 1, failed: 6, created_tags: 0 });
});

it('are found by an upsert that they overtake', async () => {
  const rows = [app('U-1', { description: 'mine' }), app('U-2'), app('U-3', { parent_external_id: 'U-2' })];
  const { faults, job } = await overtaken(rows, 'upsert', (trx) =>
    trx('cards').insert([
      { type: 'Application', name: 'U-1', external_id: 'U-1' },
      { type: 'Application', name: 'U-2', external_id: 'U-2' },
    ]),
  );
  expect(faults).toEqual({});
  expect(job.counts).toMatchObject({ created: 1, updated: 1, unchanged: 1, failed: 0 });
  expect(await imports.card('U-1')).toMatchObject({ description: 'mine' });
});

it('are the same rows of two upserts at the same time, which both succeed', async () => {
  const rows = Array.from({ length: 300 }, (_, at) => app(`S-${at}`));
  const ctx = await t.ctx();
  const start = () => askImport(ctx, t.services, ndjson(rows), { format: 'ndjson', mode: 'upsert' });
  const ids = await Promise.all([start(), start(), start()]);
  const results = await Promise.all(ids.map((id) => importResult(t.services, id)));
  expect(results.map(({ faults }) => faults)).toEqual([{}, {}, {}]);
  const counts = results.map(({ job }) => job.counts!);
  expect(counts.reduce((sum, { created }) => sum + created!, 0)).toBe(300);
  expect(counts.reduce((sum, { unchanged }) => sum + unchanged!, 0)).toBe(600);
});

it('fail only the rows whose parents or cards they delete, archive or move', async () => {
  await imports.run([
    ...['D-1', 'D-2', 'D-3', 'D-4', 'D-5', 'D-6'].map((id) => app(id)),
    { ...app('D-7'), type: 'BusinessCapability' },
    { ...app('D-8'), type: 'BusinessCapability' },
  ]);
  const { faults, job } = await overtaken(
    [
      app('D-11', { parent_external_id: 'D-1' }),
      app('D-12', { parent_external_id: 'D-2' }),
      app('D-3', { description: 'changed' }),
      app('D-4', { parent_external_id: 'D-5' }),
      app('D-6', { status: 'ARCHIVED' }),
      { ...app('D-17'), type: 'BusinessCapability', parent_external_id: 'D-7' },
      app('D-18'),
    ],
    'upsert',
    async (trx) => {
      const id = async (external_id: string) => (await trx('cards').where({ external_id }).first('id')).id;
      await trx('cards').where({ external_id: 'D-1' }).delete();
      await trx('cards').where({ external_id: 'D-2' }).update({ status: 'ARCHIVED' });
      await trx('cards').where({ external_id: 'D-3' }).delete();
      await trx('cards')
        .where({ external_id: 'D-5' })
        .update({ parent_id: await id('D-4') });
      await trx('cards').insert({ type: 'Application', name: 'child', parent_id: await id('D-6') });
      await trx('cards')
        .where({ external_id: 'D-7' })
        .update({ parent_id: await id('D-8'), attributes: JSON.stringify({ capabilityLevel: 'L2' }) });
    },
  );
  expect(faults).toEqual({
    1: ['parent_external_id unknown_parent'],
    2: ['parent_external_id parent_archived'],
    3: ['id unknown_id'],
    4: ['parent_external_id parent_cycle'],
    5: ['status children_present'],
    6: ['parent_external_id conflict'],
  });
  expect(job.counts).toMatchObject({ created: 1, failed: 6 });
});

it('fail only the relations that they make or whose cards they delete', async () => {
  await imports.run([
    ...['R-1', 'R-2', 'R-3'].map((id) => app(id)),
    { type: 'ITComponent', external_id: 'R-1', name: 'R-1' },
  ]);
  const relation = (source: string) => ({
    type: 'relAppToITC',
    source_external_id: source,
    target_external_id: 'R-1',
  });
  const { faults, job } = await overtaken(
    [relation('R-1'), relation('R-2'), relation('R-3')],
    'create',
    async (trx) => {
      await trx('cards').where({ type: 'Application', external_id: 'R-2' }).delete();
      await trx.raw(`
           insert into relations (type, source_id, target_id) select 'relAppToITC', a.id, c.id from cards a, cards c
           where a.type = 'Application' and a.external_id = 'R-1' and c.type = 'ITComponent' and c.external_id = 'R-1'`);
    },
    { kind: 'relations' },
  );
  expect(faults).toEqual({ 1: ['row duplicate_relation'], 2: ['row not_found'] });
  expect(job.counts).toMatchObject({ created: 1, failed: 2 });
});
