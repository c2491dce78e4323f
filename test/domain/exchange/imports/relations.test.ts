// @redis
import { openImports } from '../../../support/imports.ts';

const { t, db, imports } = await openImports();
await db('relation_types').where({ key: 'relProviderToApp' }).update({ cardinality: '1:n' });
await db('relation_types').where({ key: 'relProviderToITC' }).update({ cardinality: '1:1' });
await db('relation_types').where({ key: 'relAppToDataObj' }).update({ source_mandatory: true });
await db.raw(`select record_events('[]', '{metamodel}')`);
const card = (type: string, external_id: string, more: object = {}) => ({
  type,
  external_id,
  name: `${type} ${external_id}`,
  ...more,
});
await imports.run([
  ...['1', '2', '3'].map((id) => card('Application', id)),
  card('Application', '4', { status: 'ARCHIVED' }),
  ...['1', '2'].map((id) => card('Provider', id)),
  ...['1', '2'].map((id) => card('ITComponent', id)),
  ...['1', '2'].map((id) => card('DataObject', id)),
]);

const relation = (type: string, source: string, target: string, more: object = {}) => ({
  type,
  source_external_id: source,
  target_external_id: target,
  ...more,
});
const run = (rows: object[] | string, mode: 'create' | 'upsert' = 'create') =>
  imports.run(rows, { kind: 'relations', mode });
const cardOf = async (type: string, external_id: string) =>
  await t.services.db('cards').where({ type, external_id }).first();

it('find their ends within the types that fit, and name both in one event', async () => {
  const { job } = await run([
    relation('relAppToITC', '1', '1', { description: 'Runs on', attributes: { costTotalAnnual: 5.5 } }),
    relation('relAppToITC', '4', '1'),
  ]);
  expect(job.counts).toEqual({ total: 2, created: 2, updated: 0, unchanged: 0, failed: 0 });
  const app = await cardOf('Application', '1');
  const component = await cardOf('ITComponent', '1');
  const [event] = await imports.events();
  expect(event).toMatchObject({
    event_type: 'relation.created',
    card_id: app.id,
    peer_card_id: component.id,
    cost_keys: ['attributes.costTotalAnnual'],
    data: {
      type: 'relAppToITC',
      source_name: 'Application 1',
      target_name: 'ITComponent 1',
      changes: {
        description: { old: null, new: 'Runs on' },
        'attributes.costTotalAnnual': { old: null, new: 5.5 },
      },
    },
  });
});

it('are refused one by one in any number', async () => {
  const rows = Array.from({ length: 6_000 }, (_, n) => relation('relAppToITC', `no ${n}`, `no ${n}`));
  expect((await run(rows, 'upsert')).job.counts).toMatchObject({ total: 6_000, failed: 6_000 });
});

it('are refused with what does not fit, row by row', async () => {
  const { faults } = await run([
    relation('noType', '1', '1'),
    relation('relAppToITC', '9', '1'),
    relation('relAppToITC', '1', '1'),
    relation('relAppToITC', '2', '1'),
    relation('relAppToITC', '2', '1'),
    { type: 'relAppToITC', source_id: (await cardOf('Provider', '1')).id, target_external_id: '1' },
    relation('relAppToITC', '3', '1', { attributes: { costTotalAnnual: 'much' } }),
    relation('relAppToITC', '3', '1', { attributes: { unknown: 1 } }),
    relation('relAppSuccessor', '1', '1'),
    { type: 'relAppToITC', target_external_id: '1' },
  ]);
  expect(faults).toEqual({
    1: ['type unknown_type'],
    2: ['source_external_id unknown_card'],
    3: ['target_external_id duplicate_relation'],
    5: ['target_external_id duplicate_in_file'],
    6: ['source_id end_type'],
    7: ['attributes.costTotalAnnual wrong_type'],
    8: ['attributes.unknown unknown_attribute', 'target_external_id duplicate_in_file'],
    9: ['target_external_id same_card'],
    10: ['source_external_id required'],
  });
});

it('merge with those that are there, by ends or by id, and are left alone when nothing differs', async () => {
  await run([relation('relAppToITC', '1', '2', { description: 'one', attributes: { costTotalAnnual: 1 } })]);
  const rows = [relation('relAppToITC', '1', '2', { attributes: { costTotalAnnual: 2 } })];
  expect((await run(rows, 'upsert')).job.counts).toMatchObject({ updated: 1, created: 0 });
  const [event] = await imports.events();
  expect(event!.data.changes).toEqual({ 'attributes.costTotalAnnual': { old: 1, new: 2 } });
  expect((await run(rows, 'upsert')).job.counts).toMatchObject({ unchanged: 1 });
  expect(await imports.events()).toEqual([]);
  const { id } = event!.data;
  expect((await run([{ id, description: null }], 'upsert')).job.counts).toMatchObject({ updated: 1 });
  const row = await t.services.db('relations').where({ id }).first();
  expect(row).toMatchObject({ description: null, attributes: { costTotalAnnual: 2 } });
  const wrong = await run(
    [
      { id, type: 'relAppToITC', source_external_id: '2', target_external_id: '2' },
      {
        id: '0f6f1c1e-7a1e-4f7e-9d3c-2b1a5e8d7c60',
        type: 'relAppToITC',
        source_external_id: '1',
        target_external_id: '2',
      },
      { id: '0f6f1c1e-7a1e-4f7e-9d3c-2b1a5e8d7c61', description: 'x' },
    ],
    'upsert',
  );
  expect(wrong.faults).toEqual({
    1: ['id ends_differ'],
    2: ['id unknown_id', 'target_external_id duplicate_relation'],
    3: ['id unknown_id'],
  });
});

it('keep to the cardinality of their type, in the inventory and in the file', async () => {
  const { faults } = await run([
    relation('relProviderToApp', '1', '1'),
    relation('relProviderToApp', '2', '1'),
    relation('relProviderToApp', '1', '2'),
    relation('relProviderToITC', '1', '1'),
    relation('relProviderToITC', '1', '2'),
    relation('relProviderToITC', '2', '1'),
    relation('relProviderToITC', '2', '2'),
  ]);
  expect(faults).toEqual({
    2: ['target_external_id cardinality_exceeded'],
    5: ['source_external_id cardinality_exceeded'],
    6: ['target_external_id cardinality_exceeded'],
  });
  const more = await run([relation('relProviderToApp', '2', '2'), relation('relProviderToApp', '1', '3')]);
  expect(more.faults).toEqual({ 1: ['target_external_id cardinality_exceeded'] });
});

it('count for the data quality of cards that must have them', async () => {
  const before = Number((await cardOf('Application', '3')).data_quality);
  await run([relation('relAppToDataObj', '3', '1')]);
  expect(Number((await cardOf('Application', '3')).data_quality)).toBeGreaterThan(before);
  const types = (await imports.events()).map(({ event_type }) => event_type);
  expect(types).toEqual(['relation.created', 'card.updated']);
});
