import { parse } from '@sap-ux/edmx-parser';
import odataQuery from 'odata-query';
import { pluck } from '../../support/harness.ts';
import { createLandscape, namesOf, ROOT } from './odata.fixture.ts';

/*
 * Clients that others have written: a parser of metadata documents, by which all that the service tells of itself is
 * read and asked for, and a builder of queries.
 */

type Property = { name: string; type: string };
interface EntityType {
  name: string;
  fullyQualifiedName: string;
  keys: Property[];
  entityProperties: Property[];
  navigationProperties: { name: string; isCollection: boolean; targetTypeName: string }[];
}
interface Schema {
  entitySets: { name: string; entityTypeName: string; navigationPropertyBinding: Record<string, string> }[];
  entityTypes: EntityType[];
}

// the parser's own types stand in a package that it does not bring along
const readSchema = (xml: string): Schema => (parse(xml) as { schema: Schema }).schema;
const buildQuery = odataQuery as unknown as {
  default: typeof odataQuery.default;
} & typeof odataQuery.default;
const query = (options: object): string => (buildQuery.default ?? buildQuery)(options as never);

const { t, admin, ids } = await createLandscape();

afterAll(() => t.close());

const fits: Record<string, (value: unknown) => boolean> = {
  'Edm.String': (value) => typeof value === 'string',
  'Edm.Guid': (value) => /^[0-9a-f-]{36}$/.test(String(value)),
  'Edm.Double': (value) => typeof value === 'number',
  'Edm.Decimal': (value) => typeof value === 'number',
  'Edm.Boolean': (value) => typeof value === 'boolean',
  'Edm.Date': (value) => /^\d{4}-\d\d-\d\d$/.test(String(value)),
  'Edm.DateTimeOffset': (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(value)),
  'Collection(Edm.String)': (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
};

it('finds every set, property and way of the metadata document, as it is described there', async () => {
  const { entitySets, entityTypes } = readSchema((await admin.get(`${ROOT}/$metadata`)).text);
  const types = new Map(entityTypes.map((type) => [type.fullyQualifiedName, type]));
  const listed = pluck((await admin.get(ROOT)).body.value, 'name');
  expect(entitySets.map(({ name }) => name).sort()).toEqual(listed.sort());
  for (const set of entitySets) {
    const type = types.get(set.entityTypeName)!;
    const ways = type.navigationProperties;
    expect(type.keys.map(({ name }) => name)).toEqual(['id']);
    expect(Object.keys(set.navigationPropertyBinding).sort()).toEqual(ways.map(({ name }) => name).sort());
    for (const { targetTypeName } of ways) expect(types.has(targetTypeName), targetTypeName).toBe(true);
    const select = type.entityProperties.map(({ name }) => name).join();
    const expand = ways
      .slice(0, 20)
      .map(({ name }) => `${name}($top=1)`)
      .join();
    const answer = await admin.get(`${ROOT}/${set.name}?$top=2&$select=${select}&$expand=${expand}`);
    expect([set.name, answer.status, answer.text.slice(0, 0)]).toEqual([set.name, 200, '']);
    for (const entity of answer.body.value) {
      for (const property of type.entityProperties) {
        const value = entity[property.name];
        expect(value === null || fits[property.type]!(value), `${set.name}/${property.name}`).toBe(true);
      }
      for (const way of ways.slice(0, 20)) expect(Array.isArray(entity[way.name])).toBe(way.isCollection);
    }
  }
});

it('understands the queries of a query builder', async () => {
  const built = query({
    filter: {
      and: [{ numberOfUsers: { ge: 10 } }, { or: [{ timeModel: 'invest' }, { name: { startswith: 'B' } }] }],
      RelAppToITC: { any: { name: { in: ['Database', 'Server'] } } },
    },
    select: ['id', 'name'],
    orderBy: ['name desc'],
    expand: { RelAppToITC: { select: ['name'], filter: { name: { ne: 'Server' } }, top: 5 } },
    count: true,
    top: 10,
  });
  const answer = await admin.get(`${ROOT}/Application${built}`);
  expect([answer.status, answer.body['@odata.count'], namesOf(answer)]).toEqual([200, 2, ['Beta', 'Alpha']]);
  expect(pluck(answer.body.value[1].RelAppToITC, 'name')).toEqual(['Database']);
  const one = await admin.get(
    `${ROOT}/Application${query({ key: { type: 'guid', value: ids.Beta }, select: ['name'] })}`,
  );
  expect(one.body.name).toBe('Beta');
});
