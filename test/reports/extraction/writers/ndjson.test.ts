import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Snapshot, withSnapshot } from '../../../../platform/snapshot.ts';
import { jsonKey, jsonObject, jsonText } from '../../../../reports/extraction/extraction.ndjson.ts';
import { writeNdjson } from '../../../../reports/extraction/writers/lines.ts';
import { createTestServices, type TestServices } from '../../../support/harness.ts';
import { Kept, textColumns } from './tables.ts';

let t: TestServices;
beforeAll(async () => {
  t = await createTestServices();
});
afterAll(() => t.close());

const tableOf = (snapshot: Snapshot, query: string, values: unknown[] = []) => ({
  name: 'Cards',
  columns: textColumns('a'),
  expected: 0,
  lines: snapshot.json(query, values),
});

async function written(query: string, values: unknown[], end?: string): Promise<string> {
  const out = new Kept();
  await withSnapshot(t.services.db, (snapshot) =>
    writeNdjson(tableOf(snapshot, query, values), out, { end }),
  );
  expect(out.writableFinished).toBe(true);
  return out.content.toString();
}

it('writes every text as any reader of JSON reads it, one object a line', async () => {
  const texts = [
    '',
    'plain',
    '"',
    '\\',
    '\\.',
    'a\nb\r\n',
    '\t\u0001\u0002\u0007',
    '漢字 👩',
    "'=1",
    ',',
    '\u2028',
  ];
  const item = jsonObject([
    ['text', jsonText('x.v')],
    ['n', 'x.n::text'],
    ['none', 'null'],
  ]);
  const content = await written(
    `select ${item} from jsonb_array_elements_text(?::jsonb) with ordinality as x(v, n) order by x.n`,
    [JSON.stringify(texts)],
  );
  const lines = content.split('\n');
  expect(lines.pop()).toBe('');
  expect(lines.map((line) => JSON.parse(line))).toEqual(texts.map((text, n) => ({ text, n: n + 1 })));
});

it('writes objects of more members than a function takes, and none for those without a value', async () => {
  const many = Array.from({ length: 120 }, (_, n): [string, string] => [`m${n}`, `${n}::text`]);
  expect(JSON.parse(await written(`select ${jsonObject(many)}`, []))).toEqual(
    Object.fromEntries(many.map(([name], n) => [name, n])),
  );
  expect(await written(`select ${jsonObject([['a', jsonKey('null::text')]])}`, [])).toBe('{}\n');
});

it('ends with the position where changes go on from', async () => {
  expect(await written(`select '{"id":1}'`, [], '17')).toBe('{"id":1}\n{"end":true,"position":"17"}\n');
});
