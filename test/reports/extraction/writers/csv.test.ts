import { setImmediate } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCsv } from '../../../../domain/imports/imports.read-csv.ts';
import type { Column, Table } from '../../../../reports/extraction/extraction.types.ts';
import { writeCsv } from '../../../../reports/extraction/writers/csv.ts';
import { writeNdjson } from '../../../../reports/extraction/writers/ndjson.ts';
import { endlessTable, Kept, Stuck, tableOf, textColumns } from './tables.ts';

async function written(table: Table, neutralise = true): Promise<string> {
  const out = new Kept();
  await writeCsv(table, out, { neutralise });
  expect(out.writableFinished).toBe(true);
  return out.content.toString('utf8');
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom('"', "'", '=', '-', ',', ';', '\t', '\r', '\n', ' ', 'a', 'ß', '漢', '😀'),
  }),
);

describe('CSV', () => {
  it('writes each type of cell, texts alone guarded', async () => {
    const columns: Column[] = [
      { header: 'name', type: 'text' },
      { header: 'cost', type: 'number' },
      { header: 'critical', type: 'boolean' },
      { header: 'from', type: 'date' },
      { header: 'regions', type: 'multi' },
    ];
    const rows = [
      ['=1+1', -5.5, true, '2020-01-01', ['-a', 'b;c']],
      ['x, "y"', 1e21, false, null, []],
      [null, undefined, null, undefined, null],
    ];
    expect(await written(tableOf(columns, rows))).toBe(
      [
        'name,cost,critical,from,regions',
        `'=1+1,-5.5,true,2020-01-01,"'-a;b\\;c"`,
        '"x, ""y""",1e+21,false,,',
        ',,,,',
        '',
      ].join('\r\n'),
    );
    expect(await written(tableOf(columns, rows.slice(0, 1)), false)).toContain(
      '\r\n=1+1,-5.5,true,2020-01-01,"-a;b\\;c"\r\n',
    );
  });

  it('writes a header also where there are no rows', async () => {
    expect(await written(tableOf(textColumns('a', 'b,c'), []))).toBe('a,"b,c"\r\n');
  });

  it('is read by any reader of CSV as it was written, and guarded by the import', async () => {
    const cells = fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(cells, async (pairs) => {
        const columns = textColumns('type', 'name', 'description', 'attributes.note');
        const wanted = pairs.map((pair) => pair.map((value) => value.replaceAll('\0', '')));
        const rows = wanted.map((pair) => ['Application', 'n', ...pair]);
        const bare = await written(tableOf(columns, rows), false);
        expect(parse(bare, { record_delimiter: '\r\n', from: 2 })).toEqual(rows);

        const guarded = await written(tableOf(columns, rows));
        for (const line of parse(guarded, { record_delimiter: '\r\n' })) {
          for (const cell of line) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
        }
        const read: string[][] = [];
        const chunks = (async function* () {
          yield Buffer.from(guarded);
        })();
        const options = { attributeKeys: new Set(['note']), fieldType: () => 'text' as const };
        for await (const batch of readCsv(chunks, { kind: 'cards', empty: 'leave', ...options })) {
          for (const { values } of batch) {
            read.push([values.description ?? '', String(values.attributes?.note ?? '')]);
          }
        }
        expect(read).toEqual(wanted);
      }),
    );
  });

  it('takes no more rows than the reader takes, and tells how many', async () => {
    const { table, told } = endlessTable();
    const stop = new AbortController();
    let seen = 0;
    const onRows = (rows: number) => {
      seen += rows;
    };
    const out = new Stuck();
    const writing = writeCsv(table, out, { neutralise: true, signal: stop.signal, onRows });
    for (let turn = 0; turn < 1_000; turn += 1) await setImmediate();
    expect(told.rows).toBeLessThan(10_000);
    expect(seen).toBe(told.rows);
    const reason = new Error('cancelled');
    stop.abort(reason);
    await expect(writing).rejects.toBe(reason);
    expect([out.destroyed, told.closed]).toEqual([true, true]);
  });

  it('lets go of the rows when the reader goes', async () => {
    for (const write of [
      (table: Table, out: Stuck) => writeCsv(table, out, { neutralise: true }),
      (table: Table, out: Stuck) => writeNdjson(table, out, {}),
    ]) {
      const { table, told } = endlessTable();
      const out = new Stuck();
      const writing = write(table, out);
      out.destroy();
      await expect(writing).rejects.toThrow();
      expect(told.closed).toBe(true);
    }
  });

  it('destroys the stream when the rows fail', async () => {
    const failing: Table = {
      ...tableOf(textColumns('a'), []),
      batches: (async function* () {
        yield [['1']];
        throw new Error('the database has gone');
      })(),
    };
    const out = new Kept();
    await expect(writeCsv(failing, out, { neutralise: true })).rejects.toThrow('the database has gone');
    expect([out.destroyed, out.writableFinished]).toEqual([true, false]);
  });
});

describe('NDJSON', () => {
  it('nests lifecycle and attributes, keeps types and leaves empty values out', async () => {
    const out = new Kept();
    const columns: Column[] = [
      ...textColumns('name', 'lifecycle.active'),
      { header: 'attributes.run.cost', type: 'number' },
      { header: 'attributes.regions', type: 'multi' },
    ];
    const rows = [
      ['=1', '2020-01-01', -5, ['a', 'b']],
      ['x', null, undefined, null],
    ];
    await writeNdjson(tableOf(columns, rows), out, {});
    expect(out.content.toString()).toBe(
      '{"name":"=1","lifecycle":{"active":"2020-01-01"},"attributes":{"run.cost":-5,"regions":["a","b"]}}\n{"name":"x"}\n',
    );
  });
});
