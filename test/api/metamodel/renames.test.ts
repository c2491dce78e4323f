import { danglingReferences } from '../../../domain/inventory/metamodel/usage/consumers.ts';
import { systemContext } from '../../../domain/kernel/services.ts';
import { startWorkers } from '../../../workers/runtime.ts';
import { closeAfterAll, expectProblem, openApp, type TestResponse } from '../../support/harness.ts';
import { untilStatus } from '../../support/jobs.ts';
import { everyKind, useEverywhere } from './consumers.fixture.ts';
import { field, makeRelationType, makeType, options, storedCard, types } from './metamodel.fixture.ts';

const { t, db, admin } = await openApp(['admin']);

closeAfterAll(await startWorkers(t.services));

const removal = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
const sunset = new Date(removal).toUTCString();

/** A type as `useEverywhere` uses it, with keys that no other type has, and a card. */
async function makeUsed() {
  const fields = [
    field('grade', 'single_select', { options: options('gold', 'silver') }),
    field('size', 'number'),
    field('total', 'number'),
  ];
  const type = await makeType(admin, fields, {
    subtypes: [{ key: 'small', label: 'Small', hidden_fields: ['size'] }],
  });
  const other = await makeType(admin);
  const relation = await makeRelationType(admin, type, other);
  const { id } = await admin.create('/api/v1/cards', {
    type,
    name: 'One',
    attributes: { size: 7, grade: 'gold' },
  });
  return { type, other, relation, card: id as string };
}
const rename = (type: string, from: string, key: string, query = '') =>
  admin.post(`${types}/${type}/fields/${from}/rename${query}`, { key, removal });
const dangling = async () => {
  const ctx = await systemContext(t.services, 'test');
  return (await danglingReferences(ctx, db, ctx.metamodel)).consumers;
};
const told = ({ status, headers }: TestResponse) => [status, headers.sunset];

it('cards and stored objects follow a rename, and its undo', async () => {
  const { type, other, relation, card } = await makeUsed();
  const made = await useEverywhere(t, admin, { type, other, relation });
  const before = (await admin.get(`${types}/${type}`)).body;
  const dry = (await rename(type, 'size', 'extent', '?dry_run=true')).body;
  expect(dry).toMatchObject({ dry_run: true, cards: 1, consumer_count: 0, needs_force: false });

  const answer = await rename(type, 'size', 'extent');
  expect(answer.status).toBe(200);
  const [{ fields }] = answer.body.fields_schema;
  expect(fields[1]).toMatchObject({
    key: 'extent',
    label: 'size',
    aliases: [{ key: 'size', deprecation: { removal } }],
  });
  expect(answer.body.subtypes[0].hidden_fields).toEqual(['extent']);
  expect((await storedCard(t, card)).attributes).toEqual({ extent: 7, grade: 'gold' });
  expect(await dangling()).toEqual([]);
  const uses = (await admin.get(`${types}/${type}/usage?field_key=extent`)).body.consumers;
  expect(uses.map(({ kind }: { kind: string }) => kind)).toEqual(everyKind);
  const view = await db('bookmarks').where({ id: made.view }).first();
  expect(view.columns).toEqual(['name', 'attributes.extent']);
  const feed = await db('bookmarks').where({ id: made.feed }).first();
  expect(feed.filters.expression).toContain('attributes.grade = gold and attributes.extent > 1 and');
  const { formula } = await db('calculations').where({ id: made.calculation }).first();
  expect(formula).toContain('data.extent');

  const schedule = () => db('extraction_schedules').where({ id: made.extraction_schedule }).first();
  expect((await schedule()).request.filter).toContain('attributes.extent > 1');
  const survey = () => db('surveys').where({ id: made.survey }).first('fields', 'target_filters');
  const mapping = () => db('itsm_mappings').where({ id: made.itsm_mapping }).first('card_filter');
  const mapped = () => db('itsm_field_mappings').where({ mapping_id: made.itsm_mapping }).pluck('card_field');
  expect((await survey()).fields[0].key).toBe('extent');
  expect((await mapping()).card_filter).toContain('attributes.extent > 1');
  expect(await mapped()).toEqual(['attributes.extent']);
  await admin.undo(String(answer.headers['x-mutation-batch']));
  expect((await admin.get(`${types}/${type}`)).body).toEqual(before);
  expect((await storedCard(t, card)).attributes).toEqual({ size: 7, grade: 'gold' });
  expect((await db('bookmarks').where({ id: made.view }).first()).columns).toEqual([
    'name',
    'attributes.size',
  ]);
  expect((await schedule()).request.filter).toContain('attributes.size > 1');
  expect((await survey()).fields[0].key).toBe('size');
  expect((await mapping()).card_filter).toContain('attributes.size > 1');
  expect(await mapped()).toEqual(['attributes.size']);
  expect((await db('calculations').where({ id: made.calculation }).first()).formula).toBe(
    formula.replace('data.extent', 'data.size'),
  );
  expect(await dangling()).toEqual([]);
});

it('an undo renames values back that cards got since, and undoing that renames them again', async () => {
  const type = await makeType(admin, [field('weight', 'number')]);
  const create = async (name: string, attributes: Record<string, number>) =>
    String((await admin.create('/api/v1/cards', { type, name, attributes })).id);
  const attributes = async () => await db('cards').where({ type }).orderBy('name').pluck('attributes');
  await create('A', { weight: 1 });
  const empty = await create('B', {});
  const batch = String((await rename(type, 'weight', 'mass')).headers['x-mutation-batch']);
  await create('C', { mass: 3 });
  await admin.patch(`/api/v1/cards/${empty}`, { attributes: { mass: 2 } });
  const dry = await admin.post(`/api/v1/mutation-batches/${batch}/rollback`, { dry_run: true });
  expect(dry.body).toMatchObject({ conflict_count: 0, left: [] });
  const undone = await admin.post(`/api/v1/mutation-batches/${batch}/rollback`, { dry_run: false });
  expect(await attributes()).toEqual([{ weight: 1 }, { weight: 2 }, { weight: 3 }]);
  await create('D', { weight: 4 });
  await admin.undo(String(undone.headers['x-mutation-batch']));
  expect(await attributes()).toEqual([{ mass: 1 }, { mass: 2 }, { mass: 3 }, { mass: 4 }]);
});

it('a value that changed since the rename is a conflict of its undo, and kept if that is forced', async () => {
  const type = await makeType(admin, [field('weight', 'number')]);
  const { id } = await admin.create('/api/v1/cards', { type, name: 'A', attributes: { weight: 1 } });
  const batch = String((await rename(type, 'weight', 'mass')).headers['x-mutation-batch']);
  await admin.patch(`/api/v1/cards/${id}`, { attributes: { mass: 2 } });
  const rollback = `/api/v1/mutation-batches/${batch}/rollback`;
  await expectProblem(admin.post(rollback, { dry_run: false }), 409, 'rollback_conflicts');
  const forced = await admin.post(rollback, { dry_run: false, force: true });
  expect(forced.status).toBe(200);
  expect((await storedCard(t, id as string)).attributes).toEqual({ weight: 2 });
});

it('requests may name it by the former key until the removal, and responses have the present one', async () => {
  const key = 'breadth';
  const former = `f${Date.now().toString(36)}`;
  const type = await makeType(admin, [field(former, 'number'), field('kind', 'text')]);
  const { id } = await admin.create('/api/v1/cards', { type, name: 'One', attributes: { [former]: 7 } });
  expect((await rename(type, former, key)).status).toBe(200);
  const q = (text: string) => encodeURIComponent(text);
  const found = await admin.get(
    `/api/v1/cards?filter=${q(`attributes.${former} > 1`)}&sort_by=attributes.${former}`,
  );
  expect([...told(found), found.body.items[0].attributes]).toEqual([200, sunset, { [key]: 7 }]);
  expect(found.headers.link).toContain(`field:${type}.${former}`);
  const patched = await admin.patch(`/api/v1/cards/${id}`, { attributes: { [former]: 8 } });
  expect([...told(patched), patched.body.attributes]).toEqual([200, sunset, { [key]: 8 }]);
  const created = await admin.post('/api/v1/cards', { type, name: 'Two', attributes: { [former]: 9 } });
  expect([...told(created), created.body.attributes]).toEqual([201, sunset, { [key]: 9 }]);
  const report = await admin.get(`/api/v1/reports/portfolio?type=${type}&size_field=${former}`);
  expect(told(report)).toEqual([200, sunset]);
  const view = await admin.post('/api/v1/bookmarks', {
    name: 'v',
    filters: { types: [type] },
    columns: [`attributes.${former}`],
  });
  expect([...told(view), view.body.columns]).toEqual([201, sunset, [`attributes.${key}`]]);
  const odata = await admin.get(
    `/odata/v4/${type}?$select=id,${former}&$filter=${q(`${former} gt 1`)}&$orderby=${former}`,
  );
  expect(told(odata)).toEqual([200, sunset]);
  expect(odata.body.value.map((one: Record<string, number>) => one[key])).toEqual([8, 9]);
  // the client that named it is protected until then
  const { fields_schema } = (await admin.get(`${types}/${type}`)).body;
  delete fields_schema[0].fields[0].aliases;
  await expectProblem(admin.patch(`${types}/${type}`, { fields_schema }), 409, 'in_use');

  await db.raw(
    `update card_types set fields_schema = replace(fields_schema::text, ?, '2026-01-01')::jsonb where key = ?`,
    [removal, type],
  );
  await db('topic_versions').where({ topic: 'metamodel' }).increment('version', 1);
  await expectProblem(admin.get(`/api/v1/cards?filter=${q(`attributes.${former} > 1`)}`), 422);
  expect((await admin.patch(`${types}/${type}`, { fields_schema })).status).toBe(200);
});

it('imports may name it by the former key', async () => {
  const key = 'depth';
  const former = `g${Date.now().toString(36)}`;
  const type = await makeType(admin, [field(former, 'number')]);
  expect((await rename(type, former, key)).status).toBe(200);
  for (const [media, body] of [
    ['text/csv', `type,external_id,name,attributes.${former}\n${type},A,Ann,5\n`],
    [
      'application/x-ndjson',
      JSON.stringify({ type, external_id: 'B', name: 'Bea', attributes: { [former]: 6 } }),
    ],
  ] as const) {
    const headers = { 'content-type': media };
    const url = '/api/v1/imports?kind=cards&dry_run=false';
    const answer = await admin.request({ method: 'POST', url, payload: body, headers });
    expect(told(answer)).toEqual([202, sunset]);
    await untilStatus(t.services, answer.body.job_id, 'succeeded');
  }
  const cards = await db('cards').where({ type }).orderBy('external_id').pluck('attributes');
  expect(cards).toEqual([{ [key]: 5 }, { [key]: 6 }]);
});

it('requests that name it by both keys are refused, so that no value is lost', async () => {
  const key = 'height';
  const former = `h${Date.now().toString(36)}`;
  const type = await makeType(admin, [field(former, 'number')]);
  expect((await rename(type, former, key)).status).toBe(200);
  const send = (media: string, payload: string) =>
    admin.request({
      method: 'POST',
      url: '/api/v1/imports?kind=cards&dry_run=false',
      payload,
      headers: { 'content-type': media },
    });
  for (const columns of [`attributes.${key},attributes.${former}`, `attributes.${former},Height`]) {
    const answer = await send('text/csv', `type,name,${columns}\n${type},Both,3,4\n`);
    expect([answer.status, answer.body.errors]).toEqual([
      422,
      [expect.objectContaining({ field: `attributes.${former}`, code: 'repeated_column' })],
    ]);
  }
  const row = { type, name: 'Both', attributes: { [key]: 5, [former]: 6 } };
  const { job_id } = (await send('application/x-ndjson', JSON.stringify(row))).body;
  await untilStatus(t.services, job_id, 'failed');
  const report = await admin.get(`/api/v1/imports/${job_id}/rows`);
  expect(report.body.items).toMatchObject([
    { outcome: 'failed', errors: [{ field: `attributes.${former}`, code: 'repeated_field' }] },
  ]);
  expect(await db('cards').where({ type })).toEqual([]);

  const columns = `name,attributes.${former},attributes.${key}`;
  const extract = await admin.get(`/api/v1/extracts/cards?types=${type}&format=csv&columns=${columns}`);
  expect([extract.status, extract.body.errors]).toEqual([
    422,
    [expect.objectContaining({ field: 'columns.2', code: 'repeated_column' })],
  ]);
  const file = { kind: 'cards', format: 'csv', types: [type], columns: columns.split(',') };
  await expectProblem(admin.post('/api/v1/exports', file), 422);
});

it('a rename is refused where it cannot be', async () => {
  const type = await makeType(admin, [field('one', 'number'), field('two', 'number')]);
  await expectProblem(rename(type, 'nope', 'three'), 404);
  for (const key of ['two', 'name', 'one']) await expectProblem(rename(type, 'one', key), 422);
  await expectProblem(
    admin.post(`${types}/${type}/fields/one/rename`, { key: 'three', removal: '2020-01-01' }),
    422,
  );
  const never = await admin.post(`${types}/${type}/fields/one/rename`, {
    key: 'three',
    removal: '9999-12-31',
  });
  expect(never.body.errors).toEqual([
    expect.objectContaining({ code: 'out_of_range', message: expect.stringContaining('not be later than') }),
  ]);
  await expectProblem(rename('Application', 'costTotalAnnual', 'cost'), 409, 'built_in_frozen');
  const twice = await Promise.all([rename(type, 'one', 'three'), rename(type, 'one', 'three')]);
  expect(twice.map(({ status }) => status).sort()).toEqual([200, 409]);
  const { code, detail } = twice.find(({ status }) => status === 409)!.body;
  expect([code, detail]).toEqual(['wrong_state', 'The field one was renamed: its key is three.']);
  // the former key is taken until then, but by the field itself
  const two = (await admin.get(`${types}/${type}`)).body.fields_schema;
  const taken = await rename(type, 'two', 'one');
  expect([taken.status, taken.body.errors]).toEqual([
    422,
    [
      {
        field: 'key',
        code: 'duplicate',
        message: `is a former key of three, which requests may name until ${removal}`,
      },
    ],
  ]);
  expect(two[0].fields[0].aliases).toHaveLength(1);
  const back = await rename(type, 'three', 'one');
  expect(back.body.fields_schema[0].fields[0]).toMatchObject({ key: 'one', aliases: [{ key: 'three' }] });
});
