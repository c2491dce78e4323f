import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startChild } from '../support/child.ts';
import { lastRelease } from './openapi-breaking.ts';
import type { Schema } from './openapi-changes.schema.ts';
import { breakingChanges, type Description } from './openapi-changes.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'estate-openapi-'));
afterAll(() => rmSync(folder, { recursive: true }));

const json = (schema: Schema) => ({ content: { 'application/json': { schema } } });
const text: Schema = { type: 'string' };
const level = (...values: string[]): Schema => ({ type: 'string', enum: values });

/** A description with one operation that takes the body and answers the card. */
function describeCards(body: Schema, card: Schema, more: object = {}): Description {
  return {
    paths: {
      '/cards/{id}': {
        patch: {
          operationId: 'patchCard',
          parameters: [{ name: 'id', in: 'path', required: true, schema: text }],
          requestBody: { required: true, ...json(body) },
          responses: { 200: json({ $ref: '#/components/schemas/Card' }), 404: {} },
          ...more,
        },
      },
    },
    components: { schemas: { Card: card } },
  };
}

const closed = { additionalProperties: false } as const;
const body: Schema = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 100 },
    level: level('low', 'high'),
    cost: { type: 'number' },
  },
  required: ['name'],
  ...closed,
};
const card: Schema = {
  type: 'object',
  properties: {
    id: text,
    name: text,
    cost: { type: ['number', 'null'] },
    parent: { $ref: '#/components/schemas/Card' },
  },
  required: ['id', 'name'],
};
const was = describeCards(body, card);
const withBody = (properties: Record<string, Schema>, required = ['name']): Description =>
  describeCards({ ...body, properties: { ...body.properties, ...properties }, required }, card);
const withCard = (properties: Record<string, Schema>, required = ['id', 'name']): Description =>
  describeCards(body, { ...card, properties: { ...card.properties, ...properties }, required });
const without = (schema: Schema, name: string): Schema => {
  const { [name]: _, ...properties } = schema.properties!;
  return { ...schema, properties };
};
const patched = (more: object) => describeCards(body, card, more);
const where = 'PATCH /cards/{id}';
const parameters = was.paths['/cards/{id}']!.patch!.parameters!;

/** Descriptions that break clients, with the changes that are named, by where these are. */
const breaking: Record<string, Record<string, [Description, ...changes: string[]]>> = {
  [where]: {
    'a removed operation': [{ paths: {} }, ': is removed'],
    'a renamed operation': [
      patched({ operationId: 'changeCard' }),
      ': was named patchCard, is named changeCard',
    ],
    'a removed success status': [patched({ responses: { 204: {} } }), ': no longer answers 200'],
    'a removed media type': [
      patched({ responses: { 200: { content: {} } } }),
      ' 200: no longer answers application/json',
    ],
    'a body that is gone': [patched({ requestBody: undefined }), ' body: is no longer taken'],
    'a new parameter that is needed': [
      patched({ parameters: [...parameters, { name: 'force', in: 'query', required: true, schema: text }] }),
      ' query force: is required now',
    ],
  },
  'answer Card.': {
    'a removed field': [describeCards(body, without(card, 'name')), 'name: is removed'],
    'a field that may be missing': [withCard({}, ['id']), 'name: may now be missing'],
    'a field that may be null': [withCard({ name: { type: ['string', 'null'] } }), 'name: may now be null'],
    'another type': [withCard({ id: { type: 'integer' } }), 'id: was string, is integer'],
  },
  [`${where} body.`]: {
    'a removed field': [describeCards(without(body, 'cost'), card), 'cost: is no longer taken'],
    'a new field that is needed': [withBody({ type: text }, ['name', 'type']), 'type: is required now'],
    'a field that is needed now': [withBody({}, ['name', 'cost']), 'cost: is required now'],
    'fewer values': [withBody({ level: level('low') }), 'level: no longer takes high'],
    'values where any text was taken': [withBody({ name: level('a', 'b') }), 'name: takes only a, b now'],
    'a narrower type': [withBody({ cost: { type: 'integer' } }), 'cost: was number, is integer'],
    'a lower limit': [
      withBody({ name: { type: 'string', maxLength: 50 } }),
      'name: maxLength was 100, is 50',
    ],
    'a new limit': [
      withBody({ name: { type: 'string', maxLength: 100, minLength: 1, pattern: '\\S' } }),
      'name: minLength was not limited, is 1',
      'name: pattern was not limited, is \\S',
    ],
  },
};

describe('changes that break clients', () => {
  describe.each(Object.entries(breaking))('in %s', (at, cases) => {
    test.each(Object.entries(cases))('%s', (_name, [now, ...changes]) => {
      expect(breakingChanges(was, now)).toEqual(changes.map((change) => `${at}${change}`));
      expect(breakingChanges(was, structuredClone(was))).toEqual([]);
    });
  });

  test('a removed parameter, and a body that is needed now', () => {
    const query = { name: 'dry_run', in: 'query', schema: { type: 'boolean' } };
    expect(breakingChanges(patched({ parameters: [...parameters, query] }), was)).toEqual([
      `${where} query dry_run: is no longer taken`,
    ]);
    const optional = patched({ requestBody: json(body) });
    expect(breakingChanges(optional, was)).toEqual([`${where} body: is required now`]);
  });

  test('an alternative that is no longer taken, and one that is answered newly', () => {
    const either: Schema = { anyOf: [{ ...body }, { type: 'array', items: text }] };
    expect(breakingChanges(describeCards(either, card), describeCards(body, card))).toEqual([
      `${where} body: no longer takes array`,
    ]);
    expect(breakingChanges(was, withCard({ name: { anyOf: [text, { type: 'number' }] } }))).toEqual([
      'answer Card.name: may now be number',
    ]);
  });
});

test.each<[string, Description]>([
  ['a new operation', { ...was, paths: { ...was.paths, '/health': { get: { responses: {} } } } }],
  ['a new field of an answer', withCard({ alias: text })],
  ['a new field that a request may leave out', withBody({ alias: text })],
  ['more values in a request', withBody({ level: level('low', 'high', 'none') })],
  ['a wider type in a request', withBody({ cost: { type: ['number', 'null'] } })],
  ['a higher limit in a request', withBody({ name: { type: 'string', maxLength: 200 } })],
  ['a field of an answer that is never null', withCard({ cost: { type: 'number' } })],
  [
    'a new error, and one less',
    patched({ responses: { 200: was.paths['/cards/{id}']!.patch!.responses['200']!, 409: {} } }),
  ],
  ['another name of a path parameter', { ...was, paths: { '/cards/{card_id}': was.paths['/cards/{id}']! } }],
  ['a schema in place of a reference to it', patched({ responses: { 200: json(card) } })],
  ['values one by one', withBody({ level: { anyOf: [level('low'), level('high')] } })],
  ['null as an alternative', withCard({ cost: { anyOf: [{ type: 'number' }, { type: 'null' }] } })],
])('changes that break nobody: %s', (_name, now) => expect(breakingChanges(was, now)).toEqual([]));

test('the last release is the one of the highest version', () => {
  const releases = path.join(folder, 'releases');
  expect(lastRelease(releases)).toBeUndefined();
  mkdirSync(releases);
  for (const name of ['openapi-0.9.0.json', 'openapi-0.10.0.json', 'openapi-next.json', 'notes.md'])
    writeFileSync(path.join(releases, name), '{}');
  expect(lastRelease(releases)).toBe(path.join(releases, 'openapi-0.10.0.json'));
});

test('the program names the changes and fails', async () => {
  const [older, newer] = ['older.json', 'newer.json'].map((name) => path.join(folder, name));
  writeFileSync(older!, JSON.stringify(was));
  writeFileSync(newer!, JSON.stringify({ paths: {} }));
  const program = path.join(import.meta.dirname, 'openapi-breaking.ts');
  const ended = await startChild(program, [older!, newer!]).ended();
  expect(ended.code).toBe(1);
  expect(ended.output).toContain(`${where}: is removed`);
  expect(ended.output).toContain('1 breaking changes since older.json.');
  expect((await startChild(program, [older!, older!]).ended()).code).toBe(0);
});
