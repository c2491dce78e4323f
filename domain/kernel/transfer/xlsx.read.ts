import path from 'node:path/posix';
import type { BlobStore } from '../../../platform/blobs.ts';
import { readNumber } from './csv-cells.ts';
import { type Archive, openArchive, readPart, type StoredWorkbook, walkPart } from './xlsx.parts.ts';

/** The media type of workbooks. */
export const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** Maximum columns of a sheet. */
export const MAX_COLUMNS = 2_000;
/** Maximum characters of a cell. */
export const MAX_CELL = 100_000;

/** Some rows of a sheet. Empty ones are left out. */
export interface SheetRows {
  sheet: string;
  /** Of the sheet, from 0. */
  index: number;
  rows: {
    /** The number of the row in the sheet, from 1. */
    row: number;
    /** From the first column on; empty cells are empty texts. */
    cells: string[];
    /** The columns, from 0, whose formula has no result: the program that wrote it does not calculate. */
    uncalculated?: number[];
    /** Columns whose values are errors such as `#N/A`; their cells are empty. */
    failed?: number[];
    /** Columns with texts such as `1.234`, which are numbers of thousands in some languages and of decimals in others. */
    ambiguous?: number[];
  }[];
}

/** Maximum characters of all shared texts. */
const MAX_SHARED = 64 * 1024 * 1024;
const MAX_SHEETS = 500;
/** The last row that the format allows. */
export const MAX_ROW = 1_048_576;

interface Workbook {
  sheets: { name: string; part: string }[];
  from1904: boolean;
  shared: string[];
  /** Whether a cell's style displays its number as a date. */
  days: boolean[];
}

/** The names of the sheets of a stored workbook, in their order. @throws Error with the reason why the file is refused. */
export async function readSheetNames(blobs: BlobStore, file: StoredWorkbook): Promise<string[]> {
  const archive = await openArchive(blobs, file);
  try {
    return (await readSheets(archive)).sheets.map(({ name }) => name);
  } finally {
    archive.close();
  }
}

/**
 * Reads the sheets of a stored workbook in their order, with rows in the order of the file (ECMA-376, SpreadsheetML).
 * Formulas are never evaluated: their cells return the stored value, or nothing.
 * @param choose picks the names of the sheets that are read; absent: all.
 * @throws Error with the reason why the file is refused; what `choose` throws.
 */
export async function* readXlsx(
  blobs: BlobStore,
  file: StoredWorkbook,
  choose?: (names: readonly string[]) => readonly string[],
): AsyncGenerator<SheetRows> {
  const archive = await openArchive(blobs, file);
  try {
    const list = await readSheets(archive);
    const wanted = choose?.(list.sheets.map(({ name }) => name));
    const workbook = await readWorkbook(archive, list);
    for (const [index, { name, part }] of workbook.sheets.entries()) {
      if (!wanted || wanted.includes(name)) yield* sheetRows(archive, workbook, { index, name, part });
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

/** The list of sheets, and where the other parts lie. */
interface SheetList extends Pick<Workbook, 'sheets' | 'from1904'> {
  partOf(type: string): string;
}

async function readSheets(archive: Archive): Promise<SheetList> {
  const main = (await relationsOf(archive, '')).find(({ type }) => type === 'officeDocument')?.target;
  if (!main || !archive.has(main)) throw new Error('it is an archive, but no workbook');
  const relations = await relationsOf(archive, main);
  const workbook: Pick<SheetList, 'sheets' | 'from1904'> = { sheets: [], from1904: false };
  await readPart(await archive.open(main), {
    open(element, attribute) {
      if (element === 'workbookPr') workbook.from1904 = /^(1|true)$/.test(attribute('date1904') ?? '');
      if (element !== 'sheet') return;
      const relation = relations.find(({ id }) => id === attribute('id'));
      const name = attribute('name') ?? '';
      if (!relation || !archive.has(relation.target))
        throw new Error(`it lacks the sheet ${name.slice(0, 100)}`);
      if (workbook.sheets.some((sheet) => sheet.name === name))
        throw new Error(`two sheets are named ${name.slice(0, 100)}`);
      // a chart can be a sheet too
      if (relation.type === 'worksheet') workbook.sheets.push({ name, part: relation.target });
      if (workbook.sheets.length > MAX_SHEETS) throw new Error(`it has more than ${MAX_SHEETS} sheets`);
    },
  });
  if (workbook.sheets.length === 0) throw new Error('it is no workbook with sheets');
  return { ...workbook, partOf: (wanted) => relations.find(({ type }) => type === wanted)?.target ?? '' };
}

async function readWorkbook(archive: Archive, { sheets, from1904, partOf }: SheetList): Promise<Workbook> {
  const shared = partOf('sharedStrings');
  const styles = partOf('styles');
  return {
    sheets,
    from1904,
    shared: archive.has(shared) ? await readShared(archive, shared) : [],
    days: archive.has(styles) ? await readDays(archive, styles) : [],
  };
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
      // Phonetic text is not a part of the cell's text.
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
      days.push(isDayFormat(id, codes.get(id)));
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
  { index, name: sheet, part }: { index: number; name: string; part: string },
): AsyncGenerator<SheetRows> {
  let rows: SheetRows['rows'] = [];
  let row = 0;
  let cells: string[] = [];
  let uncalculated: number[] = [];
  let failed: number[] = [];
  let ambiguous: number[] = [];
  let column = -1;
  let hasFormula = false;
  let hasValue = false;
  let type = 'n';
  let style = 0;
  let value = '';
  let inValue = false;
  const texts = await archive.open(part);
  for await (const _ of walkPart(texts, {
    open(element, attribute) {
      if (element === 'row') {
        const said = Number(attribute('r') ?? row + 1);
        const place = Number.isInteger(said) && said > 0 && said <= MAX_ROW ? said : row + 1;
        if (place <= row || place > MAX_ROW)
          throw new Error(`row ${place} of the sheet ${sheet} is not in its place`);
        row = place;
        cells = [];
        uncalculated = [];
        failed = [];
        ambiguous = [];
        column = -1;
      } else if (element === 'c') {
        column = columnOf(attribute('r')) ?? column + 1;
        type = attribute('t') ?? 'n';
        style = Number(attribute('s') ?? 0);
        value = '';
        hasFormula = false;
        hasValue = false;
      }
      if (element === 'f') hasFormula = true;
      if (element === 'v') hasValue = true;
      inValue = element === 'v' || element === 't';
    },
    text(piece) {
      if (inValue && value.length <= MAX_CELL) value += piece;
    },
    close(element) {
      if (element === 'v' || element === 't') inValue = false;
      // an empty value is a result only where it is a text
      if (element === 'c' && hasFormula && !(hasValue && (type === 'str' || value.trim() !== '')))
        uncalculated.push(column);
      if (element === 'c' && type === 'e') failed.push(column);
      if (element === 'c' && value !== '') {
        if (column >= MAX_COLUMNS) throw new Error(`the sheet ${sheet} has more than ${MAX_COLUMNS} columns`);
        const text = cellText(workbook, type, style, value);
        if (text === undefined)
          throw new Error(
            `row ${row} of the sheet ${sheet} names the shared text ${value.slice(0, 20)}, which is not in the file`,
          );
        if (text.length > MAX_CELL)
          throw new Error(`row ${row} of the sheet ${sheet} has a cell that is too long`);
        while (text !== '' && cells.length < column) cells.push('');
        if (text !== '') cells[column] = text;
        if (type !== 'n' && isAmbiguousNumber(text)) ambiguous.push(column);
      }
      if (element === 'row' && (uncalculated.length > 0 || cells.some((cell) => cell.trim() !== '')))
        rows.push({
          row,
          cells,
          ...(uncalculated.length > 0 && { uncalculated }),
          ...(failed.length > 0 && { failed }),
          ...(ambiguous.length > 0 && { ambiguous }),
        });
    },
  })) {
    if (rows.length === 0) continue;
    yield { sheet, index, rows };
    rows = [];
  }
}

/** Whether a text is a number with one sign that separates either thousands or decimals. */
const isAmbiguousNumber = (text: string): boolean => /^\s*[-+]?[1-9]\d{0,2}[.,]\d{3}\s*$/.test(text);

/** The characters that a text writes by their codes (ECMA-376, 22.9.2.19, ST_Xstring). */
const unescaped = (text: string): string =>
  text.includes('_x')
    ? text.replace(/_x([\dA-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;

/** A cell's value as text, undefined if it names none of the shared texts; errors such as `#N/A` count as empty. */
function cellText(workbook: Workbook, type: string, style: number, value: string): string | undefined {
  if (type === 's') {
    const text = value.trim() === '' ? undefined : workbook.shared[Number(value)];
    return text === undefined ? undefined : unescaped(text);
  }
  if (type === 'b') return value.trim() === '1' ? 'true' : 'false';
  if (type === 'e') return '';
  if (type !== 'n') return unescaped(value);
  const number = readNumber(value);
  if (number === undefined) return value.trim();
  if (workbook.days[style]) return dayOf(number, workbook.from1904) ?? String(number);
  return String(number);
}

/*
 * Dates in spreadsheets are numbers with a date format (ECMA-376, 18.8.30 and 18.17.4.1).
 */

const DAY_MS = 86_400_000;
/** The built-in formats of dates and times. */
const builtIn = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58);

/** Whether a number format displays a date or a time; `code` is the format code of a custom format. */
export function isDayFormat(id: number, code: string | undefined): boolean {
  if (code === undefined) return builtIn(id);
  // Quoted and escaped characters, colours and conditions are ignored.
  const bare = code.replace(/"[^"]*"|\\.|\[[^\]]*\]|[_*]./g, '');
  return /[dmyhs]/i.test(bare) && !/general/i.test(bare);
}

/**
 * The date of a serial number as `YYYY-MM-DD`, followed by the time if there is one; undefined for a time alone, for the
 * 29th of February 1900, which never was, and after the year 9999.
 * @param from1904 whether the workbook uses the 1904 date system.
 */
export function dayOf(serial: number, from1904: boolean): string | undefined {
  // The format treats 1900 as a leap year, so only dates from March 1900 on are right.
  const epoch = from1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, serial < 60 ? 31 : 30);
  const moment = new Date(epoch + Math.round(serial * 86_400) * 1000);
  if (!(serial >= 0) || Number.isNaN(moment.getTime()) || moment.getUTCFullYear() > 9999) return undefined;
  if (!from1904 && (serial < 1 || Math.floor(serial) === 60)) return undefined;
  const text = moment.toISOString();
  return moment.getTime() % DAY_MS === 0 ? text.slice(0, 10) : `${text.slice(0, 19)}Z`;
}
