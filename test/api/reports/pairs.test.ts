/** Cards that several relations join. */

import { openApp, pluck } from '../../support/harness.ts';

const at = (path: string) => `/api/v1/reports/${path}`;

const create = async (path: string, body: object) =>
  (await admin.create(`/api/v1/${path}`, body)).id as string;
const card = (type: string, name: string, cost: number) =>
  create('cards', { type, name, attributes: { costTotalAnnual: cost } });
const join = (type: string, source_id: string, target_id: string) =>
  create('relations', { type, source_id, target_id });

let [shop, desk, server]: string[] = [];

const { admin } = await openApp(['admin']);
const label = { label: 'leans on', reverse_label: 'carries' };
for (const [key, source_type_key, target_type_key] of [
  ['itcLeansOnApp', 'ITComponent', 'Application'],
  ['appLeansOnApp', 'Application', 'Application'],
])
  await create('metamodel/relation-types', { key, source_type_key, target_type_key, ...label });
[shop, desk, server] = [
  await card('Application', 'Shop', 100),
  await card('Application', 'Desk', 10),
  await card('ITComponent', 'Server', 7),
];
await join('relAppToITC', shop!, server!);
await join('itcLeansOnApp', server!, shop!);
await join('relAppSuccessor', shop!, desk!);
await join('appLeansOnApp', shop!, desk!);
await join('appLeansOnApp', desk!, shop!);

it('are one pair of a matrix', async () => {
  const other = await admin.get(at('matrix?row_type=Application&col_type=ITComponent'));
  expect(other.body.intersections).toEqual([{ row_id: shop, col_id: server }]);
  const same = await admin.get(at('matrix?row_type=Application&col_type=Application'));
  expect(same.body.intersections).toEqual(
    [
      { row_id: shop, col_id: desk },
      { row_id: desk, col_id: shop },
    ].sort((a, b) => (a.row_id! < b.row_id! ? -1 : 1)),
  );
});

it('stand once under each other', async () => {
  const { body } = await admin.get(at('landscape?type=Application&group_by=ITComponent'));
  expect(body.groups).toMatchObject([{ id: server, items: [{ id: shop }] }]);
  expect(body.groups[0].items).toHaveLength(1);
});

it('decide which types are shown together if the request does not', async () => {
  const { body } = await admin.get(at('matrix'));
  expect(body).toMatchObject({ col_type: 'ITComponent', intersections: [{ row_id: shop, col_id: server }] });
  expect((await admin.get(at('landscape'))).body.group_by).toBe('ITComponent');
  // flows are between applications; without any relations the usual type stays
  expect((await admin.get(at('matrix?related_by=data_flow'))).body.col_type).toBe('Application');
  expect((await admin.get(at('matrix?row_type=Platform'))).body.col_type).toBe('BusinessCapability');
  const capability = await create('cards', { type: 'BusinessCapability', name: 'Selling' });
  await join('relAppToBC', shop!, capability);
  expect((await admin.get(at('matrix'))).body.col_type).toBe('BusinessCapability');
});

it('are added once to the costs of each', async () => {
  const costs = async (query: string) =>
    pluck((await admin.get(at(`cost-treemap?${query}`))).body.items, 'name', 'cost');
  expect(await costs('aggregate=ITComponent')).toEqual([
    ['Shop', 107],
    ['Desk', 10],
  ]);
  // of several types too, one of them joined by one relation only
  expect(await costs('aggregate=ITComponent&aggregate=Application')).toEqual([
    ['Shop', 117],
    ['Desk', 110],
  ]);
});
