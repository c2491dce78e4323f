import { cellsOf, readDrawing } from '../../../domain/modelling/diagrams/drawing.work.ts';
import { ok, openApp } from '../../support/harness.ts';

const { admin, viewer } = await openApp(['admin', 'viewer']);

const card = async (name: string, type = 'Application'): Promise<string> =>
  (await admin.card({ type, name })).id;
const [crm, erp, shop, api, customer, order] = [
  await card('Crm'),
  await card('Erp'),
  await card('Shop'),
  await card('Api', 'Interface'),
  await card('Customer', 'DataObject'),
  await card('Order', 'DataObject'),
];
const before = new Date().toISOString();
await admin.relate('relAppToInterface', crm, api, { attributes: { flowDirection: 'forward' } });
await admin.relate('relAppToInterface', erp, api, { attributes: { flowDirection: 'reverse' } });
await admin.relate('relAppToInterface', shop, api, {});
const flow = (source_id: string, target_id: string, more: object) =>
  admin.create('/api/v1/data-flows', { source_id, target_id, ...more });
await flow(crm, erp, { interface_id: api, data_object_ids: [order, customer], frequency: 'daily' });
await flow(crm, erp, { data_object_ids: [customer] });
await flow(erp, shop, { direction: 'bidirectional' });

interface Edge {
  source: string;
  target: string;
  type: string;
  flow: string | null;
}

describe('dependencies', () => {
  const read = async (query: string) =>
    (await ok(viewer.get(`/api/v1/reports/dependencies?${query}`))) as { edges: Edge[]; nodes: object[] };
  const between = (edges: Edge[], source: string, target: string) =>
    edges.filter((edge) => edge.source === source && edge.target === target);

  it('have data flows as edges, and the direction of data on each edge', async () => {
    const { edges, nodes } = await read('');
    const flows = between(edges, crm, erp);
    expect(flows).toHaveLength(2);
    expect(flows).toContainEqual({
      source: crm,
      target: erp,
      type: 'data-flow',
      label: 'sends data to',
      reverse_label: 'receives data from',
      flow: 'forward',
      description: null,
      attributes: { frequency: 'daily', interface: 'Api', data_objects: ['Customer', 'Order'] },
    });
    expect(between(edges, erp, shop)).toMatchObject([
      { type: 'data-flow', flow: 'bidirectional', attributes: {} },
    ]);
    expect(between(edges, crm, api)).toMatchObject([{ type: 'relAppToInterface', flow: 'forward' }]);
    expect(between(edges, erp, api)).toMatchObject([{ flow: 'reverse' }]);
    expect(between(edges, shop, api)).not.toHaveProperty('0.flow');
    expect(nodes).toHaveLength(6);
  });

  it('around a card follow data flows, also as of a time', async () => {
    expect((await read(`center_id=${erp}&depth=1`)).edges).toHaveLength(6);
    expect((await read(`center_id=${erp}&depth=1&type=Interface`)).edges).toHaveLength(3);
    expect((await read(`type=Application&as_of=${before}`)).edges).toEqual([]);
    const csv = await viewer.get('/api/v1/reports/dependencies?type=Application', { accept: 'text/csv' });
    expect(csv.text).toContain(',data-flow,sends data to,bidirectional,');
  });

  it('are drawn with arrows to where data goes', async () => {
    const picture = await viewer.get(`/api/v1/reports/dependencies?center_id=${erp}`, {
      accept: 'image/svg+xml',
    });
    expect(picture.status).toBe(200);
    // two flows, one of them both ways, and two relations with a direction
    expect(picture.text.match(/<path [^>]*Z"/g)).toHaveLength(5);
  });
});

describe('the matrix', () => {
  const read = async (query: string) => await ok(viewer.get(`/api/v1/reports/matrix?${query}`));

  it('of data flows shows which rows send data to which columns', async () => {
    const flows = 'row_type=Application&col_type=Application&related_by=data_flow';
    const body = await read(flows);
    const by = (row: string, column: string) => ({ row_id: row, col_id: column });
    expect(body.intersections).toHaveLength(3);
    expect(body.intersections).toEqual(
      expect.arrayContaining([
        { ...by(crm, erp), flow: 'forward', data_objects: ['Customer', 'Order'] },
        { ...by(erp, shop), flow: 'bidirectional', data_objects: [] },
        { ...by(shop, erp), flow: 'bidirectional', data_objects: [] },
      ]),
    );
    expect(body.intersection_count).toBe(3);
    expect((await read(`${flows}&as_of=${before}`)).intersections).toEqual([]);
    expect((await viewer.get(`/api/v1/reports/matrix?${flows}`, { accept: 'text/csv' })).text).toContain(
      ',forward,"Customer, Order"',
    );
    const picture = await viewer.get(`/api/v1/reports/matrix?${flows}`, { accept: 'image/svg+xml' });
    expect(picture.text).toContain('Data from Application to Application');
  });

  it('counts the data flows of cards below', async () => {
    const suite = await card('Suite');
    const part = (await admin.card({ name: 'Part', parent_id: suite })).id;
    await flow(part, shop, { data_object_ids: [order] });
    const { intersections } = await read(
      'row_type=Application&col_type=Application&related_by=data_flow&roll_up=true',
    );
    expect(intersections).toContainEqual({
      row_id: suite,
      col_id: shop,
      flow: 'forward',
      data_objects: ['Order'],
    });
  });

  it('of relations shows where data flows', async () => {
    const flowsOf = async (query: string) =>
      Object.fromEntries(
        (await read(query)).intersections.map((one: { row_id: string; col_id: string; flow: string }) => [
          [one.row_id, one.col_id].find((id) => id !== api),
          one.flow,
        ]),
      );
    expect(await flowsOf('row_type=Application&col_type=Interface')).toEqual({
      [crm]: 'forward',
      [erp]: 'reverse',
      [shop]: null,
    });
    expect(await flowsOf('row_type=Interface&col_type=Application')).toEqual({
      [crm]: 'reverse',
      [erp]: 'forward',
      [shop]: null,
    });
    expect(await flowsOf(`row_type=Application&col_type=Interface&as_of=${before}`)).toEqual({});
  });
});

it('diagrams follow the direction of data', async () => {
  const draw = (more: object) =>
    ok(viewer.post('/api/v1/diagrams/generate', { view: 'dependencies', card_id: erp, ...more }));
  const sources = await draw({ direction: 'incoming' });
  expect(sources.card_ids.toSorted()).toEqual([erp, crm, shop, api].toSorted());
  const targets = await draw({ direction: 'outgoing' });
  expect(targets.card_ids.toSorted()).toEqual([erp, shop].toSorted());
  expect((await draw({ relation_types: ['data-flow'] })).relation_count).toBe(3);
  expect((await draw({ relation_types: ['relAppToInterface'] })).card_ids).toHaveLength(2);
  const cells = cellsOf(readDrawing(sources.xml));
  expect(sources.xml).toContain('value="Customer, Order"');
  expect(sources.xml).toContain('value="is provided / consumed by"');
  expect(sources.xml.match(/startArrow=block/g)).toHaveLength(1);
  expect(cells.length).toBeGreaterThan(3);
});

it('paths and impact follow data flows: who receives data depends on who sends it', async () => {
  const impact = await ok(viewer.get(`/api/v1/cards/${crm}/impact?depth=1`));
  expect(impact.items).toContainEqual(
    expect.objectContaining({ id: erp, via_id: crm, relation_type_key: 'data-flow' }),
  );
  const none = await ok(viewer.get(`/api/v1/cards/${shop}/impact?depth=1`));
  expect(none.items.map(({ id }: { id: string }) => id)).not.toContain(crm);
  const { length, paths } = await ok(viewer.get(`/api/v1/cards/${crm}/paths?to=${erp}`));
  expect([length, paths.flat()[0].relation_type_key]).toEqual([1, 'data-flow']);
});
