import { randomUUID } from 'node:crypto';
import { cellsOf, readDrawing } from '../../../domain/modelling/diagrams/drawing.work.ts';
import { drawingFaults } from '../../support/drawio.ts';
import { expectInvalid, expectProblem, ok, openApp } from '../../support/harness.ts';

const url = '/api/v1/diagrams/generate';

const { admin, viewer } = await openApp(['admin', 'viewer']);
const made = async (path: string, body: object): Promise<string> => (await admin.create(path, body)).id;
const card = (type: string, name: string) => made('/api/v1/cards', { type, name });
const ids: Record<string, string> = {
  shop: await card('Application', 'Shop & "more"'),
  mail: await card('Application', 'Mail'),
  alone: await card('Application', 'Alone'),
  db: await card('ITComponent', 'Database'),
  server: await card('ITComponent', 'Server'),
  sales: await card('Organization', 'Sales'),
};
const relation = (type: string, source: string, target: string) =>
  made('/api/v1/relations', { type, source_id: ids[source], target_id: ids[target] });
await relation('relAppToITC', 'shop', 'db');
await relation('relAppToITC', 'mail', 'db');
await relation('relAppToITC', 'mail', 'server');
await relation('relOrgToApp', 'sales', 'shop');

const drawnNames = (xml: string) =>
  cellsOf(readDrawing(xml))
    .map(({ attributes }) => attributes.label!)
    .sort();

it('draws the dependencies around a card, as far as asked', async () => {
  const draw = (more: object = {}) =>
    ok(viewer.post(url, { view: 'dependencies', card_id: ids.shop, ...more }));
  const near = await draw();
  expect(drawingFaults(near.xml)).toEqual([]);
  expect(near).toMatchObject({
    title: 'Dependencies around Shop & "more"',
    relation_count: 2,
    truncated: false,
  });
  expect(drawnNames(near.xml)).toEqual(['Database', 'Sales', 'Shop &amp; &quot;more&quot;']);
  expect((await draw({ depth: 3 })).card_ids).toHaveLength(5);
  expect((await draw({ direction: 'outgoing' })).card_ids).toEqual([ids.shop, ids.db]);
  expect((await draw({ direction: 'incoming' })).card_ids).toEqual([ids.shop, ids.sales]);
  expect((await draw({ relation_types: ['relOrgToApp'], depth: 3 })).card_ids).toHaveLength(2);
  expect((await draw({ filter: 'type = ITComponent' })).card_ids).toEqual([ids.shop, ids.db]);
  expect(await draw({ depth: 3, max_cards: 2 })).toMatchObject({ truncated: true, card_ids: { length: 2 } });
});

it('draws the cards of a type in frames of another, and keeps the drawing, which follows them', async () => {
  const body = { view: 'landscape', type: 'Application', group_by: 'ITComponent' };
  const drawn = (await viewer.post(url, body)).body;
  const names = drawnNames(drawn.xml);
  expect(names).toEqual(['Alone', 'Database', 'Mail', 'Mail', 'Server', 'Shop &amp; &quot;more&quot;']);
  expect(drawingFaults(drawn.xml)).toEqual([]);
  expect(drawn.xml).toContain('No IT Component');
  expect((await viewer.post(url, { ...body, filter: 'name = Mail' })).body.card_ids).toHaveLength(3);
  await expectProblem(viewer.post(url, { ...body, save: {} }), 403, 'diagrams.manage');
  const saved = await admin.create(url, { ...body, save: { visibility: 'private' } });
  expect(saved).toMatchObject({ name: 'Application by IT Component', visibility: 'private' });
  expect(saved.card_refs).toHaveLength(5);
  await admin.patch(`/api/v1/cards/${ids.mail}`, { name: 'Post & parcels' });
  const { data } = (await admin.get(`/api/v1/diagrams/${saved.id}`)).body;
  expect(drawnNames(data.xml).filter((name) => name === 'Post &amp; parcels')).toHaveLength(2);
});

it('is refused where it does not fit', async () => {
  const refused = (body: object, field: string) => expectInvalid(viewer.post(url, body), field);
  const around = { view: 'dependencies', card_id: ids.shop };
  await refused({ view: 'dependencies' }, 'card_id');
  await expectProblem(viewer.post(url, { ...around, card_id: randomUUID() }), 404);
  await refused({ ...around, type: 'Application' }, 'type');
  await refused({ ...around, relation_types: ['relAppToITC', 'none'] }, 'relation_types.1');
  await expectProblem(viewer.post(url, { ...around, filter: 'name ===' }), 422);
  await refused({ view: 'landscape', type: 'Application' }, 'group_by');
  await refused({ view: 'landscape', type: 'None', group_by: 'Application' }, 'type');
});
