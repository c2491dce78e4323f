import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { clientErrors, typeErrors } from './openapi-clients.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'estate-openapi-'));
afterAll(() => rmSync(folder, { recursive: true }));

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

test('both generators make clients without type errors', async () => {
  expect(await clientErrors(write('good.json', { $ref: '#/components/schemas/Card' }))).toEqual([]);
});

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

test('a missing description is reported', async () => {
  await expect(clientErrors(path.join(folder, 'none.json'))).rejects.toThrow(/does not exist: write it with/);
});
