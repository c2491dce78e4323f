import { parse } from 'csv-parse/sync';
import { startWorkers } from '../../../workers/runtime.ts';
import {
  closeAfterAll,
  expectProblem,
  jsonLines,
  ok,
  openApp,
  type TestResponse,
} from '../../support/harness.ts';
import { untilStatus } from '../../support/jobs.ts';

/** Cards by name. */
const ids: Record<string, string> = {};

const made = async (path: string, body: object): Promise<string> =>
  (await admin.create(`/api/v1/${path}`, body)).id;
async function card(name: string, more: object = {}): Promise<string> {
  ids[name] = await made('cards', { type: 'Application', name, ...more });
  return ids[name]!;
}
const changed = async (name: string, patch: object) =>
  expect((await admin.patch(`/api/v1/cards/${ids[name]}`, patch)).status).toBe(200);

const get = (query: string, client = admin, kind = 'cards') =>
  client.get(`/api/v1/extracts/${kind}?${query}`);
const lines = (answer: TestResponse) => {
  expect(answer.status, answer.text).toBe(200);
  return jsonLines(answer.text);
};
/** The newest position. */
/** What has changed since a position, without the last line. */
async function since(after: string, query = '', client = admin, kind = 'cards') {
  const answer = await get(`after=${after}&${query}`, client, kind);
  const rows = lines(answer);
  expect(rows.pop()).toEqual({ end: true, position: answer.headers['x-position'] });
  return rows;
}
const gone = (rows: { id: string; deleted?: true; removed?: true }[]) =>
  rows
    .filter(({ deleted, removed }) => deleted || removed)
    .map(({ id, deleted }) => [
      Object.keys(ids).find((name) => ids[name] === id),
      deleted ? 'deleted' : 'removed',
    ]);
const there = (rows: { name?: string }[]) => rows.flatMap(({ name }) => name ?? []).sort();

const { t, db, admin } = await openApp(['admin']);
closeAfterAll(await startWorkers(t.services));
await card('One', { attributes: { costTotalAnnual: 5 }, lifecycle: { active: '2020-02-29' } });
await card('Two');
await card('Three', { parent_id: ids.Two });
await card('Server', { type: 'ITComponent' });
await made('relations', { type: 'relAppToITC', source_id: ids.One, target_id: ids.Server });

describe('all there is', () => {
  it('is streamed in every format, with the position and a name', async () => {
    const position = await admin.position();
    const json = await get('types=Application&columns=name,attributes.costTotalAnnual,lifecycle.active');
    expect(lines(json)).toEqual([
      { name: 'One', attributes: { costTotalAnnual: 5 }, lifecycle: { active: '2020-02-29' } },
      { name: 'Two' },
      { name: 'Three' },
    ]);
    expect(json.headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      'content-disposition': expect.stringMatching(/^attachment; filename="estate-cards-.*\.ndjson"$/),
    });
    expect(Number(json.headers['x-position'])).toBeGreaterThanOrEqual(Number(position));
    const csv = await get('format=csv&types=Application');
    const rows: Record<string, string>[] = parse(csv.text, { columns: true });
    expect(rows.map(({ name }) => name)).toEqual(['One', 'Two', 'Three']);
    const parquet = await get('format=parquet');
    expect([parquet.raw.subarray(0, 4), parquet.raw.subarray(-4)].map(String)).toEqual(['PAR1', 'PAR1']);
    expect((await get('format=xlsx')).raw.subarray(0, 2).toString()).toBe('PK');
    expect(lines(await get('', admin, 'relations'))).toMatchObject([
      { source_name: 'One', target_name: 'Server', source_id: ids.One },
    ]);
    const told = await db('events').where({ event_type: 'export.streamed' }).pluck('data');
    expect(told).toContainEqual(expect.objectContaining({ format: 'parquet', kind: 'cards' }));
  });

  it('becomes a job where it is preferred, whose manifest tells all of it', async () => {
    const started = await ok(
      admin.get('/api/v1/extracts/relations?format=parquet', { prefer: 'respond-async' }),
      202,
    );
    const url = `/api/v1/exports/${started.job_id}/manifest`;
    await untilStatus(t.services, started.job_id, 'succeeded');
    const { body, headers } = await admin.get(url);
    expect(body).toMatchObject({
      format: 'parquet',
      kind: 'relations',
      after: null,
      tables: [{ name: 'Relations', rows: 1 }],
      file: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(body.tables[0].columns).toContainEqual({ name: 'source_name', type: 'string' });
    expect(headers['content-disposition']).toContain('.parquet.manifest.json');
    await expectProblem((await t.as('viewer')).get(url), 404);
  });

  it('is refused for what there is not, and to who may not see it', async () => {
    for (const query of [
      'types=Nothing',
      'columns=nothing',
      'filter=name',
      'format=pdf',
      'odd=1',
      'after=x',
      'after=999999',
    ])
      expect((await get(query)).status, query).toBe(422);
    await db('settings').insert({ key: 'events.purged_through', value: '3' });
    expect((await get('after=2')).body).toMatchObject({ code: 'position_expired', status: 410, oldest: '3' });
    expect((await get('after=3')).status).toBe(200);
    await db('settings').where({ key: 'events.purged_through' }).delete();
    const blind = await t.holding('inventory.export');
    expect((await get('after=3', blind)).status).toBe(403);
    expect((await get('', blind, 'relations')).status).toBe(403);
  });
});

describe('what has changed', () => {
  it('are the cards that were written, and whatever shows them; in CSV and Parquet as columns', async () => {
    const start = await admin.position();
    expect(await since(start)).toEqual([]);
    await changed('One', { description: 'New.' });
    expect(await since(start)).toMatchObject([
      { id: ids.One, name: 'One', attributes: { costTotalAnnual: 5 } },
    ]);
    await changed('Two', { name: 'Second' });
    expect(there(await since(start))).toEqual(['One', 'Second', 'Three']);
    const csv: Record<string, string>[] = parse((await get(`after=${start}&format=csv&columns=name`)).text, {
      columns: true,
    });
    expect(csv.map(({ id, name, deleted }) => [id, name, deleted])).toContainEqual([ids.Two, 'Second', '']);
    expect(csv.every(({ position }) => Number(position) > Number(start))).toBe(true);
    expect((await get(`after=${start}&format=parquet`)).raw.subarray(0, 4).toString()).toBe('PAR1');
    await changed('Two', { name: 'Two' });
  });

  it('are the cards of tags and people that are called otherwise', async () => {
    const group = await made('tag-groups', { name: 'Region' });
    const tag = await made(`tag-groups/${group}/tags`, { name: 'EU' });
    await admin.create(`/api/v1/cards/${ids.One}/tags`, [tag]);
    const start = await admin.position();
    await ok(admin.patch(`/api/v1/tag-groups/${group}`, { name: 'Place' }));
    expect(await since(start)).toMatchObject([{ name: 'One', tags: ['Place/EU'] }]);
    expect(there(await since(start, `filter=${encodeURIComponent('tags is not empty')}`))).toEqual(['One']);
  });

  it('are marked when they are deleted, or leave the filter, or their type is hidden', async () => {
    await card('Brief');
    const start = await admin.position();
    const filter = `filter=${encodeURIComponent('status = ACTIVE')}`;
    await admin.post(`/api/v1/cards/${ids.Three}/archive`, {});
    expect(gone(await since(start, filter))).toEqual([['Three', 'removed']]);
    expect(there(await since(start))).toContain('Three');
    await admin.delete(`/api/v1/cards/${ids.Brief}`);
    expect(gone(await since(start)).sort()).toEqual([['Brief', 'deleted']]);
    expect(await since(start, 'types=ITComponent')).toEqual([]);
    const hidden = await admin.position();
    const hide = async (is_hidden: boolean) =>
      expect((await admin.patch('/api/v1/metamodel/types/ITComponent', { is_hidden })).status).toBe(200);
    await hide(true);
    expect(gone(await since(hidden))).toEqual([['Server', 'removed']]);
    const [relation] = await since(hidden, '', admin, 'relations');
    expect(relation).toMatchObject({ type: 'relAppToITC', removed: true });
    await hide(false);
    expect(there(await since(hidden))).toEqual(['Server']);
    expect(await since(hidden, '', admin, 'relations')).toMatchObject([{ source_name: 'One' }]);
  });

  it('are the cards at which a filter looks over relations', async () => {
    const filter = `filter=${encodeURIComponent('relation.relAppToITC.target.name = "Server"')}`;
    const start = await admin.position();
    await changed('Server', { name: 'Renamed' });
    expect(gone(await since(start, filter))).toContainEqual(['One', 'removed']);
    await changed('Server', { name: 'Server' });
    expect(there(await since(start, filter))).toEqual(['One']);
  });

  it('has no more costs than all there is', async () => {
    const loader = await t.holding('inventory.view', 'inventory.export');
    const start = await admin.position();
    await changed('One', { attributes: { costTotalAnnual: 77 } });
    const rows = await since(start, '', loader);
    expect(there(rows)).toContain('One');
    expect(JSON.stringify(rows)).not.toContain('costTotalAnnual');
    const next = await admin.position();
    await made(`cards/${ids.One}/stakeholders`, { user_id: loader.userId, role: 'responsible' });
    expect(await since(next, '', loader)).toContainEqual(
      expect.objectContaining({ attributes: { costTotalAnnual: 77 } }),
    );
  });
});

it('has no rows of a hidden type, and reports those that were there as removed', async () => {
  const type = 'Hideable';
  const fields = [{ key: 'size', label: 'Size', type: 'number' }];
  await made('metamodel/types', { key: type, label: type, fields_schema: [{ section: 'Facts', fields }] });
  await card('Hidden', { type, attributes: { size: 1 } });
  const position = await admin.position();
  const query = `types=${type},Application&columns=name,attributes.size`;
  const before = lines(await get(query));
  expect(there(before)).toContain('Hidden');
  expect((await admin.patch(`/api/v1/metamodel/types/${type}`, { is_hidden: true })).status).toBe(200);
  expect(there(lines(await get(query)))).toEqual(there(before).filter((name) => name !== 'Hidden'));
  expect(gone(await since(position, query))).toEqual([['Hidden', 'removed']]);
  expect(there(lines(await get(`types=${type}&columns=name,attributes.size`)))).toEqual([]);
  expect(await ok(admin.get(`/api/v1/cards/export/json?types=${type}`))).toEqual([]);
  await expectProblem(get('types=NoSuch'), 422);
  const relation = 'relAppToITC';
  const ofType = `/api/v1/metamodel/relation-types/${relation}`;
  expect((await admin.patch(ofType, { is_hidden: true })).status).toBe(200);
  expect(lines(await get(`types=${relation}`, admin, 'relations'))).toEqual([]);
  expect((await admin.post(`${ofType}/restore`)).status).toBe(200);
});
