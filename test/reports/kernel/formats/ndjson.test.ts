import { expect, it } from 'vitest';
import { withSnapshot } from '../../../../platform/snapshot.ts';
import { jsonKey, jsonObject } from '../../../../reports/exchange/extraction/extraction.ndjson.ts';
import { writeNdjson } from '../../../../reports/kernel/formats/lines.ts';
import { type JsonKind, jsonRows } from '../../../../reports/kernel/formats/ndjson.rows.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { Kept, textColumns } from './tables.ts';

const t = closeAfterAll(await createTestServices());

/** The lines of a query, of which each value is told by its name and kind. */
async function written(
  query: string,
  values: unknown[],
  kinds: Record<string, JsonKind>,
  end?: string,
): Promise<string> {
  const out = new Kept();
  const members = Object.entries(kinds).map(([name, kind]) => ({ name, kind }));
  await withSnapshot(t.services.db, async (snapshot) => {
    const lines = () => snapshot.lines(jsonRows(members), query, values);
    await writeNdjson({ name: 'Cards', columns: textColumns('a'), expected: 0, lines }, out, { end });
  });
  expect(out.writableFinished).toBe(true);
  return out.content.toString();
}

const parsed = (content: string): unknown[] => {
  const lines = content.split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line));
};

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
  const content = await written(
    'select x.v, x.n::float8, null::text from jsonb_array_elements_text(?::jsonb) with ordinality as x(v, n) order by x.n',
    [JSON.stringify(texts)],
    { text: 'text', n: 'number', none: 'text' },
  );
  expect(parsed(content)).toEqual(texts.map((text, n) => ({ text, n: n + 1 })));
});

it('writes the text of each value as the database itself does', async () => {
  const times = [
    '2026-02-28T23:59:59.999999Z',
    '2000-01-01T00:00:00Z',
    '1999-12-31T23:59:59.9994Z',
    '1969-07-20T20:17:40.001Z',
    '2031-10-05T04:03:02.010Z',
  ];
  const id = '01980f3a-00ff-7abc-8def-0123456789ab';
  const values = { id: 'id', time: 'time', number: 'number', json: 'json', jsonb: 'jsonb' } as const;
  const content = await written(
    `select ?::uuid, x.v::timestamptz, x.n / 8::float8, x.n::text, jsonb_build_array(x.n, '"')
     from unnest(?::text[]) with ordinality as x(v, n)`,
    [id, times],
    values,
  );
  expect(parsed(content)).toEqual(
    times.map((time, n) => ({
      id,
      time: new Date(Math.floor(new Date(time).getTime())).toISOString(),
      number: (n + 1) / 8,
      json: n + 1,
      jsonb: [n + 1, '"'],
    })),
  );
});

it('writes lines of any length, whole', async () => {
  const lengths = [10, 70_000, 3, 64 * 1024 - 12, 64 * 1024 - 11, 300_000, 30_000, 50_000];
  const content = await written(
    `select x.n::text, repeat('ä"', x.n / 3) from unnest(?::int[]) as x(n)`,
    [lengths],
    { n: 'json', text: 'text' },
  );
  expect(parsed(content)).toEqual(lengths.map((n) => ({ n, text: 'ä"'.repeat(Math.floor(n / 3)) })));
});

it('writes objects of more members than a function takes, and none for those without a value', async () => {
  const many = Array.from({ length: 120 }, (_, n): [string, string] => [`m${n}`, `${n}::text`]);
  const [one] = parsed(await written(`select ${jsonObject(many)}`, [], { all: 'json' }));
  expect(one).toEqual({ all: Object.fromEntries(many.map(([name], n) => [name, n])) });
  expect(await written(`select ${jsonObject([['a', jsonKey('null::text')]])}`, [], { a: 'json' })).toBe(
    '{"a":{}}\n',
  );
  expect(await written('select null::text, null::uuid', [], { a: 'text', b: 'id' })).toBe('{}\n');
});

it('ends with the position where changes go on from', async () => {
  expect(await written('select 1::float8', [], { id: 'number' }, '17')).toBe(
    '{"id":1}\n{"end":true,"position":"17"}\n',
  );
});
