import { comparedFields } from '../../../domain/analysis/duplicates/duplicates.fields.ts';
import { findDuplicates } from '../../../integrations/analysis/matching/match.ts';
// @redis
import { processors } from '../../../workers/processors.ts';
import { startWorkers } from '../../../workers/runtime.ts';
import { analyse } from '../../support/analysis.ts';
import { closeAfterAll, ok, openApp } from '../../support/harness.ts';

const base = '/api/v1/ai-analysis';
const vocabulary = '/api/v1/settings/matching-vocabulary';
const words = 'Amber Birch Cedar Delta Ember Fjord Grove Heron Inlet Jetty Knoll Larch'.split(' ');
const uses = ['Payroll Ledger', 'Claims Portal', 'Freight Planner', 'Tax Register', 'Leave Monitor'];

const { t, db, admin } = await openApp(['admin']);
closeAfterAll(await startWorkers(t.services, processors));
await db('cards').insert(
  [
    ...words.flatMap((word) => uses.map((use) => `${word} ${use}`)),
    'Bestellwesen Eisenerz',
    'Order Management Eisenerz',
    'Ordering Eisenerz',
  ].map((name) => ({ type: 'Application', name })),
);
const COUNT = words.length * uses.length + 3;

const search = async (mode = 'changes') => {
  const run = await analyse(admin, `${base}/duplicates/analyse`, { card_types: ['Application'], mode });
  expect(run.status, run.error_message).toBe('completed');
  return run;
};
const matches = async () =>
  (await admin.get(`${base}/duplicate-pairs?class=match&page_size=200`)).body.items
    .map(({ left_name, right_name }: Record<string, string>) => [left_name, right_name].sort().join(' = '))
    .sort();

it('a search finds a pair by the vocabulary, and compares all cards again after it has changed', async () => {
  const first = await search();
  expect(first.results).toMatchObject({ cards: COUNT, changed: COUNT });
  expect(await matches()).toEqual([]);
  expect((await search()).results).toMatchObject({ changed: 0, compared_now: 0 });

  await ok(admin.patch(vocabulary, { synonyms: [['Order Management', 'Bestellwesen']] }));
  const second = await search();
  expect(second.results).toMatchObject({ cards: COUNT, changed: COUNT });
  expect(second.model_version).not.toBe(first.model_version);
  expect(await matches()).toEqual(['Bestellwesen Eisenerz = Order Management Eisenerz']);
  expect((await search()).results).toMatchObject({ changed: 0, compared_now: 0 });

  await ok(admin.patch(vocabulary, { synonyms: [['Order Management', 'Bestellwesen', 'Ordering']] }));
  expect((await search()).results).toMatchObject({ changed: COUNT });
  expect(await matches()).toEqual([
    'Bestellwesen Eisenerz = Order Management Eisenerz',
    'Bestellwesen Eisenerz = Ordering Eisenerz',
    'Order Management Eisenerz = Ordering Eisenerz',
  ]);
  const [cluster] = (await admin.get(`${base}/duplicates`)).body.items;
  const { pairs } = (await admin.get(`${base}/duplicates/${cluster.id}`)).body;
  expect(pairs[0].reasons.join(' ')).toMatch(/name: “.*” and “.*” are the same/);

  await ok(admin.patch(vocabulary, { synonyms: null }));
  const last = await search();
  expect(last.results).toMatchObject({ changed: COUNT });
  expect(last.model_version).toBe(first.model_version);
  expect(await matches()).toEqual([]);
});

it('a model that is learned with a vocabulary applies it', async () => {
  await ok(admin.patch(vocabulary, { synonyms: [['Order Management', 'Bestellwesen']] }));
  await search('learn');
  expect(await matches()).toContain('Bestellwesen Eisenerz = Order Management Eisenerz');
  expect((await search()).results).toMatchObject({ changed: 0, compared_now: 0 });
});

test('known vendors are removed from names of types that have no vendor', async () => {
  const { metamodel } = await t.ctx();
  const fields = comparedFields(metamodel, metamodel.cardTypes.get('BusinessCapability')!);
  const names = ['Microsoft Active Directory', 'Active Directory', 'Payroll'];
  const records = names.map((name) => ({ id: name, values: { name } }));
  const filled = fields.filter(({ name }) => name === 'name');
  const [match] = findDuplicates(records, { fields: filled }).pairs;
  expect([match!.left, match!.right].sort()).toEqual(['Active Directory', 'Microsoft Active Directory']);
  expect(match!.score).toBeGreaterThan(0.5);
});
