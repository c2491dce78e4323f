import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { firstDifference, staleness } from '../../../api/openapi/compare.ts';
import { startChild } from '../../support/child.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'estate-openapi-'));
afterAll(() => rmSync(folder, { recursive: true }));
const program = path.resolve(import.meta.dirname, '../../../api/openapi/write.ts');
const run = (...args: string[]) => startChild(program, args).ended();

test('the description is written without a database, and a stale one is told', async () => {
  const file = path.join(folder, 'openapi.json');
  expect((await run(file)).code).toBe(0);
  const document = JSON.parse(readFileSync(file, 'utf8'));
  document.paths['/api/health'].get.summary = 'Something else';
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
  const stale = await run('--check', file);
  expect(stale.code).toBe(1);
  expect(stale.output.trim().split('\n')).toHaveLength(1);
  expect(stale.output).toContain('#/paths/~1api~1health/get/summary');
});

test('what is wrong with a kept file is said in a sentence', () => {
  expect(staleness('a.json', '{"a":1}', '{"a":1}')).toBeUndefined();
  expect(staleness('a.json', undefined, '{"a":1}')).toMatch(/^a\.json .*\(it is missing\).*npm run openapi/);
  expect(staleness('a.json', '{"a":2}', '{"a":1}')).toContain('(first at #/a)');
  expect(staleness('a.json', '{ "a": 1 }', '{"a":1}')).toContain('(its layout differs)');
});

test('the first difference is found, also in order and in what is missing', () => {
  expect(firstDifference({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] })).toBeUndefined();
  expect(firstDifference({ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] })).toBe('#/a/1/b');
  expect(firstDifference({ a: 1, c: 1 }, { a: 1 })).toBe('#/c');
  expect(firstDifference({ a: 1, b: 1 }, { b: 1, a: 1 })).toBe('#');
  expect(firstDifference({ 'a/b': 1 }, { 'a/b': 2 })).toBe('#/a~1b');
});
