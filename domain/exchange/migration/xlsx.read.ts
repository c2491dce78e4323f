import path from 'node:path/posix';
import type { BlobStore } from '../../../platform/blobs.ts';
import { MAX_CELL, MAX_COLUMNS, type SheetRows } from './source.types.ts';
import { type Archive, openArchive } from './xlsx.archive.ts';
import { dayOf, showsDay } from './xlsx.days.ts';
import { readPart, walkPart } from './xlsx.xml.ts';

/** Characters of all texts that cells share. */
const MAX_SHARED = 64 * 1024 * 1024;
const MAX_SHEETS = 500;
/** The last row that the format knows. */
const MAX_ROW = 1_048_576;

interface Workbook {
  sheets: { name: string; part: string }[];
  from1904: boolean;
  shared: string[];
  /** Whether a cell's style shows its number as a day. */
  days: boolean[];
}

/**
 * Reads the sheets of a stored workbook in their order, rows as they come (ECMA-376, SpreadsheetML). Formulas are never
 * evaluated: their cells yield the value that the workbook keeps, or nothing.
 * @throws Error saying why the file is refused.
 */
export async function* readXlsx(
  blobs: BlobStore,
  { id, size }: { id: string; size: number },
): AsyncGenerator<SheetRows> {
  const archive = await openArchive(blobs, id, size);
  try {
    const workbook = await readWorkbook(archive);
    for (const { name, part } of workbook.sheets) {
      if (archive.has(part)) yield* sheetRows(archive, workbook, name, part);
    }
  } finally {
    archive.close();
  }
}

async function relationsOf(
  archive: Archive,
  part: string,
): Promise<{ id: string; type: string; target: string }[]> {
  const name = path.join(path.dirname(part), '_rels', `${path.basename(part)}.rels`);
  const found: { id: string; type: string; target: string }[] = [];
  if (!archive.has(name)) return found;
  await readPart(await archive.open(name), {
    open(element, attribute) {
      if (element !== 'Relationship' || attribute('TargetMode') === 'External') return;
      const target = attribute('Target') ?? '';
      found.push({
        id: attribute('Id') ?? '',
        type: (attribute('Type') ?? '').split('/').at(-1)!,
        target: target.startsWith('/') ? target.slice(1) : path.join(path.dirname(part), target),
      });
    },
  });
  return found;
}

async function readWorkbook(archive: Archive): Promise<Workbook> {
  const main = (await relationsOf(archive, '')).find(({ type }) => type === 'officeDocument')?.target;
  if (!main || !archive.has(main)) throw new Error('it is an archive, but no workbook');
  const relations = await relationsOf(archive, main);
  const workbook: Workbook = { sheets: [], from1904: false, shared: [], days: [] };
  await readPart(await archive.open(main), {
    open(element, attribute) {
      if (element === 'workbookPr') workbook.from1904 = /^(1|true)$/.test(attribute('date1904') ?? '');
      if (element !== 'sheet') return;
      const relation = relations.find(({ id }) => id === attribute('id'));
      if (relation?.type === 'worksheet') {
        workbook.sheets.push({ name: attribute('name') ?? '', part: relation.target });
      }
      if (workbook.sheets.length > MAX_SHEETS) throw new Error(`it has more than ${MAX_SHEETS} sheets`);
    },
  });
  if (workbook.sheets.length === 0) throw new Error('it is no workbook with sheets');
  const partOf = (wanted: string) => relations.find(({ type }) => type === wanted)?.target ?? '';
  if (archive.has(partOf('sharedStrings')))
    workbook.shared = await readShared(archive, partOf('sharedStrings'));
  if (archive.has(partOf('styles'))) workbook.days = await readDays(archive, partOf('styles'));
  return workbook;
}

async function readShared(archive: Archive, part: string): Promise<string[]> {
  const texts: string[] = [];
  let text = '';
  let inText = false;
  let phonetic = 0;
  let size = 0;
  await readPart(await archive.open(part), {
    open(element) {
      if (element === 'si') text = '';
      // how a text is read aloud is no part of it
      if (element === 'rPh') phonetic += 1;
      inText = element === 't' && phonetic === 0;
    },
    text(piece) {
      if (inText) text += piece;
    },
    close(element) {
      if (element === 't') inText = false;
      if (element === 'rPh') phonetic -= 1;
      if (element !== 'si') return;
      size += text.length;
      if (size > MAX_SHARED) throw new Error('its texts are longer than 64 Mi characters together');
      texts.push(text);
    },
  });
  return texts;
}

async function readDays(archive: Archive, part: string): Promise<boolean[]> {
  const codes = new Map<number, string>();
  const days: boolean[] = [];
  let inCells = false;
  await readPart(await archive.open(part), {
    open(element, attribute) {
      if (element === 'numFmt') codes.set(Number(attribute('numFmtId')), attribute('formatCode') ?? '');
      if (element === 'cellXfs') inCells = true;
      if (element !== 'xf' || !inCells) return;
      const id = Number(attribute('numFmtId') ?? 0);
      days.push(showsDay(id, codes.get(id)));
    },
    close(element) {
      if (element === 'cellXfs') inCells = false;
    },
  });
  return days;
}

/** The column of a reference such as `AB12`, from 0; undefined for none. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/i.exec(reference ?? '')?.[0];
  if (!letters) return undefined;
  let column = 0;
  for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

async function* sheetRows(
  archive: Archive,
  workbook: Workbook,
  sheet: string,
  part: string,
): AsyncGenerator<SheetRows> {
  let rows: SheetRows['rows'] = [];
  let row = 0;
  let cells: string[] = [];
  let column = -1;
  let type = 'n';
  let style = 0;
  let value = '';
  let inValue = false;
  const texts = await archive.open(part);
  for await (const _ of walkPart(texts, {
    open(element, attribute) {
      if (element === 'row') {
        const said = Number(attribute('r') ?? row + 1);
        row = Number.isInteger(said) && said > 0 && said <= MAX_ROW ? said : row + 1;
        cells = [];
        column = -1;
      } else if (element === 'c') {
        column = columnOf(attribute('r')) ?? column + 1;
        type = attribute('t') ?? 'n';
        style = Number(attribute('s') ?? 0);
        value = '';
      }
      inValue = element === 'v' || element === 't';
    },
    text(piece) {
      if (inValue && value.length <= MAX_CELL) value += piece;
    },
    close(element) {
      if (element === 'v' || element === 't') inValue = false;
      if (element === 'c' && value !== '') {
        if (column >= MAX_COLUMNS) throw new Error(`the sheet ${sheet} has more than ${MAX_COLUMNS} columns`);
        const text = cellText(workbook, type, style, value);
        if (text.length > MAX_CELL)
          throw new Error(`row ${row} of the sheet ${sheet} has a cell that is too long`);
        while (text !== '' && cells.length < column) cells.push('');
        if (text !== '') cells[column] = text;
      }
      if (element === 'row' && cells.some((cell) => cell.trim() !== '')) rows.push({ row, cells });
    },
  })) {
    if (rows.length === 0) continue;
    yield { sheet, rows };
    rows = [];
  }
}

/** A cell's value as text; errors such as `#N/A` are none. */
function cellText(workbook: Workbook, type: string, style: number, value: string): string {
  if (type === 's') return workbook.shared[Number(value)] ?? '';
  if (type === 'b') return value.trim() === '1' ? 'true' : 'false';
  if (type === 'e') return '';
  if (type !== 'n') return value;
  const number = Number(value);
  if (!Number.isFinite(number)) return '';
  if (workbook.days[style]) return dayOf(number, workbook.from1904) ?? String(number);
  return String(number);
}
