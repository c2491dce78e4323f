import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readCsv } from '../../../../domain/exchange/imports/imports.read-csv.ts';
import { joinValues, neutralise } from '../../../../domain/kernel/transfer/csv-cells.ts';
import type { RowWriter } from '../../../../platform/copy-out.ts';
import { literal } from '../../../../platform/literals.ts';
import { type Snapshot, withSnapshot } from '../../../../platform/snapshot.ts';
import { csvText, memberColumn } from '../../../../reports/exchange/extraction/extraction.csv.ts';
import { type CsvColumn, csvRows } from '../../../../reports/kernel/formats/csv.rows.ts';
import { writeCsv } from '../../../../reports/kernel/formats/lines.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { Kept, Stuck, textColumns } from './tables.ts';

const t = closeAfterAll(await createTestServices());

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc
    .array(fc.constantFrom(...'=+-@＝＋－＠\'" ,;\\/\t\r\n\u00a0\u2028é漢👩a.?$'), { maxLength: 8 })
    .map((characters) => characters.join('')),
);
const storable = (value: string) => !value.includes('\0') && value.isWellFormed();
const inSnapshot = <T>(work: (snapshot: Snapshot) => Promise<T>) => withSnapshot(t.services.db, work);
const tableOf = (snapshot: Snapshot, headers: string[], query: string, values: unknown[] = []) => ({
  name: 'Cards',
  columns: textColumns(...headers),
  expected: 0,
  lines: () => snapshot.csv(query, values),
});
const cellsOf = (content: string): string[][] => parse(content, { record_delimiter: '\r\n', from: 2 });

async function written(...of: Parameters<typeof tableOf>): Promise<string> {
  const out = new Kept();
  await writeCsv(tableOf(...of), out, {});
  expect(out.writableFinished).toBe(true);
  return out.content.toString('utf8');
}

async function writtenBy(
  writer: RowWriter,
  snapshot: Snapshot,
  headers: string[],
  query: string,
  values: unknown[],
): Promise<string> {
  const out = new Kept();
  const lines = () => snapshot.lines(writer, query, values);
  await writeCsv({ name: 'Cards', columns: textColumns(...headers), expected: 0, lines }, out, {});
  return out.content.toString('utf8');
}

it('ends lines with CR and LF, quotes what needs it, and has a header also where there are no rows', async () => {
  await inSnapshot(async (snapshot) => {
    expect(await written(snapshot, ['a', 'b,c'], 'select 1, 2 where false')).toBe('a,"b,c"\r\n');
    const rows = `select 'x, "y"', null union all select E'1\\n2', 'z'`;
    expect(await written(snapshot, ['a', 'b'], rows)).toBe('a,b\r\n"x, ""y""",\r\n"1\n2",z\r\n');
  });
});

it.each([true, false])('is read by any reader of CSV as it was stored, guarded: %s', async (guard) => {
  const values = fc.sample(text, { numRuns: 3_000, seed: 11 }).filter(storable);
  const cell = csvText('x.value', guard);
  const content = await inSnapshot((snapshot) =>
    written(
      snapshot,
      ['type', 'name', 'description', 'attributes.note'],
      `select 'Application', 'n', ${cell}, ${cell}
       from jsonb_array_elements_text(?::jsonb) with ordinality as x(value, n) order by x.n`,
      [JSON.stringify(values)],
    ),
  );
  const cells = cellsOf(content).map((line) => line[2]);
  expect(cells).toEqual(values.map((value) => (guard ? neutralise(value) : value)));
  if (!guard) return;
  for (const cell of cells) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
  const chunks = (async function* () {
    yield Buffer.from(content);
  })();
  const options = { attributeKeys: new Set(['note']), fieldType: () => 'text' as const };
  const read: string[][] = [];
  for await (const batch of readCsv(chunks, { kind: 'cards', empty: 'leave', ...options })) {
    for (const row of batch) {
      read.push([row.values.description ?? '', String(row.values.attributes?.note ?? '')]);
    }
  }
  expect(read).toEqual(values.map((value) => [value, value]));
});

it('joins the values of a list, and looks only into objects of a type that has the field', async () => {
  const list = fc.array(text.filter(storable), { minLength: 1, maxLength: 4 });
  const lists = fc.sample(list, { numRuns: 300, seed: 5 });
  const fieldOf = (type: string) =>
    ({ A: 'multiple_select', B: 'number' })[type] as 'multiple_select' | 'number' | undefined;
  const rows = [
    ...lists.map((values) => ['A', { k: values }]),
    ['A', { k: [] }],
    ['A', {}],
    ['B', { k: -5.5 }],
    ['C', { k: 'not a field of it' }],
    ['A', { 'l"': ['k'], k: [null, 1, true, { a: ';' }], m: [[]] }],
  ];
  const columns = [memberColumn(['A', 'B', 'C'], 'k', fieldOf), { kind: 'number' } as const];
  const query = 'select x ->> 0, 1::float8, x -> 1 from jsonb_array_elements(?::jsonb) x';
  const content = await inSnapshot((snapshot) =>
    writtenBy(csvRows(columns, true), snapshot, ['k', 'n'], query, [JSON.stringify(rows)]),
  );
  const cells = cellsOf(content).map(([value]) => value);
  expect(cells).toEqual([...lists.map(joinValues), ...['', '', '-5.5', ''], '1;true;{"a": "\\;"}']);
});

it.each([true, false])(
  'writes values and members as the database itself does, guarded: %s',
  async (guard) => {
    const values = fc.sample(text, { numRuns: 2_000, seed: 17 }).filter(storable);
    const kinds: CsvColumn[] = [
      ...(['plain', 'text'] as const).map((kind) => ({ kind })),
      ...(['id', 'time', 'number'] as const).map((kind) => ({ kind })),
      ...(['text', 'plain'] as const).map((kind) => ({ key: kind, kindIn: () => kind })),
    ];
    const headers = ['plain', 'text', 'id', 'time', 'number', 'a', 'b'];
    const from = `from (select value as v, n, md5(n::text)::uuid as id,
      '1999-12-31T23:58:57Z'::timestamptz + n * interval '1234567.891 seconds' as at
    from jsonb_array_elements_text(?::jsonb) with ordinality as x(value, n)) x order by x.n`;
    const at = `to_char(x.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    const cell = csvText('x.v', guard);
    const ours = `select 'A', x.v, x.v, x.id, x.at, x.n / 8::float8,
    jsonb_build_object('text', x.v, 'plain', x.v, 'other', jsonb_build_array(x.v)) ${from}`;
    const theirs = `select x.v, ${cell}, x.id, ${at}, x.n / 8::float8, ${cell}, x.v ${from}`;
    const [made, copied] = await inSnapshot(async (snapshot) => {
      const list = [JSON.stringify(values)];
      return [
        await writtenBy(csvRows(kinds, guard), snapshot, headers, ours, list),
        await written(snapshot, headers, theirs, list),
      ];
    });
    expect(made).toBe(copied);
  },
);

it('takes every text, number and list as a value of a statement as it is', async () => {
  const values = fc.sample(text, { numRuns: 500, seed: 3 }).filter(storable);
  const query = `select ${literal(values)}::text[] as list, array[${values.map(literal).join(', ')}] as each`;
  const [row] = await inSnapshot((snapshot) => snapshot.query(query));
  expect(row).toEqual({ list: values, each: values });
  const others = [-1.5, true, null, new Date(0)].map(literal);
  expect(others).toEqual(["'-1.5'", "'true'", 'null', "'1970-01-01T00:00:00.000Z'"]);
  expect(() => literal({})).toThrow(TypeError);
});

const endless = `select repeat('x', 500), n from generate_series(1, 300000) n`;

it('takes no more from the database than the reader takes; once aborted, the connection is as good as before', async () => {
  const stop = new AbortController();
  const reason = new Error('cancelled');
  let seen = 0;
  await inSnapshot(async (snapshot) => {
    const out = new Stuck();
    const writing = writeCsv(tableOf(snapshot, ['a', 'b'], endless), out, {
      signal: stop.signal,
      onRows: (rows) => {
        seen += rows;
      },
    });
    await pause(200);
    const before = seen;
    await pause(200);
    expect(seen).toBe(before);
    expect(seen).toBeLessThan(20_000);
    stop.abort(reason);
    await expect(writing).rejects.toBe(reason);
    expect(out.destroyed).toBe(true);
    expect(await snapshot.query('select 1 as one')).toEqual([{ one: 1 }]);
  });
});

it('destroys the stream when the database fails on the way', async () => {
  const out = new Kept();
  const failing = 'select 1 / (5000 - n) from generate_series(1, 10000) n';
  await expect(
    inSnapshot((snapshot) => writeCsv(tableOf(snapshot, ['a'], failing), out, {})),
  ).rejects.toThrow('division by zero');
  expect([out.destroyed, out.writableFinished]).toEqual([true, false]);
  expect(await inSnapshot((snapshot) => snapshot.query('select 1 as one'))).toEqual([{ one: 1 }]);
});

it('says so when the connection is lost on the way', async () => {
  const work = inSnapshot(async (snapshot) => {
    const [{ pid } = { pid: 0 }] = await snapshot.query<{ pid: number }>('select pg_backend_pid() as pid');
    const out = new Stuck();
    const writing = writeCsv(tableOf(snapshot, ['a', 'b'], endless), out, {});
    await pause(50);
    await t.services.db.raw('select pg_terminate_backend(?)', [pid]);
    out.destroy();
    await writing;
  });
  await expect(work).rejects.toThrow();
  expect(await inSnapshot((snapshot) => snapshot.query('select 1 as one'))).toEqual([{ one: 1 }]);
});
