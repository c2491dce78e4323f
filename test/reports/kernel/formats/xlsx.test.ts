import { setImmediate } from 'node:timers/promises';
import type ExcelJS from 'exceljs';
import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import type { Cell, Column, Table } from '../../../../reports/kernel/formats/formats.types.ts';
import { columnName, rowXml } from '../../../../reports/kernel/formats/xlsx.cells.ts';
import { writeXlsx, type XlsxOptions } from '../../../../reports/kernel/formats/xlsx.ts';
import { forAll, forAllAsync } from '../../../support/property.ts';
import { readWorkbook } from '../../../support/workbook.ts';
import { endlessTable, Kept, Stuck, tableOf, textColumns } from './tables.ts';

async function written(tables: Table[], options: XlsxOptions = {}): Promise<ExcelJS.Workbook> {
  const out = new Kept();
  await writeXlsx(tables, out, options);
  expect(out.writableFinished).toBe(true);
  return await readWorkbook(out.content);
}

function rowsOf(sheet: ExcelJS.Worksheet): unknown[][] {
  const rows: unknown[][] = [];
  sheet.eachRow((row) => {
    rows.push(Array.from({ length: sheet.columnCount }, (_, n) => row.getCell(n + 1).value));
  });
  return rows;
}

/** What a strict reader finds in the cell of a text. */
function readBack(text: string): string {
  const xml = rowXml(textColumns('name'), () => undefined)([text], 2);
  let read = '';
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('text', (part) => {
    read += part;
  });
  parser.write(`<sheetData>${xml}</sheetData>`).close();
  return read;
}

it('writes each type of cell as its own type, texts never as formulas', async () => {
  const columns: Column[] = [
    { header: 'name', type: 'text' },
    { header: 'cost', type: 'number' },
    { header: 'critical', type: 'boolean' },
    { header: 'from', type: 'date' },
    { header: 'at', type: 'datetime' },
    { header: 'regions', type: 'multi' },
  ];
  const rows: Cell[][] = [
    ['=HYPERLINK("http://x.example")', -5.5, true, '2020-02-29', '2024-05-06T07:08:09.000Z', ['a', 'b;c']],
    ["'=x", 0, false, '1899-12-31', null, []],
    ['+1', null, undefined, 'no date', null, null],
  ];
  const sheet = (await written([tableOf(columns, rows)])).getWorksheet('Cards')!;
  expect(rowsOf(sheet)).toEqual([
    ['name', 'cost', 'critical', 'from', 'at', 'regions'],
    [
      ...['=HYPERLINK("http://x.example")', -5.5, true, new Date('2020-02-29T00:00:00Z')],
      ...[new Date('2024-05-06T07:08:09Z'), 'a;b\\;c'],
    ],
    ["'=x", 0, false, '1899-12-31', null, null],
    ['+1', null, null, 'no date', null, null],
  ]);
  const formats = [sheet.getCell('D2').numFmt, sheet.getCell('E2').numFmt, sheet.getCell('B2').numFmt];
  expect(formats).toEqual(['yyyy-mm-dd', 'yyyy-mm-dd hh:mm:ss', undefined]);
  expect(sheet.getCell('A1').font.bold).toBe(true);
  expect(sheet.getCell('A2').font?.bold).toBeFalsy();
  expect(sheet.views[0]).toMatchObject({ state: 'frozen', ySplit: 1 });
  expect(sheet.autoFilter).toBe('A1:F1');
});

it('formats money, and is wide enough for ids', async () => {
  const columns: Column[] = [
    { header: 'id', type: 'key' },
    { header: 'cost', type: 'number', money: true },
    { header: 'users', type: 'number' },
  ];
  const id = '0197f3a0-0000-7000-8000-000000000042';
  const rows: Cell[][] = [
    [id, 1234.5, 3],
    [id, 'unknown', 4],
  ];
  const workbook = await written([tableOf(columns, rows)]);
  expect(workbook.creator).toBe('Estate');
  const sheet = workbook.getWorksheet('Cards')!;
  const formats = ['B1', 'B2', 'B3', 'C2'].map((address) => sheet.getCell(address).numFmt);
  expect(formats).toEqual([undefined, '#,##0.00', undefined, undefined]);
  expect(sheet.getColumn(1).width).toBeGreaterThan(id.length);
  expect(sheet.getColumn(2).width).toBeLessThan(20);
});

it('keeps any text that XML can carry', async () => {
  const text = fc.string({ unit: 'grapheme' }).map((value) => value.replace(/\p{Cc}|_/gu, ''));
  await forAllAsync(
    30,
    [
      fc.array(
        text.filter((value) => value.trim() === value && value !== ''),
        { minLength: 1 },
      ),
    ],
    async (texts) => {
      const table = tableOf(
        textColumns('name'),
        texts.map((value) => [value]),
      );
      const sheet = (await written([table])).getWorksheet('Cards')!;
      expect(rowsOf(sheet).slice(1)).toEqual(texts.map((value) => [value]));
    },
  );
});

it('drops what XML forbids and escapes what readers would take for something else', () => {
  expect(readBack('a\u0000\u0008\u000b\u001fb\ud800c\uffffd')).toBe('abcd');
  expect(readBack('two\nlines\tand 😀')).toBe('two\nlines\tand 😀');
  expect(readBack('another\r\nsystem')).toBe('another\r\nsystem');
  expect(readBack('<v>&amp;</v>]]>')).toBe('<v>&amp;</v>]]>');
  expect(readBack('_x000D_ _x0_ __x0041_')).toBe('_x005F_x000D_ _x0_ __x005F_x0041_');
  const unit = fc.oneof(
    fc.constantFrom(...'&<>"\'_x0D;#]\r\n\t\u0000\u001f\u007f\u0085\ud83d\ude00\ufffe'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  );
  forAll(100, [fc.string({ unit })], (text) => {
    const kept = [...text].filter((character) => /^[\t\n\r\x20-\ud7ff\ue000-\ufffd]$|^..$/s.test(character));
    expect(readBack(text).replace(/_x005F_/g, '_')).toBe(kept.join('').replace(/_x005F_/gi, '_'));
  });
});

it('leaves out empty cells and rows, and names the others', () => {
  const xml = rowXml(textColumns(...Array.from({ length: 28 }, (_, n) => `column ${n}`)), () => undefined);
  const cells: Cell[] = new Array(28).fill(null);
  expect(xml(cells, 7)).toBe('');
  cells[1] = '';
  cells[2] = '=1+1';
  cells[27] = 0.1;
  expect(xml(cells, 7)).toBe('<row r="7"><c r="C7" t="str"><v>=1+1</v></c><c r="AB7"><v>0.1</v></c></row>');
  expect([1, 26, 27, 702, 703, 16_384].map(columnName)).toEqual(['A', 'Z', 'AA', 'ZZ', 'AAA', 'XFD']);
});

it('lists texts that are too long for a cell on a sheet of notes', async () => {
  const long = 'y'.repeat(40_000);
  const table = tableOf(textColumns('id', 'description'), [
    ['1', 'short'],
    ['2', long],
    ['3', `${'y'.repeat(32_766)}😀`],
  ]);
  const workbook = await written([table]);
  expect(workbook.worksheets.map(({ name }) => name)).toEqual(['Cards', 'Notes']);
  const cells = rowsOf(workbook.getWorksheet('Cards')!).map((row) => String(row[1]));
  expect(cells.slice(2)).toEqual([long.slice(0, 32_767), 'y'.repeat(32_766)]);
  expect(rowsOf(workbook.getWorksheet('Notes')!).slice(1)).toEqual([
    ['Cards', 3, 'description', 40_000],
    ['Cards', 4, 'description', 32_768],
  ]);
});

it('goes on in a further sheet where one is full, and writes empty tables', async () => {
  const rows = Array.from({ length: 10 }, (_, n) => [`row ${n}`]);
  const workbook = await written(
    [tableOf(textColumns('name'), rows), tableOf(textColumns('id'), [], 'Relations')],
    { maxRows: 5 },
  );
  expect(workbook.worksheets.map((sheet) => [sheet.name, rowsOf(sheet).map(([value]) => value)])).toEqual([
    ['Cards', ['name', 'row 0', 'row 1', 'row 2', 'row 3']],
    ['Cards 2', ['name', 'row 4', 'row 5', 'row 6', 'row 7']],
    ['Cards 3', ['name', 'row 8', 'row 9']],
    ['Relations', ['id']],
  ]);
});

it('takes no more rows than the reader takes, in any sheet, and ends when aborted', async () => {
  const before = tableOf(textColumns('name'), [['x']], 'First');
  const { table, told } = endlessTable();
  const stop = new AbortController();
  const out = new Stuck();
  let seen = 0;
  const writing = writeXlsx([before, table], out, {
    signal: stop.signal,
    onRows: (rows) => {
      seen += rows;
    },
  });
  // a writer that does not wait writes 250 rows at each of these
  for (let turn = 0; turn < 2_000; turn += 1) await setImmediate();
  expect(told.rows).toBeLessThan(100_000);
  expect(seen).toBe(told.rows + 1);
  const reason = new Error('cancelled');
  stop.abort(reason);
  await expect(writing).rejects.toBe(reason);
  expect([out.destroyed, told.closed]).toEqual([true, true]);
});

it('fails with the stream, and destroys the stream when the rows fail', async () => {
  const { table, told } = endlessTable();
  const gone = new Stuck();
  const writing = writeXlsx([table], gone, {});
  gone.destroy(new Error('disk full'));
  await expect(writing).rejects.toThrow('disk full');
  expect(told.closed).toBe(true);

  const failing: Table = {
    ...tableOf(textColumns('a'), []),
    batches: (async function* () {
      yield [['1']];
      throw new Error('the database has gone');
    })(),
  };
  const out = new Kept();
  await expect(writeXlsx([failing], out, {})).rejects.toThrow('the database has gone');
  expect([out.destroyed, out.writableFinished]).toEqual([true, false]);
});
