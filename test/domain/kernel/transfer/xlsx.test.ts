import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { ZipFile } from 'yazl';
import { storeContent } from '../../../../domain/kernel/files/files.store.ts';
import {
  dayOf,
  isDayFormat,
  readXlsx,
  type SheetRows,
} from '../../../../domain/kernel/transfer/xlsx.read.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { forAll } from '../../../support/property.ts';
import { workbook } from '../../../support/workbook.ts';

const t = closeAfterAll(await createTestServices());

async function read(content: Buffer): Promise<Record<string, SheetRows['rows']>> {
  const stored = await storeContent(t.services.blobs, Readable.from([content]));
  const sheets: Record<string, SheetRows['rows']> = {};
  for await (const { sheet, rows } of readXlsx(t.services.blobs, stored))
    sheets[sheet] = [...(sheets[sheet] ?? []), ...rows];
  return sheets;
}

const main = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml';
const relations = (type: string, target: string, id = 'r1') =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="${id}"
    Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/></Relationships>`;

/** The parts of a workbook with one sheet of this XML. */
const parts = (sheet: string): Record<string, string> => ({
  '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/xl/workbook.xml" ContentType="${main}"/></Types>`,
  '_rels/.rels': relations('officeDocument', 'xl/workbook.xml'),
  'xl/workbook.xml': `<x:workbook xmlns:x="urn:x" xmlns:q="urn:r"><x:sheets><x:sheet name="One" sheetId="1" q:id="r1"/></x:sheets></x:workbook>`,
  'xl/_rels/workbook.xml.rels': relations('worksheet', '/xl/worksheets/one.xml'),
  'xl/worksheets/one.xml': sheet,
});
async function archive(members: Record<string, string | Buffer>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(members)) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  return await buffer(zip.outputStream);
}
const sheetOf = (rows: string) => `<worksheet><sheetData>${rows}</sheetData></worksheet>`;

describe('a workbook', () => {
  it('yields texts of all kinds of cells, formulas as what they came to', async () => {
    const sheets = await read(
      await workbook({
        First: [
          ['text', 1.5, true, new Date('2024-02-29T00:00Z'), new Date('2024-02-29T12:30Z'), null, 'last'],
          [
            { formula: '1+1', result: 2 },
            { formula: 'HYPERLINK("http://x")', result: 'shown' },
            { formula: 'A1' },
            { richText: [{ text: 'ri' }, { text: 'ch' }] },
            { text: 'a link', hyperlink: 'http://x.example' },
            { error: '#N/A' },
          ],
          [],
          ['ä €\u{1f600} <&>'],
        ],
        Second: [['x']],
      }),
    );
    expect(sheets).toEqual({
      First: [
        { row: 1, cells: ['text', '1.5', 'true', '2024-02-29', '2024-02-29T12:30:00Z', '', 'last'] },
        { row: 2, cells: ['2', 'shown', '', 'rich', 'a link'], uncalculated: [2], failed: [5] },
        { row: 4, cells: ['ä €\u{1f600} <&>'] },
      ],
      Second: [{ row: 1, cells: ['x'] }],
    });
  });

  it('is read whatever its prefixes are, with rows and cells that do not say where they are', async () => {
    const row =
      '<row><c t="inlineStr"><is><t>a</t></is></c><c r="C1"><v>2</v></c></row><row r="-7"><c><v>3</v></c></row>';
    expect(await read(await archive(parts(sheetOf(row))))).toEqual({
      One: [
        { row: 1, cells: ['a', '', '2'] },
        { row: 2, cells: ['3'] },
      ],
    });
  });

  it('takes only decimal numbers for numbers', async () => {
    const cells = ['0x10', ' ', '1e3', '1,5'].map((value) => `<c><v>${value}</v></c>`);
    expect(await read(await archive(parts(sheetOf(`<row>${cells.join('')}</row>`))))).toEqual({
      One: [{ row: 1, cells: ['0x10', '', '1000', '1,5'] }],
    });
  });

  it('takes an empty value of a formula for a result only where it is a text', async () => {
    const cells = [
      '<c><f>5*7</f><v /></c>',
      '<c><f>5*7</f><v></v></c>',
      '<c t="b"><f>TRUE</f><v/></c>',
      '<c t="str"><f>""</f><v></v></c>',
      '<c><f>5*7</f><v>35</v></c>',
      '<c><v/></c>',
    ];
    expect(await read(await archive(parts(sheetOf(`<row>${cells.join('')}</row>`))))).toEqual({
      One: [{ row: 1, cells: ['', '', '', '', '35'], uncalculated: [0, 1, 2] }],
    });
  });

  it('is refused where it is none, or would do harm', async () => {
    const fault = async (content: Buffer) =>
      await read(content).then(
        () => 'none',
        (error) => error.message,
      );
    const plain = parts(sheetOf(''));
    expect(await fault(Buffer.from('PK nothing'))).toMatch(/no workbook in the format XLSX/);
    expect(await fault(await archive({ 'a.txt': 'x' }))).toBe('it is an archive, but no workbook');
    expect(await fault(await archive({ ...plain, 'xl/vbaProject.bin': 'x' }))).toBe('it contains macros');
    const { 'xl/worksheets/one.xml': _, ...lacking } = plain;
    expect(await fault(await archive(lacking))).toBe('it lacks the sheet One');
    const twice = '<row r="1"><c><v>1</v></c></row><row r="1"><c><v>2</v></c></row>';
    expect(await fault(await archive(parts(sheetOf(twice))))).toMatch(/row 1 of the sheet One/);
    const entity =
      '<!DOCTYPE x [<!ENTITY e "boom">]><worksheet><sheetData><row><c><v>&e;</v></c></row></sheetData></worksheet>';
    expect(await fault(await archive(parts(entity)))).toBe('it declares a document type');
    expect(await fault(await archive(parts('<worksheet><sheetData><row>')))).toMatch(/unclosed/);
    expect(await fault(await archive(parts(`${'<a>'.repeat(70)}${'</a>'.repeat(70)}`)))).toMatch(/64 deep/);
    for (const place of ['0', '-1', 'x', '']) {
      const shared = sheetOf(`<row><c t="s"><v>${place || ' '}</v></c></row>`);
      expect(await fault(await archive(parts(shared)))).toMatch(
        /^row 1 of the sheet One names the shared text/,
      );
    }
    const endless = sheetOf(`<row><c><v>${'A'.repeat(9_000_000)}</v></c></row>`);
    expect(await fault(await archive(parts(endless)))).toBe('it has a text that is too long');
    const wide = sheetOf('<row><c r="ZZZ1"><v>1</v></c></row>');
    expect(await fault(await archive(parts(wide)))).toMatch(/more than 2000 columns/);
    const long = sheetOf(`<row><c t="inlineStr"><is><t>${'x'.repeat(200_000)}</t></is></c></row>`);
    expect(await fault(await archive(parts(long)))).toMatch(/cell that is too long/);
  });

  it('is refused when it unpacks to more than it may, or than it says', async () => {
    const zip = await archive(parts(sheetOf(' '.repeat(3_000_000))));
    // the directory's sizes are what is counted: one part says more than may be, then one says less than it holds
    const at = zip.lastIndexOf('xl/worksheets/one.xml') - 46 + 24;
    const forged = (size: number) => {
      const copy = Buffer.from(zip);
      copy.writeUInt32LE(size, at);
      return copy;
    };
    await expect(read(forged(1_000_000_000))).rejects.toThrow('it unpacks to more than 512 MiB');
    await expect(read(forged(1_000))).rejects.toThrow(/too many bytes/);
  });
});

describe('days', () => {
  it('are told by number formats', () => {
    const of = (code: string) => isDayFormat(164, code);
    expect(['yyyy-mm-dd', 'd/m/yy h:mm', '[$-407]d. mmmm yyyy'].map(of)).toEqual([true, true, true]);
    expect(['General', '0.00', '#,##0 "days"', '0\\d', '[Red]0'].filter(of)).toEqual([]);
    expect([isDayFormat(14, undefined), isDayFormat(2, undefined)]).toEqual([true, false]);
  });

  it('count from where spreadsheets do', () => {
    const days = [1, 59, 61, 45351, 45351.5].map((serial) => dayOf(serial, false));
    expect(days).toEqual(['1900-01-01', '1900-02-28', '1900-03-01', '2024-02-29', '2024-02-29T12:00:00Z']);
    expect(dayOf(0, true)).toBe('1904-01-01');
    for (const none of [-1, Number.NaN, 1e12]) expect(dayOf(none, false)).toBeUndefined();
  });

  it('come back from any day since March 1900', () => {
    const first = Date.UTC(1900, 2, 1);
    forAll(200, [fc.integer({ min: 0, max: 2_900_000 })], (days) => {
      expect(dayOf(61 + days, false)).toBe(new Date(first + days * 86_400_000).toISOString().slice(0, 10));
    });
  });
});
