import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { clientErrors, typeErrors } from './openapi-clients.ts';
import operation from './openapi-lint.operation.json' with { type: 'json' };
import { lintOpenApi } from './openapi-lint.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'estate-openapi-'));
afterAll(() => rmSync(folder, { recursive: true }));
function lint(name: string, get: object) {
  const file = path.join(folder, name);
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Sample',
      version: '1.0.0',
      description: 'A document to try the linters on.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      contact: { name: 'The maintainers' },
    },
    servers: [{ url: '/' }],
    tags: [{ name: 'Health', description: 'Whether it lives.' }],
    paths: { '/api/health': { get } },
  };
  writeFileSync(file, JSON.stringify(document));
  return lintOpenApi(file);
}

test('a sound document passes both linters', async () =>
  expect(await lint('good.json', operation)).toEqual([]));

test('what is only a warning for a linter is a finding', async () => {
  const findings = await lint('bad.json', {
    ...operation,
    description: undefined,
    responses: { '200': { ...operation.responses['200'] } },
    tags: ['Unknown'],
  });
  const found = findings.map(({ linter, rule, at }) => `${linter} ${rule} ${at}`);
  expect(found).toContain('redocly operation-4xx-response #/paths/~1api~1health/get/responses');
  expect(found).toContain('spectral operation-description #/paths/~1api~1health/get');
  expect(found).toContain('spectral operation-tag-defined #/paths/~1api~1health/get/tags/0');
});

test('an example that does not fit its schema is a finding of both', async () => {
  const broken = structuredClone(operation);
  broken.responses['200'].content['application/json'].example.status = 5 as unknown as string;
  const linters = (await lint('example.json', broken)).map(({ linter }) => linter);
  expect(new Set(linters)).toEqual(new Set(['redocly', 'spectral']));
});

test('a missing document is said to be missing', () =>
  expect(lintOpenApi(path.join(folder, 'none.json'))).rejects.toThrow(/does not exist: write it with/));

function write(name: string, schema: object): string {
  const file = path.join(folder, name);
  const document = {
    openapi: '3.1.0',
    info: { title: 'Sample', version: '1.0.0' },
    paths: {
      '/cards': {
        get: {
          operationId: 'readCard',
          responses: { 200: { description: 'The card', content: { 'application/json': { schema } } } },
        },
      },
    },
    components: { schemas: { Card: { type: 'object', properties: { name: { type: ['string', 'null'] } } } } },
  };
  writeFileSync(file, JSON.stringify(document));
  return file;
}

test('both generators make clients without type errors', async () =>
  expect(await clientErrors(write('good.json', { $ref: '#/components/schemas/Card' }))).toEqual([]));

test('a description of which no client can be made is refused', async () => {
  const violations = await clientErrors(write('bad.json', { $ref: '#/components/schemas/Nothing' }));
  expect(violations.join('\n')).toMatch(/failed: .*resolve \$ref at #\/paths\/~1cards/s);
});

test('type errors of generated clients are reported with their place', async () => {
  const made = mkdtempSync(path.join(folder, 'made-'));
  writeFileSync(path.join(made, 'types.ts'), "export const name: number = 'text';\n");
  expect(await typeErrors(made)).toEqual([
    "types.ts(1,14): error TS2322: Type 'string' is not assignable to type 'number'.",
  ]);
});

test('a missing description is reported', () =>
  expect(clientErrors(path.join(folder, 'none.json'))).rejects.toThrow(/does not exist: write it with/));
