import { statSync } from 'node:fs';
import path from 'node:path';
import type { OpenApiDocument, OpenApiOperation, Schema } from '../../../api/openapi/document.ts';
import { schemaNames } from '../../../api/openapi/names.data.ts';
import { plainSchemas } from '../../../api/openapi/plain-schemas.ts';
import { candidateKey, singular } from '../../../api/openapi/schema-names.ts';
import { shareExamples } from '../../../api/openapi/shared.examples.ts';
import { shareParameters } from '../../../api/openapi/shared.parameters.ts';
import { shareResponses } from '../../../api/openapi/shared.responses.ts';
import { shareSchemas } from '../../../api/openapi/shared.schemas.ts';
import type { MapSchema } from '../../../api/openapi/walk.ts';
import { mapParts, replaceInComponents, replaceInOperations } from '../../../api/openapi/walk.ts';
import { openApp } from '../../support/harness.ts';

const document = (await openApp()).t.app.swagger() as unknown as OpenApiDocument;

const operation = (id: string, more: object): OpenApiOperation =>
  ({ operationId: id, responses: {}, ...more }) as OpenApiOperation;

function documentOf(operations: OpenApiOperation[], schemas: Record<string, Schema> = {}): OpenApiDocument {
  return {
    openapi: '3.1.0',
    info: {},
    servers: [],
    security: [],
    tags: [],
    paths: Object.fromEntries(operations.map((one, index) => [`/${index}`, { post: one }])),
    components: { schemas, parameters: {}, responses: {} },
  };
}

/** The document after `share` has changed a copy of it. */
function changed(share: (document: OpenApiDocument) => void, document: OpenApiDocument): OpenApiDocument {
  const copy: OpenApiDocument = JSON.parse(JSON.stringify(document));
  share(copy);
  return copy;
}

const json = (schema: Schema) => ({ content: { 'application/json': { schema } } });

test('the kept description has at most 3 MB', () =>
  expect(statSync(path.resolve(import.meta.dirname, '../../../docs/openapi.json')).size).toBeLessThan(
    3_000_000,
  ));

test('no schema that is worth a name stands at two places', () => {
  const places = new Map<string, string[]>();
  const visit: MapSchema = (schema, { root, path: steps }) => {
    const key = candidateKey(schema);
    if (key) places.set(key, [...(places.get(key) ?? []), [root, ...steps].join('.')]);
    return mapParts(schema, { kind: 'answer', root, path: steps }, visit);
  };
  changed((copy) => {
    replaceInOperations(copy, visit);
    replaceInComponents(copy, visit);
  }, document);
  expect([...places.values()].filter((list) => list.length > 1)).toEqual([]);
});

test('every reference leads to a component, and every component is referred to', () => {
  const text = JSON.stringify(document);
  const referred = new Set([...text.matchAll(/"#\/components\/(\w+\/[\w.-]+)"/g)].map(([, name]) => name!));
  const { securitySchemes: _, ...kinds } = document.components;
  const present = Object.entries(kinds).flatMap(([kind, parts]) =>
    Object.keys(parts).map((name) => `${kind}/${name}`),
  );
  expect([...referred].sort()).toEqual(present.sort());
});

test('every given name is one of a component', () => {
  const names = Object.keys(document.components.schemas!);
  expect(Object.values(schemaNames).filter((name) => !names.includes(name))).toEqual([]);
});

test('names that clients look for are there', () => {
  for (const name of [
    'Card',
    'CardList',
    'CreateCardBody',
    'PatchCardBody',
    'Relation',
    'Risk',
    'Lifecycle',
    'Problem',
  ])
    expect(Object.keys(document.components.schemas!)).toContain(name);
});

test('a schema that stands twice is a component, and what is said of its place stays there', () => {
  const level: Schema = { type: 'string', enum: ['low', 'medium', 'high'] };
  const risk: Schema = {
    type: 'object',
    properties: { impact: { ...level, description: 'Before measures' }, residual: level },
  };
  const { paths, components } = changed(
    shareSchemas,
    documentOf([operation('readRisk', { responses: { 200: { description: '', ...json(risk) } } })]),
  );
  expect(paths['/0']!.post!.responses['200']!.content!['application/json']!.schema.properties).toEqual({
    impact: { $ref: '#/components/schemas/ReadRiskResponseImpact', description: 'Before measures' },
    residual: { $ref: '#/components/schemas/ReadRiskResponseImpact' },
  });
  expect(components.schemas).toEqual({ ReadRiskResponseImpact: level });
});

test('bodies and lists have names, and copies of components refer to them', () => {
  const card: Schema = { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } } };
  const list: Schema = {
    type: 'object',
    properties: { items: { type: 'array', items: { $ref: '#/components/schemas/Card' } }, page_size: {} },
  };
  const { paths, components } = changed(
    shareSchemas,
    documentOf(
      [
        operation('createCard', {
          requestBody: { required: true, ...json({ type: 'object', properties: { name: {}, type: {} } }) },
          responses: { 201: { description: '', ...json(card) } },
        }),
        operation('listCards', { responses: { 200: { description: '', ...json(list) } } }),
      ],
      { Card: card },
    ),
  );
  expect(Object.keys(components.schemas).sort()).toEqual(['Card', 'CardList', 'CreateCardBody']);
  const refOf = (index: number, status: string) =>
    paths[`/${index}`]!.post!.responses[status]!.content!['application/json']!.schema;
  expect(refOf(0, '201')).toEqual({ $ref: '#/components/schemas/Card' });
  expect(refOf(1, '200')).toEqual({ $ref: '#/components/schemas/CardList' });
});

test('two schemas never have one name', () => {
  const twice = (type: string): Schema => ({ type: 'object', properties: { a: { type }, b: { type } } });
  const answer = (schema: Schema) => ({ description: '', ...json(schema) });
  const one = operation('readThing', {
    responses: { 200: answer(twice('string')), 201: answer(twice('number')) },
  });
  const other = operation('readThing', {
    responses: { 202: answer(twice('string')), 203: answer(twice('number')) },
  });
  expect(() => shareSchemas(documentOf([one, other]))).toThrow(
    'two schemas would have the name ReadThingResponse: name ReadThingResponse in names.data.ts',
  );
});

test('refusals that several operations give are components, named after their codes', () => {
  const refusal = (...codes: string[]) => ({ description: codes.join(), 'x-error-codes': codes });
  const codes = ['idempotency_in_progress', 'idempotency_key_reused', 'wrong_state'];
  const responses = {
    200: refusal(),
    401: refusal('unauthorized'),
    409: refusal(...codes),
    410: refusal('gone'),
  };
  const { paths, components } = changed(
    shareResponses,
    documentOf([
      operation('a', { responses }),
      operation('b', { responses: { ...responses, 410: refusal('left') } }),
    ]),
  );
  expect(paths['/0']!.post!.responses).toEqual({
    ...responses,
    401: { $ref: '#/components/responses/Unauthorized' },
    409: { $ref: '#/components/responses/IdempotencyOrWrongState' },
  });
  expect(Object.keys(components.responses).sort()).toEqual(['IdempotencyOrWrongState', 'Unauthorized']);
});

test('examples of several bodies are components, named after their schemas', () => {
  const media = (example: object) => ({
    'application/json': { schema: { $ref: '#/components/schemas/Note' }, example },
  });
  const example = { text: 'x'.repeat(200) };
  const answer = (one: object) => ({ 200: { description: '', content: media(one) } });
  const operations = [example, example, { text: 'short' }].map((one, at) =>
    operation(`${at}`, { responses: answer(one) }),
  );
  const { paths, components } = changed(shareExamples, documentOf(operations));
  expect(components.examples).toEqual({ Note: { value: example } });
  const examples = { Note: { $ref: '#/components/examples/Note' } };
  const contentOf = (at: number) => paths[`/${at}`]!.post!.responses['200']!.content;
  const { example: _, ...moved } = { ...media(example)['application/json'], examples };
  expect(contentOf(1)).toEqual({ 'application/json': moved });
  expect(contentOf(2)).toEqual(media({ text: 'short' }));
});

test('parameters that several operations take are components', () => {
  const parameter = { name: 'id', in: 'path', description: 'Id of the card', schema: { type: 'string' } };
  const other = { ...parameter, description: 'Id of the job' };
  const operations = ['a', 'b', 'c'].map((id) => operation(id, { parameters: [parameter] }));
  const { paths, components } = changed(
    shareParameters,
    documentOf([...operations, operation('d', { parameters: [other] })]),
  );
  expect(components.parameters).toEqual({ IdOfCard: parameter });
  expect(paths['/0']!.post!.parameters).toEqual([{ $ref: '#/components/parameters/IdOfCard' }]);
  expect(paths['/3']!.post!.parameters).toEqual([other]);
});

test('choices of values are enumerations, and scalars that may be null have two types', () => {
  const value = (one: string): Schema => ({ type: 'string', enum: [one] });
  const answer: Schema = {
    type: 'object',
    properties: {
      status: { anyOf: [value('open'), value('done')], description: 'How it stands' },
      level: { anyOf: [value('low'), value('high'), { type: 'null' }] },
      note: { anyOf: [{ type: 'string', maxLength: 10 }, { type: 'null' }], default: null },
    },
  };
  const { paths } = changed(
    plainSchemas,
    documentOf([operation('a', { responses: { 200: { description: '', ...json(answer) } } })]),
  );
  expect(paths['/0']!.post!.responses['200']!.content!['application/json']!.schema.properties).toEqual({
    status: { type: 'string', enum: ['open', 'done'], description: 'How it stands' },
    level: { anyOf: [{ type: 'string', enum: ['low', 'high'] }, { type: 'null' }] },
    note: { type: ['string', 'null'], maxLength: 10, default: null },
  });
});

test('one of several has its own word', () =>
  expect(['cards', 'batches', 'policies', 'status', 'process', 'boxes'].map(singular)).toEqual([
    'card',
    'batch',
    'policy',
    'status',
    'process',
    'box',
  ]));
