import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Cell, Column } from '../../../../reports/kernel/formats/formats.types.ts';
import { parquetDay } from '../../../../reports/kernel/formats/parquet.columns.ts';
import { writeParquet } from '../../../../reports/kernel/formats/parquet.ts';
import { binaryOf, endlessRows, Kept, Stuck } from './tables.ts';

const folder = await mkdtemp(path.join(os.tmpdir(), 'estate-parquet-'));

afterAll(() => rm(folder, { recursive: true, force: true }));

const columns: Column[] = [
  { header: 'id', type: 'key' },
  { header: 'name', type: 'text' },
  { header: 'attributes.cost', type: 'number' },
  { header: 'attributes.own', type: 'boolean' },
  { header: 'lifecycle.active', type: 'date' },
  { header: 'created_at', type: 'datetime' },
  { header: 'tags', type: 'multi' },
];

/** The rows of a file as DuckDB reads them, and the types of its columns. */
async function read(rows: Cell[][], query = 'select * from file', of = columns): Promise<unknown[][]> {
  const out = new Kept();
  await writeParquet(binaryOf(of, rows), out, {});
  const file = path.join(folder, 'file.parquet');
  await writeFile(file, out.content);
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    return (await connection.runAndReadAll(query.replace('file', `read_parquet('${file}')`))).getRowsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

const full: Cell[] = [
  'a',
  '漢字 "x"\n',
  -5.25,
  false,
  '1899-02-28',
  '2026-01-31T23:59:59.123Z',
  ['Region/EU; west', ''],
];

it('is read by DuckDB with the types of the columns', async () =>
  expect(await read([full], 'select column_name, column_type from (describe select * from file)')).toEqual([
    ['id', 'VARCHAR'],
    ['name', 'VARCHAR'],
    ['attributes.cost', 'DOUBLE'],
    ['attributes.own', 'BOOLEAN'],
    ['lifecycle.active', 'DATE'],
    ['created_at', 'TIMESTAMP WITH TIME ZONE'],
    ['tags', 'VARCHAR[]'],
  ]));

it('keeps every value, and tells none from empty', async () => {
  const rows: Cell[][] = [
    full,
    columns.map(() => null),
    ['b', '', 0, true, '2024-02-29', '1969-12-31T23:59:59.999Z', []],
  ];
  expect(await read(rows, 'select * replace (epoch_ms(created_at) as created_at) from file')).toEqual([
    [
      'a',
      '漢字 "x"\n',
      -5.25,
      false,
      '1899-02-28',
      String(Date.parse('2026-01-31T23:59:59.123Z')),
      ['Region/EU; west', ''],
    ],
    columns.map(() => null),
    ['b', '', 0, true, '2024-02-29', '-1', []],
  ]);
});

it('makes null of what is no value of the column, and text of what is no text', async () => {
  const odd: Cell[] = [7, true, 'many', 'yes', 'soon', 'never', 'one'];
  expect(await read([odd])).toEqual([['7', 'true', null, null, null, null, ['one']]]);
});

it('writes rows of several groups, and a file without any', async () => {
  const many = Array.from({ length: 20_001 }, (_, n): Cell[] => [
    `id ${n}`,
    `name ${n % 7}`,
    n,
    null,
    null,
    null,
    null,
  ]);
  const query = 'select count(*), sum("attributes.cost"), count(distinct name), max(id) from file';
  expect(await read(many, query)).toEqual([['20001', 200_010_000, '7', 'id 9999']]);
  expect(await read([], query)).toEqual([['0', null, '0', null]]);
});

it('keeps values that repeat and values that are seldom there, and finds rows by their bounds', async () => {
  const some: Cell[][] = Array.from({ length: 3000 }, (_, n): Cell[] => [
    `id ${String(n).padStart(5, '0')}`,
    n % 3 === 0 ? `漢字 ${n % 5}` : null,
    n % 10 === 0 ? n / 4 : null,
    n % 2 === 0 ? n % 4 === 0 : null,
    n % 7 === 0 ? new Date(n * 86_400_000).toISOString().slice(0, 10) : null,
    new Date(n * 3_600_000 - 1).toISOString(),
    n % 100 === 0 ? ['a', `b${n}`] : null,
  ]);
  const found = await read(
    some,
    `select * exclude (created_at), epoch_ms(created_at) from file
     where id in ('id 00000', 'id 00630', 'id 02999') and created_at >= '1969-12-31' order by id`,
  );
  expect(found).toEqual([
    ['id 00000', '漢字 0', 0, true, '1970-01-01', ['a', 'b0'], '-1'],
    ['id 00630', '漢字 0', 157.5, false, '1971-09-23', null, String(630 * 3_600_000 - 1)],
    ['id 02999', null, null, null, null, null, String(2999 * 3_600_000 - 1)],
  ]);
});

it('takes no more rows than the reader takes, and lets go of them when it is aborted', async () => {
  const { table, told } = endlessRows();
  const stop = new AbortController();
  const out = new Stuck();
  const writing = writeParquet(table, out, { signal: stop.signal });
  for (let turn = 0; turn < 200; turn += 1) await setImmediate();
  expect(told.rows).toBeLessThan(50_000);
  const reason = new Error('cancelled');
  stop.abort(reason);
  await expect(writing).rejects.toBe(reason);
  expect([out.destroyed, told.closed]).toEqual([true, true]);
});

it('reads every day of the calendar, and null from what is none', () => {
  const days = ['2024-02-29', '2023-12-31', '2000-02-29', '1900-02-28', '0001-01-01', '9999-12-31'];
  expect(days.map(parquetDay)).toEqual(days.map((text) => Date.parse(text) / 86_400_000));
  expect(['soon', '', '2024-13-01', '2024-00-10', '20240101'].map(parquetDay)).toEqual(Array(5).fill(null));
});

it('reads texts and lists of JSON with escapes, and texts that repeat', async () => {
  const texts = ['漢字 "x"\n', 'back\\slash', '😀', '', 'same', 'same', 'same', 'same', null];
  const lists = [['"', 'é'], [], ['one'], null];
  const rows = Array.from({ length: 36 }, (_, n): Cell[] => [texts[n % 9]!, lists[n % 4]!, 7, n % 2 === 0]);
  const of: Column[] = [
    { header: 'attributes.note', type: 'text' },
    { header: 'attributes.codes', type: 'multi' },
    { header: 'attributes.other', type: 'text' },
    { header: 'attributes.own', type: 'boolean' },
  ];
  expect(await read(rows, undefined, of)).toEqual(
    rows.map(([note, codes, , own]) => [note, codes, '7', own]),
  );
});
