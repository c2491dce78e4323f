import type { OpenApiDocument, Schema } from '../../../api/openapi/document.ts';
import { exampleOf } from '../../../api/openapi/examples.ts';
import { answered, openApp } from '../../support/harness.ts';
import { exampleIn } from '../../support/openapi.ts';

const { t } = await openApp();
const document = t.app.swagger() as unknown as OpenApiDocument;
type Text = { where: string; member: string; text: string };

const texts: Text[] = Object.values(document.paths).flatMap((methods) =>
  Object.values(methods).flatMap(({ operationId, requestBody, responses }) =>
    [requestBody, ...Object.values(responses)].flatMap((part) =>
      Object.entries(part?.content ?? {})
        .filter(([mediaType]) => mediaType !== 'application/problem+json')
        .flatMap(([, media]) => textsOf(exampleIn(document, media), operationId)),
    ),
  ),
);

function textsOf(value: unknown, where: string, member = ''): Text[] {
  if (typeof value === 'string') return [{ where, member, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => textsOf(item, where, member));
  return Object.entries(value).flatMap(([name, part]) => textsOf(part, `${where}.${name}`, name));
}

test('no text only repeats the name of its member', () => {
  const words = (text: string) => text.toLowerCase().replaceAll(/[_ ]/g, '').replace(/s$/, '');
  const repeated = texts.filter(({ member, text }) => member !== '' && words(text) === words(member));
  // SCIM's description of itself (RFC 7643, 6 and 7) names its members and resources
  expect(repeated.map(({ where }) => where).sort()).toEqual([
    'readScimResourceType.meta.resourceType',
    'readScimSchema.attributes.name',
  ]);
});

test('titles name what they belong to, not an error', () => {
  const titles = texts.filter(({ member }) => member === 'title').map(({ text }) => text);
  expect(titles.length).toBeGreaterThan(50);
  expect(titles.filter((text) => /not found/i.test(text))).toEqual([]);
});

const text: Schema = { type: 'string' };
const example = (schema: Schema, owner = 'ReadThing', schemas: Record<string, Schema> = {}) =>
  exampleOf(schema, schemas, owner);

const object = (properties: Record<string, Schema>): Schema => ({ type: 'object', properties });
test('a text whose meaning is not known is left out', () => {
  expect(example(object({ name: text, quux: text }))).toEqual({ name: 'Claims Desk' });
  expect(example({ type: 'array', items: text })).toEqual([]);
  expect(example(text)).toBeUndefined();
});

test('a member has the example of its component, of the member that holds it, or of its name', () => {
  const schemas = { RiskItem: object({ title: text }), Adr: object({ title: text }) };
  expect(example({ $ref: '#/components/schemas/RiskItem' }, 'ListRisks', schemas)).toEqual({
    title: 'Claims database out of support',
  });
  expect(example({ $ref: '#/components/schemas/Adr' }, 'GetAdr', schemas)).toEqual({
    title: 'Move the claims database to a managed service',
  });
  expect(example(object({ subtypes: { type: 'array', items: object({ key: text }) } }))).toEqual({
    subtypes: [{ key: 'businessApplication' }],
  });
});

test('values that do not fit the schema are not taken', () => {
  expect(example(object({ data_quality: { type: 'integer', maximum: 50 } }))).toEqual({ data_quality: 1 });
  expect(example(object({ color: { type: 'string', maxLength: 3 } }))).toEqual({});
  expect(example(object({ due_date: { type: 'string', format: 'date' } }))).toEqual({
    due_date: '2026-03-31',
  });
  expect(example(object({ due_date: { type: 'string', format: 'date-time' } }))).toEqual({
    due_date: '2026-02-03T09:15:00.000Z',
  });
});

test('what went wrong, or has ended, is null where it may be', () => {
  const nullable: Schema = { anyOf: [text, { type: 'null' }] };
  expect(example(object({ error: nullable, name: nullable }))).toEqual({ error: null, name: 'Claims Desk' });
});

test('ids of different members differ, and those of one member are the same', () => {
  const id: Schema = { type: 'string', format: 'uuid' };
  const made = example(object({ id, owner_id: id, parent_id: id, card_id: id })) as Record<string, string>;
  expect(new Set(Object.values(made)).size).toBe(3);
  expect(made.card_id).toBe(made.id);
  expect(example(object({ owner_id: id }))).toEqual({ owner_id: made.owner_id });
});

test('the description is public, and 304 for those who hold it', async () => {
  const first = await answered(t.anonymous.get('/api/openapi.json'));
  expect(first.body).toEqual(JSON.parse(JSON.stringify(t.app.swagger())));
  const again = await t.anonymous.get('/api/openapi.json', { 'if-none-match': first.headers.etag! });
  expect(again.status).toBe(304);
  expect(again.text).toBe('');
});

test('the page has nothing inline, nothing from elsewhere, and a policy that says so', async () => {
  const page = await answered(t.anonymous.get('/api/docs'));
  const policy = page.headers['content-security-policy']!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(page.text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|https?:/);

  const files = [...page.text.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, file]) => `/api/${file}`);
  expect(files.length).toBeGreaterThan(3);
  for (const url of files) {
    const file = await t.app.inject({ url });
    expect(file.statusCode, url).toBe(200);
    expect(file.headers['x-content-type-options'], url).toBe('nosniff');
    const again = await t.app.inject({ url, headers: { 'if-none-match': String(file.headers.etag) } });
    expect(again.statusCode, url).toBe(304);
  }
});

test('the page is found with a slash at the end too', async () => {
  const answer = await t.app.inject({ url: '/api/docs/' });
  expect([answer.statusCode, answer.headers.location]).toEqual([308, '../docs']);
});

test('only the files of the page are served', async () => {
  for (const name of ['page.files.ts', 'constructor', '..%2Fwrite.ts', 'none.js'])
    expect((await t.app.inject({ url: `/api/docs/${name}` })).statusCode, name).toBe(404);
});
