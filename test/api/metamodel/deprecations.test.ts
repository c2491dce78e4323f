import { removalNoticesJob } from '../../../domain/inventory/metamodel/notices/notices.job.ts';
import { removalNoticesProcessor } from '../../../workers/processors.ts';
import { startWorkers } from '../../../workers/runtime.ts';
import {
  closeAfterAll,
  expectProblem,
  openApp,
  type TestClient,
  type TestResponse,
} from '../../support/harness.ts';
import { ask, untilStatus } from '../../support/jobs.ts';
import { toldTo } from '../../support/notifications.ts';
import { until } from '../../support/until.ts';
import {
  field,
  makeRelationType,
  makeType,
  options,
  relationTypes,
  schema,
  types,
} from './metamodel.fixture.ts';

const { t, db, admin, member } = await openApp(['admin', 'member']);

closeAfterAll(await startWorkers(t.services, [removalNoticesProcessor]));

const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
const removal = day(30);
const noticed = ({ headers }: TestResponse) => [headers.deprecation, headers.sunset];
const announced = [`@${Date.parse(day(0)) / 1_000}`, new Date(removal).toUTCString()];
const nothing = [undefined, undefined];

/** A type of which `old`, the option `gold` of `grade`, and a relation type with its field `share` are deprecated. */
async function makeDeprecated(more: object = {}) {
  const deprecation = { removal, successor: 'size', ...more };
  const gold = { key: 'gold', label: 'Gold', deprecation };
  const fields = [
    field('old', 'number', { label: 'Old size', deprecation }),
    field('size', 'number'),
    field('grade', 'single_select', { options: [gold, ...options('tin')] }),
  ];
  const type = await makeType(admin, fields);
  const relation = await makeRelationType(admin, type, type, {
    deprecation,
    attributes_schema: [{ key: 'share', label: 'Share', type: 'number' }],
  });
  return { type, relation, url: `${types}/${type}` };
}

/** Lets the announced day come, or be near. */
async function moveRemoval(type: string, to: string, from = removal): Promise<void> {
  await db.raw(
    `update card_types set fields_schema = replace(fields_schema::text, '"${from}"', '"${to}"')::jsonb where key = ?`,
    [type],
  );
  await db('topic_versions').where({ topic: 'metamodel' }).increment('version', 1);
}

describe('responses to requests that name what is deprecated', () => {
  it('say so for questions and imports that name it', async () => {
    const label = `Wharf ${Date.now().toString(36)}`;
    const deprecation = { removal };
    const type = await makeType(
      admin,
      [field('berths', 'number', { deprecation }), field('depth', 'number')],
      {
        label,
        translations: { label: {}, plural: { en: `${label}s` } },
      },
    );
    const asking = (question: string) => admin.post('/api/v1/ai/question', { question });
    const asked = await asking(`${label}s with berths over 3`);
    expect([asked.status, ...noticed(asked)]).toEqual([200, ...announced]);
    const other = await asking(`${label}s with depth over 3`);
    expect([other.status, ...noticed(other)]).toEqual([200, ...nothing]);
    const imported = (payload: string, media = 'text/csv') =>
      admin.request({
        method: 'POST',
        url: '/api/v1/imports?kind=cards&dry_run=true',
        payload,
        headers: { 'content-type': media },
      });
    const named = await imported(`type,name,attributes.berths\n${type},A,1\n`);
    expect([named.status, ...noticed(named)]).toEqual([202, ...announced]);
    const without = await imported(`type,name,attributes.depth\n${type},A,1\n`);
    expect([without.status, ...noticed(without)]).toEqual([202, ...nothing]);
    const row = JSON.stringify({ type, name: 'B', attributes: { berths: 1 } });
    expect(noticed(await imported(row, 'application/x-ndjson'))).toEqual(announced);
  });

  it('say since when, until when and what, in reads and writes', async () => {
    const { type, relation, url } = await makeDeprecated();
    const size = { type, name: 'By size', attributes: { size: 1, grade: 'tin' } };
    const card = await admin.post('/api/v1/cards', size);
    expect([card.status, ...noticed(card)]).toEqual([201, ...nothing]);
    const { id } = card.body;
    const link = `</api/v1/metamodel/types/${type}>; rel="deprecation"; title="field:${type}.old"`;
    const listed = await admin.get(
      `/api/v1/cards?type=${type}&filter=${encodeURIComponent('attributes.old > 1')}`,
    );
    expect([...noticed(listed), listed.headers.link]).toEqual([...announced, link]);
    const filter = (text: string) =>
      `/api/v1/cards?filter=${encodeURIComponent(`type = ${type} and ${text}`)}`;
    const q = { from: [type], measures: [{ fn: 'sum', field: 'attributes.old' }] };
    const naming: [string, () => Promise<TestResponse>][] = [
      ['an option', () => admin.get(filter('attributes.grade = gold'))],
      ['a relation type', () => admin.get(filter(`relation.${relation} exists`))],
      ['columns', () => admin.get(`/api/v1/extracts/cards?types=${type}&columns=id,attributes.old`)],
      ['an order', () => admin.get(`/api/v1/cards?type=${type}&sort_by=attributes.old`)],
      ['relations', () => admin.get(`/api/v1/relations?type=${relation}`)],
      ['the relation type itself', () => admin.get(`${relationTypes}/${relation}`)],
      ['usage', () => admin.get(`${url}/usage?field_key=old`)],
      ['a report', () => admin.get(`/api/v1/reports/portfolio?type=${type}&x_axis=grade&size_field=old`)],
      ['a query', () => admin.post('/api/v1/reports/query', q)],
      ['a new card', () => admin.post('/api/v1/cards', { type, name: 'New', attributes: { old: 1 } })],
      ['a patch', () => admin.patch(`/api/v1/cards/${id}`, { attributes: { old: 2 } })],
      ['an option of a patch', () => admin.patch(`/api/v1/cards/${id}`, { attributes: { grade: 'gold' } })],
      ['many', () => admin.patch('/api/v1/cards/bulk', { ids: [id], updates: { attributes: { old: 3 } } })],
      ['a relation', () => admin.post('/api/v1/relations', { type: relation, source_id: id, target_id: id })],
      [
        'a view',
        () =>
          admin.post('/api/v1/bookmarks', {
            name: 'v',
            filters: { types: [type], attributes: { grade: ['gold'] } },
          }),
      ],
      ['OData', () => admin.get(`/odata/v4/${type}?$select=old`)],
      ['OData filters', () => admin.get(`/odata/v4/${type}?$filter=${encodeURIComponent('old gt 1')}`)],
    ];
    for (const [what, send] of naming) {
      const answer = await send();
      if (answer.status < 400) expect([what, ...noticed(answer)]).toEqual([what, ...announced]);
      else expect([what, answer.status, answer.text]).toEqual(['a relation', 422, expect.anything()]);
    }
    const silent = [
      `/api/v1/cards?type=${type}`,
      `/api/v1/cards/${id}`,
      url,
      filter('attributes.size > 1'),
      `/api/v1/reports/portfolio?type=${type}&x_axis=grade`,
      `/odata/v4/${type}?$select=size`,
      types,
    ];
    for (const path of silent) expect([path, ...noticed(await admin.get(path))]).toEqual([path, ...nothing]);
    await expectProblem(admin.get(filter('attributes.nope = 1')), 422);
  });

  it('say so from the cache of reports as well', async () => {
    const { type } = await makeDeprecated();
    const path = `/api/v1/reports/portfolio?type=${type}&x_axis=grade&size_field=old`;
    const first = await admin.get(path);
    const second = await admin.get(path);
    expect([first.status, noticed(first), noticed(second)]).toEqual([200, announced, announced]);
    const known = await admin.get(path, { 'if-none-match': String(first.headers.etag) });
    expect([known.status, noticed(known)]).toEqual([304, announced]);
  });

  it('do not for a field that another type keeps', async () => {
    const { type } = await makeDeprecated();
    const other = await makeType(admin, [field('old', 'number')]);
    const path = `/api/v1/cards?filter=${encodeURIComponent('attributes.old > 1')}`;
    expect(noticed(await admin.get(path))).toEqual(nothing);
    expect(noticed(await admin.get(`${path}&type=${type}`))).toEqual(announced);
    expect((await admin.delete(`${types}/${other}`)).status).toBe(200);
  });

  it('say that a type is, with all that belongs to it', async () => {
    const { type, url } = await makeDeprecated();
    const sooner = day(10);
    const marked = await admin.patch(url, { deprecation: { removal: sooner, note: 'Merged with ours.' } });
    expect(marked.body.deprecation).toEqual({ since: day(0), removal: sooner, note: 'Merged with ours.' });
    const answer = await admin.get(`/api/v1/cards?type=${type}`);
    expect(answer.headers.sunset).toBe(new Date(sooner).toUTCString());
    const { body } = await admin.patch(url, { deprecation: null });
    expect(body.deprecation).toBeNull();
    expect(noticed(await admin.get(`/api/v1/cards?type=${type}`))).toEqual(nothing);
  });
});

describe('a deprecation', () => {
  it('keeps its day when the fields are sent back, and is undone', async () => {
    const { type, url } = await makeDeprecated({ since: '2026-01-01' });
    const { fields_schema } = (await admin.get(url)).body;
    expect(fields_schema[0].fields[0].deprecation).toEqual({
      since: '2026-01-01',
      removal,
      successor: 'size',
    });
    expect((await admin.patch(url, { fields_schema, label: 'Other' })).body.fields_schema).toEqual(
      fields_schema,
    );
    const bare = schema(
      ...fields_schema[0].fields.map(({ deprecation: _, ...one }: object & { deprecation?: object }) => one),
    );
    expect((await admin.patch(url, { fields_schema: bare })).status).toBe(200);
    await admin.undo();
    expect((await admin.get(url)).body.fields_schema).toEqual(fields_schema);
    // what has come to pass since may be sent back
    await moveRemoval(type, day(-1));
    const past = (await admin.get(url)).body;
    expect((await admin.patch(url, { fields_schema: past.fields_schema, label: 'Past' })).status).toBe(200);
  });

  it('is announced for the future', async () => {
    const { url } = await makeDeprecated();
    const wrong = [{ removal: day(0) }, { removal: '2020-01-01' }, { since: day(40), removal }];
    for (const deprecation of wrong) {
      const answer = await admin.patch(url, { deprecation });
      expect(answer.body.errors).toMatchObject([{ field: 'deprecation.removal', code: 'out_of_range' }]);
    }
    await expectProblem(admin.patch(url, { deprecation: { since: day(0) } }), 422);
  });

  it('allows a removal that breaks consumers from its day on', async () => {
    const { type, url } = await makeDeprecated();
    const expression = 'attributes.old > 1';
    await admin.create('/api/v1/bookmarks', { name: 'By old', filters: { types: [type], expression } });
    const [{ fields }] = (await admin.get(url)).body.fields_schema;
    const without = { fields_schema: schema(...fields.slice(1)) };
    await expectProblem(admin.patch(url, without), 409, 'in_use');
    await moveRemoval(type, day(0));
    const dry = await admin.patch(`${url}?dry_run=true`, without);
    expect(dry.body).toMatchObject({ needs_force: false, consumer_count: 1 });
    const gone = await admin.patch(url, without);
    expect([gone.status, gone.body.consumer_count]).toEqual([200, 1]);
    // others that break with it were not announced
    await admin.create('/api/v1/bookmarks', {
      name: 'By size',
      filters: { types: [type], expression: 'attributes.size > 1' },
    });
    await expectProblem(admin.patch(url, { fields_schema: [] }), 409, 'in_use');
  });
});

describe('owners of what uses it', () => {
  const said = 'deprecation.announced';
  const reminded = 'deprecation.reminded';

  /** The notices of the user so far: by the types of their events. */
  const noticesTo = async ({ userId }: TestClient): Promise<string[]> =>
    await db('events')
      .where({ recipient_id: userId })
      .whereLike('event_type', 'deprecation.%')
      .orderBy('position')
      .pluck('event_type');

  async function runDaily(): Promise<void> {
    await untilStatus(t.services, await ask(await t.ctx(), removalNoticesJob, {}), 'succeeded');
  }

  const toldOf = async ({ userId }: TestClient, count: number) =>
    await until(`${count} notifications`, async () => {
      const told = (await toldTo(t.services, userId)).filter(({ type }) => type === 'deprecation_announced');
      return told.length >= count ? told : undefined;
    });

  it('are notified at once, and once again in the week before', async () => {
    const { type } = await makeDeprecated({ note: 'Nobody fills it.' });
    const filters = { types: [type], expression: 'attributes.old > 1' };
    await member.create('/api/v1/bookmarks', { name: 'Mine', filters });
    await admin.create('/api/v1/bookmarks', { name: 'Private', filters });
    await runDaily();
    expect(await noticesTo(member)).toEqual([said]);
    const [notice] = await toldOf(member, 1);
    expect(notice!.title).toMatch(/^Old size \(Made\) will be removed on /);
    expect(notice!.message).toBe('What you own uses it: view "Mine". Use size instead. Nobody fills it.');
    await runDaily();
    expect(await noticesTo(member)).toEqual([said]);
    // moved, it is announced again, and reminded of on another day
    await moveRemoval(type, day(5));
    await runDaily();
    await runDaily();
    expect(await noticesTo(member)).toEqual([said, said]);
    await db('deprecation_notices').update({ announced_on: day(-1) });
    await runDaily();
    await runDaily();
    expect(await noticesTo(member)).toEqual([said, said, reminded]);
    expect((await toldOf(member, 3)).map(({ title }) => title)).toContainEqual(
      expect.stringContaining('will be removed soon, on '),
    );
    await moveRemoval(type, day(-1), day(5));
    await runDaily();
    expect(await noticesTo(member)).toEqual([said, said, reminded]);
  });

  it('are notified by the change itself, of what they may still read', async () => {
    const type = await makeType(admin, [field('dull', 'number')]);
    const filters = { types: [type], expression: 'attributes.dull > 1' };
    const own = await t.as('member', 'another');
    await own.create('/api/v1/bookmarks', { name: 'Own', filters });
    const asked = { target_type_key: type, fields: [{ key: 'dull' }], target_roles: ['responsible'] };
    const survey = await admin.create('/api/v1/surveys', { name: 'A survey', ...asked });
    await db('surveys').where({ id: survey.id }).update({ created_by: own.userId });
    const fields_schema = schema(field('dull', 'number', { deprecation: { removal } }));
    expect((await admin.patch(`${types}/${type}`, { fields_schema })).status).toBe(200);
    const told = await toldOf(own, 1);
    expect(told.map(({ message }) => message)).toEqual(['What you own uses it: view "Own".']);
    expect(await noticesTo(own)).toEqual([said]);
    // nobody else receives it
    expect(JSON.stringify(await admin.changes('0', 'deprecation.'))).not.toContain('"Own"');
  });
});
