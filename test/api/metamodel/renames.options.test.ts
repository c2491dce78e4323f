import { randomUUID } from 'node:crypto';
import { danglingReferences } from '../../../domain/inventory/metamodel/usage/consumers.ts';
import { systemContext } from '../../../domain/kernel/services.ts';
import { startWorkers } from '../../../workers/runtime.ts';
import { closeAfterAll, expectProblem, openApp, type TestResponse } from '../../support/harness.ts';
import { storeConnection, storeMapping } from '../../support/itsm.ts';
import { untilStatus } from '../../support/jobs.ts';
import { everyKind, useEverywhere } from './consumers.fixture.ts';
import {
  field,
  makeRelationType,
  makeType,
  options,
  relationTypes,
  storedCard,
  types,
} from './metamodel.fixture.ts';

const { t, db, admin } = await openApp(['admin']);

closeAfterAll(await startWorkers(t.services));

const removal = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
const sunset = new Date(removal).toUTCString();
const told = ({ status, headers }: TestResponse) => [status, headers.sunset];
const q = (text: string) => encodeURIComponent(text);

const renameIn = (url: string, field_key: string, option_key: string, key: string) =>
  admin.post(url, { field_key, option_key, key, removal });
const rename = (type: string, from: string, key: string, query = '') =>
  renameIn(`${types}/${type}/rename${query}`, 'grade', from, key);
const dangling = async () => {
  const ctx = await systemContext(t.services, 'test');
  return (await danglingReferences(ctx, db, ctx.metamodel)).consumers;
};

it('cards and stored objects follow the rename of an option, and its undo', async () => {
  const fields = [
    field('grade', 'single_select', { options: options('gold', 'silver') }),
    field('marks', 'multiple_select', { options: options('gold', 'tin') }),
    field('size', 'number'),
    field('total', 'number'),
  ];
  const type = await makeType(admin, fields);
  const other = await makeType(admin);
  const made = await useEverywhere(t, admin, {
    type,
    other,
    relation: await makeRelationType(admin, type, other),
  });
  const attributes = { size: 7, grade: 'gold', marks: ['gold', 'tin'] };
  const { id } = await admin.create('/api/v1/cards', { type, name: 'One', attributes });
  const stored = (table: string, name: string) => db(table).where({ id: made[name] }).first();
  const before = (await admin.get(`${types}/${type}`)).body;

  const dry = (await rename(type, 'gold', 'first-class.1', '?dry_run=true')).body;
  expect(dry).toMatchObject({ dry_run: true, cards: 1, consumer_count: 0, needs_force: false });
  const answer = await rename(type, 'gold', 'first-class.1');
  expect(answer.status).toBe(200);
  expect(answer.body.fields_schema[0].fields[0].options[0]).toMatchObject({
    key: 'first-class.1',
    label: 'GOLD',
    aliases: [{ key: 'gold', deprecation: { removal } }],
  });
  const renamed = { ...attributes, grade: 'first-class.1' };
  expect((await storedCard(t, String(id))).attributes).toEqual(renamed);
  expect(await dangling()).toEqual([]);
  const uses = await admin.get(`${types}/${type}/usage?field_key=grade&option_key=first-class.1`);
  expect(uses.body.consumers.map(({ kind }: { kind: string }) => kind)).toEqual(everyKind);
  expect((await stored('bookmarks', 'view')).filters.attributes).toEqual({ grade: ['first-class.1'] });
  expect((await stored('bookmarks', 'feed')).filters.expression).toContain(
    'attributes.grade = "first-class.1" and attributes.size > 1',
  );
  expect((await stored('calculations', 'calculation')).formula).toContain('data.grade == "first-class.1"');
  expect((await stored('surveys', 'survey')).target_filters.attribute_filters[0].value).toBe('first-class.1');

  await admin.undo(String(answer.headers['x-mutation-batch']));
  expect((await admin.get(`${types}/${type}`)).body).toEqual(before);
  expect((await storedCard(t, String(id))).attributes).toEqual(attributes);
  expect((await stored('bookmarks', 'view')).filters.attributes).toEqual({ grade: ['gold'] });
  expect((await stored('itsm_mappings', 'itsm_mapping')).card_filter).toMatch(/attributes\.grade = "?gold"?/);
  expect(await dangling()).toEqual([]);
});

it('stored objects that were saved since the rename follow its undo', async () => {
  const fields = [
    field('grade', 'single_select', { options: options('gold', 'silver') }),
    field('size', 'number'),
    field('total', 'number'),
  ];
  const type = await makeType(admin, fields);
  const other = await makeType(admin);
  const attributes_schema = [
    { key: 'kind', label: 'Kind', type: 'single_select', options: options('hard', 'soft') },
  ];
  const relation = await makeRelationType(admin, type, other, { attributes_schema });
  const batches = [
    await rename(type, 'silver', 'tin'),
    await renameIn(`${relationTypes}/${relation}/rename`, 'kind', 'hard', 'firm'),
  ].map(({ headers }) => String(headers['x-mutation-batch']));
  const filter = `type = ${type} and attributes.grade = tin and relation.${relation}.attributes.kind = firm`;
  const view = { name: 'Since', filters: { types: [type], expression: filter } };
  const { id } = await admin.create('/api/v1/bookmarks', view);
  for (const batch of batches.toReversed()) {
    const dry = await admin.post(`/api/v1/mutation-batches/${batch}/rollback`, { dry_run: true });
    expect(dry.body).toMatchObject({ conflict_count: 0, left: [] });
    await admin.undo(batch);
  }
  const then = filter.replace('tin', 'silver').replace('firm', 'hard');
  expect((await db('bookmarks').where({ id }).first()).filters.expression).toBe(then);
  expect(await dangling()).toEqual([]);
});

it('requests and imports may name it by the former key until the removal', async () => {
  const former = `o${Date.now().toString(36)}`;
  const label = former.toUpperCase();
  const type = await makeType(admin, [
    // the label is written like the key
    field('grade', 'single_select', { options: [{ key: former, label }, ...options('silver')] }),
    field('marks', 'multiple_select', { options: options('x', 'y') }),
  ]);
  const create = (name: string, grade: string) =>
    admin.post('/api/v1/cards', { type, name, external_id: name, attributes: { grade } });
  const { id } = (await create('One', former)).body;
  expect((await rename(type, former, 'gilt')).status).toBe(200);
  expect((await renameIn(`${types}/${type}/rename`, 'marks', 'x', 'z')).status).toBe(200);

  const found = await admin.get(
    `/api/v1/cards?filter=${q(`type = ${type} and attributes.grade = ${former}`)}`,
  );
  expect([...told(found), found.body.total]).toEqual([200, sunset, 1]);
  expect(found.headers.link).toContain(`option:${type}.grade.${former}`);
  const patched = await admin.patch(`/api/v1/cards/${id}`, {
    attributes: { grade: former, marks: ['x', 'y'] },
  });
  expect([...told(patched), patched.body.attributes]).toEqual([
    200,
    sunset,
    { grade: 'gilt', marks: ['z', 'y'] },
  ]);
  const created = await create('Two', former);
  expect([...told(created), created.body.attributes]).toEqual([201, sunset, { grade: 'gilt' }]);
  const odata = await admin.get(
    `/odata/v4/${type}?$select=name&$filter=${q(`grade eq '${former}'`)}&$orderby=name`,
  );
  expect(told(odata)).toEqual([200, sunset]);
  expect(odata.body.value).toMatchObject([{ name: 'One' }, { name: 'Two' }]);
  const headers = { 'content-type': 'text/csv' };
  const payload = `type,external_id,name,attributes.grade,attributes.marks\n${type},A,Ann,${former},x;y\n`;
  const url = '/api/v1/imports?kind=cards&dry_run=false';
  const started = await admin.request({ method: 'POST', url, payload, headers });
  expect(told(started)).toEqual([202, sunset]);
  await untilStatus(t.services, started.body.job_id, 'succeeded');
  const [imported] = await db('cards').where({ type, external_id: 'A' }).pluck('attributes');
  expect(imported).toEqual({ grade: 'gilt', marks: ['z', 'y'] });
  const labelled = `type,external_id,name,attributes.grade\n${type},A,Ann,${label}\n`;
  expect(told(await admin.request({ method: 'POST', url, payload: labelled, headers }))).toEqual([
    202,
    undefined,
  ]);

  await db.raw(
    `update card_types set fields_schema = replace(fields_schema::text, ?, '2026-01-01')::jsonb where key = ?`,
    [removal, type],
  );
  await db('topic_versions').where({ topic: 'metamodel' }).increment('version', 1);
  await expectProblem(create('Three', former), 422);
});

it('relations follow the rename of an option of their type', async () => {
  const type = await makeType(admin);
  const other = await makeType(admin);
  const attributes_schema = [
    { key: 'kind', label: 'Kind', type: 'single_select', options: options('hard', 'soft') },
  ];
  const relation = await makeRelationType(admin, type, other, { attributes_schema });
  const [source_id, target_id] = await Promise.all(
    [type, other].map(async (one) => (await admin.create('/api/v1/cards', { type: one, name: 'A' })).id),
  );
  const made = await admin.create('/api/v1/relations', {
    type: relation,
    source_id,
    target_id,
    attributes: { kind: 'hard' },
  });
  const expression = `relation.${relation}.attributes.kind = hard`;
  const view = await admin.create('/api/v1/bookmarks', { name: 'v', filters: { expression } });
  const url = `${relationTypes}/${relation}/rename`;
  const answer = await renameIn(url, 'kind', 'hard', 'firm');
  expect([answer.status, answer.body.attributes_schema[0].options[0].key]).toEqual([200, 'firm']);
  const kind = async () => (await db('relations').where({ id: made.id }).first()).attributes.kind;
  expect(await kind()).toBe('firm');
  const filters = async () => (await db('bookmarks').where({ id: view.id }).first()).filters.expression;
  expect(await filters()).toBe(`relation.${relation}.attributes.kind = firm`);
  await admin.patch(`/api/v1/relations/${made.id}`, { attributes: { kind: 'soft' } });
  const patched = await admin.patch(`/api/v1/relations/${made.id}`, { attributes: { kind: 'hard' } });
  expect([...told(patched), patched.body.attributes.kind]).toEqual([200, sunset, 'firm']);
  const rollback = `/api/v1/mutation-batches/${answer.headers['x-mutation-batch']}/rollback`;
  expect((await admin.post(rollback, { dry_run: false, force: true })).status).toBe(200);
  expect([await kind(), await filters()]).toEqual(['hard', expression]);
  await expectProblem(renameIn(url, 'kind', 'hard', 'soft'), 422);
});

it('answers of surveys follow', async () => {
  const type = await makeType(admin, [
    field('grade', 'single_select', { options: options('gold', 'silver') }),
  ]);
  const { id: card_id } = await admin.create('/api/v1/cards', { type, name: 'One' });
  const survey = await admin.create('/api/v1/surveys', {
    name: 's',
    target_type_key: type,
    fields: [{ key: 'grade' }],
  });
  await db('surveys').where({ id: survey.id }).update({ status: 'active' });
  const answered = { grade: { current_value: null, new_value: 'gold', confirmed: false } };
  await db('survey_responses').insert({
    ...{ survey_id: survey.id, card_id, user_id: admin.userId, status: 'completed' },
    responses: JSON.stringify(answered),
  });
  expect((await rename(type, 'gold', 'gilt')).status).toBe(200);
  const answers = () => db('survey_responses').where({ survey_id: survey.id }).pluck('responses');
  expect(await answers()).toEqual([{ grade: { ...answered.grade, new_value: 'gilt' } }]);
  const { fields } = await db('surveys').where({ id: survey.id }).first();
  expect(fields[0].options.map(({ key }: { key: string }) => key)).toEqual(['gilt', 'silver']);
  const ofField = await admin.post(`${types}/${type}/fields/grade/rename`, { key: 'rank', removal });
  expect(ofField.status).toBe(200);
  expect(await answers()).toEqual([{ rank: { ...answered.grade, new_value: 'gilt' } }]);
});

it('a mapping follows with its pairs, unless a run is open', async () => {
  const type = await makeType(admin, [
    field('grade', 'single_select', { options: options('gold', 'silver') }),
  ]);
  const instance_url = 'https://itsm.example.com';
  const connectionId = await storeConnection(db, { instance_url, secrets: '' });
  const pairs = [{ local: 'gold', remote: '1' }];
  const mapped = {
    ...{ card_field: 'attributes.grade', remote_field: 'u_grade' },
    ...{ transform_type: 'value_map', transform_config: { pairs } },
  };
  const mapping_id = await storeMapping(t, { connectionId, cardType: type, fields: [mapped] });
  const base = { 'attributes.grade': { local: 'gold', remote: '1' } };
  await db('itsm_pairs').insert({
    ...{ mapping_id, remote_id: 'r', card_id: randomUUID(), origin: 'linked', state: 'linked' },
    base: JSON.stringify(base),
  });
  const [run] = await db('itsm_runs')
    .insert({
      ...{ connection_id: connectionId, mapping_id, direction: 'pull', trigger: 'manual', status: 'review' },
      ...{ stage: 'review', complete: true, auto_apply: false },
    })
    .returning('id');
  await expectProblem(rename(type, 'gold', 'gilt'), 409, 'in_use');
  await db('itsm_runs').where({ id: run.id }).update({ status: 'completed' });
  const answer = await rename(type, 'gold', 'gilt');
  expect(answer.status).toBe(200);
  const fieldOf = () => db('itsm_field_mappings').where({ mapping_id }).first();
  expect((await fieldOf()).transform_config.pairs).toEqual([{ local: 'gilt', remote: '1' }]);
  const renamed = await admin.post(`${types}/${type}/fields/grade/rename`, { key: 'rank', removal });
  const bases = () => db('itsm_pairs').where({ mapping_id }).pluck('base');
  expect(await bases()).toEqual([{ 'attributes.rank': base['attributes.grade'] }]);
  await admin.undo(String(renamed.headers['x-mutation-batch']));
  await admin.undo(String(answer.headers['x-mutation-batch']));
  expect(await bases()).toEqual([base]);
  expect((await fieldOf()).transform_config.pairs).toEqual(pairs);
});

it('a rename of an option is refused where it cannot be', async () => {
  const type = await makeType(admin, [
    field('grade', 'single_select', { options: options('gold', 'silver') }),
  ]);
  await expectProblem(rename(type, 'nope', 'tin'), 404);
  await expectProblem(renameIn(`${types}/${type}/rename`, 'nope', 'gold', 'x'), 404);
  for (const key of ['gold', 'silver', 'not an option']) await expectProblem(rename(type, 'gold', key), 422);
  const twice = await Promise.all([rename(type, 'gold', 'tin'), rename(type, 'gold', 'tin')]);
  expect(twice.map(({ status }) => status).sort()).toEqual([200, 409]);
  const taken = await rename(type, 'silver', 'gold');
  expect(taken.body.errors).toMatchObject([{ field: 'key', code: 'duplicate' }]);
  expect((await rename(type, 'tin', 'gold')).body.fields_schema[0].fields[0].options[0]).toMatchObject({
    key: 'gold',
    aliases: [{ key: 'tin' }],
  });
  const levels = renameIn(`${types}/BusinessCapability/rename`, 'capabilityLevel', 'L1', 'one');
  await expectProblem(levels, 409, 'built_in_frozen');
});

it('a rename is no work on the cards whose values follow it', async () => {
  const type = await makeType(admin, [field('grade', 'single_select', { options: options('gold') })]);
  const author = await t.as('admin', 'author');
  const { id } = await admin.create('/api/v1/cards', {
    type,
    name: 'Untouched',
    attributes: { grade: 'gold' },
  });
  expect((await author.post(`/api/v1/favorites/${id}`)).status).toBeLessThan(300);
  const body = { field_key: 'grade', option_key: 'gold', key: 'golden', removal };
  expect((await author.post(`${types}/${type}/rename`, body)).status).toBe(200);
  const eventsOf = ({ items }: { items: { card_id: string }[] }) =>
    items.filter(({ card_id }) => card_id === id).length;
  const home = (await author.get('/api/v1/home')).body;
  expect([eventsOf(home.changes), home.recent.total]).toEqual([1, 0]);
  const { recent_events: items } = (await author.get('/api/v1/reports/dashboard')).body;
  expect(eventsOf({ items })).toBe(1);
  const patch = { attributes: { grade: null } };
  expect((await author.patch(`/api/v1/cards/${id}`, patch)).status).toBe(200);
  expect((await author.get('/api/v1/home')).body.recent.items).toMatchObject([{ id }]);
});
