import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startChild } from '../../support/child.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'estate-openapi-'));
afterAll(() => rmSync(folder, { recursive: true }));
const program = path.resolve(import.meta.dirname, '../../../api/openapi/write.ts');
const run = (...args: string[]) => startChild(program, args).ended();

test('the description is written without a database, and a stale or missing one is reported', async () => {
  const file = path.join(folder, 'openapi.json');
  expect((await run(file)).code).toBe(0);
  const document = JSON.parse(readFileSync(file, 'utf8'));
  document.paths['/api/health'].get.summary = 'Something else';
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
  const stale = await run('--check', file);
  expect(stale.code).toBe(1);
  expect(stale.output.trim().split('\n')).toHaveLength(1);
  expect(stale.output).toContain('run npm run openapi');
  expect((await run('--check', path.join(folder, 'none.json'))).code).toBe(1);
});
