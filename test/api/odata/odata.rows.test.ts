import { query } from '../../../platform/database.ts';
import { pluck } from '../../support/harness.ts';
import { ask, createLandscape, follow } from './odata.fixture.ts';

const { t, admin, ids } = await createLandscape();

afterAll(() => t.close());

test('entities larger than a chunk of memory are whole, with those that they lead to', async () => {
  // control characters, quotes and letters of several bytes take more room as JSON
  const text = `${'"\\\u0001\n\t'.repeat(3_000)}${'é漢😀'.repeat(3_000)}`;
  const large = await admin.card({ name: 'Large', description: text });
  const parts = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      admin.card({ type: 'ITComponent', name: `Part ${n}`, description: `${n}${text}` }),
    ),
  );
  for (const { id } of parts) await admin.relate('relAppToITC', large.id, id);
  const { body } = await ask(admin, '/Application', {
    $filter: "name eq 'Large'",
    $expand: 'RelAppToITC($orderby=id)',
  });
  const [entity] = body.value;
  expect(entity.description).toBe(text);
  expect(pluck(entity.RelAppToITC, 'name')).toEqual(
    parts.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(({ name }) => name),
  );
  for (const { name, description } of entity.RelAppToITC)
    expect(description).toBe(`${name.slice('Part '.length)}${text}`);
});

test('nested collections are bounded, and pages end by their size', async () => {
  const { id: hub } = await admin.card({ type: 'ITComponent', name: 'Hub' });
  const text = 'x'.repeat(1_000);
  await query(t.services.db).run`with made as (insert into cards (type, name, description, attributes, status)
       select 'Application', 'Bulk ' || n, ${text}, '{}', 'ACTIVE' from generate_series(1, 150) n returning id)
     insert into relations (type, source_id, target_id) select 'relAppToITC', id, ${hub} from made`;
  const options = { $filter: "startswith(name,'Bulk')", $expand: 'RelAppToITC($expand=RelAppToITC)' };
  const names = new Set<string>();
  let { body } = await ask(admin, '/Application', options);
  expect(body.value.length).toBeLessThan(150);
  const [{ RelAppToITC: inner, ...related }] = body.value[0].RelAppToITC;
  expect(inner).toHaveLength(70);
  expect((await follow(admin, related['RelAppToITC@odata.nextLink'])).body.value).toHaveLength(80);
  for (;;) {
    for (const { name } of body.value) names.add(name);
    const link = body['@odata.nextLink'];
    if (!link) break;
    ({ body } = await follow(admin, link));
  }
  expect(names.size).toBe(150);
  const flat = await ask(admin, `/ITComponent(${hub})`, { $expand: 'RelAppToITC($select=name)' });
  expect(flat.body.RelAppToITC).toHaveLength(150);
});

test('values of other types than the metamodel says are shown as far as they can be', async () => {
  const { id } = await admin.card({ name: 'Odd' });
  const odd = {
    numberOfUsers: 'many "users"',
    costTotalAnnual: null,
    timeModel: { a: ['}', '"', { b: [] }] },
    businessCriticality: true,
    unknown: [1, 2],
    'a "key"': 'x',
  };
  await t.services
    .db('cards')
    .where({ id })
    .update({
      attributes: JSON.stringify(odd),
      lifecycle: JSON.stringify({ plan: '', active: '2020-01-31', endOfLife: null }),
    });
  const { body } = await ask(admin, `/Application(${id})`);
  expect(body).toMatchObject({
    numberOfUsers: 'many "users"',
    costTotalAnnual: null,
    timeModel: { a: ['}', '"', { b: [] }] },
    businessCriticality: true,
    lifecycle_plan: null,
    lifecycle_active: '2020-01-31',
    lifecycle_endOfLife: null,
  });
  expect(Object.keys(body)).not.toContain('unknown');
  const exact = await ask(
    admin,
    `/Application(${ids.Alpha})`,
    { $select: 'costTotalAnnual,numberOfUsers' },
    { accept: 'application/json;IEEE754Compatible=true' },
  );
  expect(exact.body).toMatchObject({ costTotalAnnual: '1000.5', numberOfUsers: 10 });
});

test('an entity of which nothing is asked is there all the same', async () => {
  const plain = { accept: 'application/json;odata.metadata=none' };
  const answer = await ask(admin, '/Application', { $select: 'RelAppToITC', $top: '2' }, plain);
  expect(answer.body).toEqual({ value: [{}, {}] });
  const nested = await ask(
    admin,
    '/Application',
    { $select: 'name', $filter: "name eq 'Alpha'", $expand: 'RelAppToITC($select=RelITCToTechCat)' },
    plain,
  );
  expect(nested.body).toEqual({ value: [{ name: 'Alpha', RelAppToITC: [{}, {}] }] });
});

test('a page, an entity by itself and one property of it show the same', async () => {
  // of the entities that differ only by their names one is enough
  const $filter = "name ne 'Large' and (name eq 'Bulk 1' or not startswith(name,'Bulk'))";
  for (const metadata of ['none', 'minimal', 'full']) {
    const headers = { accept: `application/json;odata.metadata=${metadata}` };
    const { body: page } = await ask(admin, '/Application', { $filter }, headers);
    for (const entity of page.value) {
      const { body } = await ask(admin, `/Application(${entity.id})`, {}, headers);
      delete body['@odata.context'];
      expect(body).toEqual(entity);
      for (const name of [
        'name',
        'tags',
        'created_at',
        'data_quality',
        'costTotalAnnual',
        'lifecycle_active',
      ]) {
        const own = await ask(admin, `/Application(${entity.id})/${name}`, {}, headers);
        expect([own.status, own.body?.value ?? null]).toEqual([
          entity[name] === null ? 204 : 200,
          entity[name],
        ]);
      }
    }
  }
});
