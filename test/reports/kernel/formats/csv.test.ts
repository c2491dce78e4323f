import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { readCsv } from '../../../../domain/exchange/imports/imports.read-csv.ts';
import { joinValues, neutralise } from '../../../../domain/kernel/transfer/csv-cells.ts';
import { literal } from '../../../../platform/literals.ts';
import { type Snapshot, withSnapshot } from '../../../../platform/snapshot.ts';
import { readTable, selectList } from '../../../../reports/kernel/formats/binary-rows.ts';
import type { Cell, Column } from '../../../../reports/kernel/formats/formats.types.ts';
import { writeCsv, writeNdjson } from '../../../../reports/kernel/formats/lines.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { binaryOf, Kept, Stuck, tableOf, textColumns } from './tables.ts';

const t = closeAfterAll(await createTestServices());

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc
    .array(fc.constantFrom(...'=+-@＝＋－＠\'" ,;\\/\t\r\n\u00a0\u2028é漢👩a.?$'), { maxLength: 8 })
    .map((characters) => characters.join('')),
);
const storable = (value: string) => !value.includes('\0') && value.isWellFormed();
const inSnapshot = <T>(work: (snapshot: Snapshot) => Promise<T>) => withSnapshot(t.services.db, work);
/** A table of a query, whose columns are texts unless they are given. */
const tableFrom = (snapshot: Snapshot, columns: Column[], query: string, values: unknown[] = []) =>
  readTable({ name: 'Cards', columns, expected: 0, chunks: () => snapshot.lines('rows', query, values) });
const cellsOf = (content: string): string[][] => parse(content, { record_delimiter: '\r\n', from: 2 });

async function written(...of: Parameters<typeof tableOf>): Promise<string> {
  const out = new Kept();
  await writeCsv(tableOf(...of), out, {});
  expect(out.writableFinished).toBe(true);
  return out.content.toString('utf8');
}

it('ends lines with CR and LF, quotes what needs it, and has a header also where there are no rows', async () => {
  expect(await written(textColumns('a', 'b,c'), [])).toBe('a,"b,c"\r\n');
  const rows = [
    ['x, "y"', null],
    ['1\n2', 'z'],
  ];
  expect(await written(textColumns('a', 'b'), rows)).toBe('a,b\r\n"x, ""y""",\r\n"1\n2",z\r\n');
});

it('writes the lines of a large table in threads as those of a small one', async () => {
  const columns: Column[] = [
    ...textColumns('id', 'name', 'attributes.note'),
    { header: 'created_at', type: 'datetime' },
    { header: 'tags', type: 'multi' },
    { header: 'quality', type: 'number' },
  ];
  const at = '2026-01-31T23:59:59.123Z';
  const rows = fc
    .sample(text, { numRuns: 3_000, seed: 12 })
    .filter(storable)
    .map((value, n): Cell[] => [`${n}`, value, value, n % 3 ? at : null, [value, 'b'], n / 7]);
  for (const write of [writeCsv, writeNdjson]) {
    const [small, large] = [new Kept(), new Kept()];
    let told = 0;
    await write(binaryOf(columns, rows), small, {});
    await write({ ...binaryOf(columns, rows), expected: rows.length }, large, {
      onRows: (count) => {
        told += count;
      },
    });
    expect(large.content.toString()).toBe(small.content.toString());
    expect(told).toBe(rows.length);
  }
});

it.each([true, false])('is read by any reader of CSV as it was stored, guarded: %s', async (guard) => {
  const values = fc.sample(text, { numRuns: 3_000, seed: 11 }).filter(storable);
  const columns = textColumns('type', 'name', 'description', 'attributes.note');
  const out = new Kept();
  const rows = values.map((value) => ['Application', 'n', value, value]);
  await writeCsv(tableOf(columns, rows), out, { neutralise: guard });
  const content = out.content.toString();
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
    for (const row of batch)
      read.push([row.values.description ?? '', String(row.values.attributes?.note ?? '')]);
  }
  expect(read).toEqual(values.map((value) => [value, value]));
});

it('reads values and attributes as the database stores them', async () => {
  const values = fc.sample(text, { numRuns: 2_000, seed: 17 }).filter(storable);
  const columns: Column[] = [
    { header: 'id', type: 'key' },
    { header: 'attributes.text', type: 'text' },
    { header: 'text', type: 'text' },
    { header: 'at', type: 'datetime' },
    { header: 'number', type: 'number' },
    { header: 'odd', type: 'boolean' },
    { header: 'list', type: 'multi' },
    { header: 'attributes.list', type: 'multi' },
  ];
  const sql: Record<string, string> = {
    id: 'md5(x.n::text)::uuid',
    text: "nullif(x.v, '')",
    at: "case when x.n = 1 then 'infinity' else '1999-12-31T23:58:57Z'::timestamptz + x.n * interval '1234567.8919 seconds' end",
    number: 'x.n / 8.0',
    odd: 'x.n % 2 = 1',
    list: 'to_json(array[x.v, x.v])',
  };
  const attributes = "jsonb_build_object('other', jsonb_build_array(x.v), 'text', x.v, 'list', array[x.v])";
  const from = 'from jsonb_array_elements_text(?::jsonb) with ordinality as x(v, n) order by x.n';
  const query = `select ${selectList(columns, (header) => sql[header]!, attributes)} ${from}`;
  const rows: (readonly Cell[])[] = [];
  await inSnapshot(async (snapshot) => {
    const { batches } = tableFrom(snapshot, columns, query, [JSON.stringify(values)]);
    for await (const batch of batches) rows.push(...batch);
  });
  expect(rows.map(([, ...cells]) => cells)).toEqual(
    values.map((value, n) => [
      value,
      value || null,
      n === 0
        ? null
        : new Date(Math.floor(Date.UTC(1999, 11, 31, 23, 58, 57) + (n + 1) * 1234567891.9)).toISOString(),
      (n + 1) / 8,
      n % 2 === 0,
      [value, value],
      [value],
    ]),
  );
  expect(rows[0]![0]).toBe('c4ca4238-a0b9-2382-0dcc-509a6f75849b');
});

it('joins the values of a list, and writes what does not fit its column as it is', async () => {
  const lists = fc.sample(fc.array(text.filter(storable), { minLength: 1, maxLength: 4 }), {
    numRuns: 300,
    seed: 5,
  });
  const content = await written(
    [{ header: 'k', type: 'multi' }, ...textColumns('n')],
    [...lists, [], null, -5.5, true].map((cell) => [cell, 'n']),
  );
  const cells = cellsOf(content).map(([value]) => value);
  expect(cells).toEqual([...lists.map((list) => neutralise(joinValues(list))), '', '', '-5.5', 'true']);
});

it('takes every text, number and list as a value of a statement as it is', async () => {
  const values = fc.sample(text, { numRuns: 500, seed: 3 }).filter(storable);
  const query = `select ${literal(values)}::text[] as list, array[${values.map(literal).join(', ')}] as each`;
  const [row] = await inSnapshot((snapshot) => snapshot.query(query));
  expect(row).toEqual({ list: values, each: values });
  const others = [-1.5, true, null, new Date(0)].map(literal);
  expect(others).toEqual(["'-1.5'", "'true'", 'null', "'1970-01-01T00:00:00.000Z'"]);
  expect(() => literal({})).toThrow(TypeError);
});

const endless = `select repeat('x', 500), n::text from generate_series(1, 300000) n`;

it('takes no more from the database than the reader takes; once aborted, the connection is as good as before', async () => {
  const stop = new AbortController();
  const reason = new Error('cancelled');
  let seen = 0;
  await inSnapshot(async (snapshot) => {
    const out = new Stuck();
    const writing = writeCsv(tableFrom(snapshot, textColumns('a', 'b'), endless), out, {
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
  const failing = 'select (1 / (5000 - n))::text from generate_series(1, 10000) n';
  await expect(
    inSnapshot((snapshot) => writeCsv(tableFrom(snapshot, textColumns('a'), failing), out, {})),
  ).rejects.toThrow('division by zero');
  expect([out.destroyed, out.writableFinished]).toEqual([true, false]);
  expect(await inSnapshot((snapshot) => snapshot.query('select 1 as one'))).toEqual([{ one: 1 }]);
});

it('says so when the connection is lost on the way', async () => {
  const work = inSnapshot(async (snapshot) => {
    const [{ pid } = { pid: 0 }] = await snapshot.query<{ pid: number }>('select pg_backend_pid() as pid');
    const out = new Stuck();
    const writing = writeCsv(tableFrom(snapshot, textColumns('a', 'b'), endless), out, {});
    await pause(50);
    await t.services.db.raw('select pg_terminate_backend(?)', [pid]);
    out.destroy();
    await writing;
  });
  await expect(work).rejects.toThrow();
  expect(await inSnapshot((snapshot) => snapshot.query('select 1 as one'))).toEqual([{ one: 1 }]);
});
