import type { BlobStore } from '../../../platform/blobs.ts';
import { EstateError, type FieldError, invalidField, invalidFields } from '../../../platform/errors.ts';
import { unknownChoice } from '../../kernel/choices.ts';
import type { FileColumn } from '../../kernel/transfer/columns.ts';
import { readError } from '../../kernel/transfer/read-error.ts';
import type { StoredWorkbook } from '../../kernel/transfer/xlsx.parts.ts';
import { readSheetNames, readXlsx, type SheetRows } from '../../kernel/transfer/xlsx.read.ts';
import { type Labels, shownColumns } from './imports.labels.ts';
import { firstLine } from './imports.lines.ts';
import { headerColumns, rowReader } from './imports.read-csv.ts';
import { type ImportKind, type ImportRow, inBatches, type ReadOptions, ROW } from './imports.row.ts';

export interface ReadXlsxOptions<K extends ImportKind = ImportKind> extends ReadOptions<K> {
  /** The sheet that is read; absent: those that may have rows of the kind. */
  sheet?: string;
  /** What an empty cell does: leave the value unchanged, or clear it. */
  empty: 'leave' | 'clear';
}

/** The hidden sheet with what the drop-down lists of an exported workbook offer. */
export const LISTS_SHEET = 'Estate lists';

/** Sheets by the names that exports give them; `null`: none of their rows is imported. */
const kindsByName = new Map<string, ImportKind | null>([
  ['cards', 'cards'],
  ['relations', 'relations'],
  ['costs', 'costs'],
  ['data flows', 'data_flows'],
  ['beziehungen', 'relations'],
  ['hierarchy', null],
  ['notes', null],
  [LISTS_SHEET.toLowerCase(), null],
]);

/** What the rows of a sheet are by its name; rows beyond a sheet's limit continue on one with a number behind the name. */
const kindOf = (name: string): ImportKind | null | undefined =>
  kindsByName.get(name.toLowerCase().replace(/ \d+$/, ''));

/** Whether a sheet of this name is read as what the name says, so that no card type can have it. */
export const isReservedSheet = (name: string): boolean => kindOf(name) !== undefined;

/** Whether exports give this name to a sheet of which nothing is imported. */
export const isOnlyShown = (name: string): boolean => kindOf(name) === null;

/** The card type that a sheet is named after. */
export const typeOfSheet = (name: string, labels: Labels | undefined): string | undefined =>
  kindOf(name) === undefined ? (labels?.type(name) ?? labels?.type(name.replace(/ \d+$/, ''))) : undefined;

/**
 * The sheets of a workbook that an import of the kind reads: the one that is chosen; else those that exports name after the
 * kind, and those with names of their own, which of other kinds than cards are only read if there is no such sheet.
 * @throws EstateError `validation_failed` if it has no such sheet.
 */
export function chooseSheets(
  names: readonly string[],
  kind: ImportKind,
  chosen: string | undefined,
): string[] {
  if (chosen !== undefined) {
    if (names.includes(chosen)) return [chosen];
    const error = { field: 'sheet', code: 'unknown_sheet', message: 'is no sheet of the workbook' };
    throw invalidFields([unknownChoice(error, chosen, names)]);
  }
  const own = names.filter((name) => kindOf(name) === kind);
  const others = names.filter((name) => kindOf(name) === undefined);
  const sheets = own.length > 0 && kind !== 'cards' ? own : [...own, ...others];
  if (sheets.length > 0) return sheets;
  throw invalidField('file', 'no_sheet', `has no sheet with ${kind.replace('_', ' ')}`);
}

/** @throws EstateError `validation_failed` if the file is no workbook, or has no sheet with rows of the kind. */
export async function checkSheets(
  blobs: BlobStore,
  file: StoredWorkbook,
  kind: ImportKind,
  chosen: string | undefined,
): Promise<void> {
  const names = await readSheetNames(blobs, file).catch((error) => {
    throw readError(error);
  });
  chooseSheets(names, kind, chosen);
}

/** Excel reads no longer texts: a cell of this length may have been cut. */
const LONGEST_CELL = 32_767;

/**
 * Parses a stored workbook into batches of rows, by the first row of each sheet, which names the columns. The line of a row
 * also tells its sheet, see `imports.lines.ts`. Formulas count as what they came to when the file was saved.
 * @throws EstateError `validation_failed` if the file is no workbook, or the header of a sheet is not valid.
 */
export async function* readWorkbookRows<K extends ImportKind>(
  blobs: BlobStore,
  file: StoredWorkbook,
  options: ReadXlsxOptions<K>,
): AsyncGenerator<ImportRow<K>[]> {
  try {
    yield* inBatches(sheetRows(blobs, file, options), options.batchRows);
  } catch (error) {
    throw readError(error);
  }
}

async function* sheetRows<K extends ImportKind>(
  blobs: BlobStore,
  file: StoredWorkbook,
  options: ReadXlsxOptions<K>,
): AsyncGenerator<{ row: ImportRow<K>; bytes: number }[]> {
  const choose = (names: readonly string[]) => chooseSheets(names, options.kind, options.sheet);
  let sheet: { name: string; read(rows: SheetRows['rows']): ImportRow<K>[] } | undefined;
  for await (const { sheet: name, index, rows } of readXlsx(blobs, file, choose)) {
    if (sheet?.name !== name) {
      const header = rows.shift()!.cells;
      sheet = { name, read: rowsReader(name, header, firstLine(index), options) };
    }
    yield sheet.read(rows).map((row, n) => ({ row, bytes: rows[n]!.cells.join('').length }));
  }
  if (!sheet)
    throw invalidField('file', 'empty_file', 'The sheet is empty; its first row has to name the columns.');
}

/** A function that parses the rows below the header of a sheet. @throws EstateError naming the sheet and each invalid column. */
function rowsReader<K extends ImportKind>(
  sheet: string,
  header: string[],
  first: number,
  options: ReadXlsxOptions<K>,
): (rows: SheetRows['rows']) => ImportRow<K>[] {
  const { columns, places, complete } = sheetColumns(sheet, header, options);
  const read = rowReader(columns, { ...options, verbatim: true });
  const errorOf = ({
    cells,
    uncalculated = [],
    failed = [],
  }: SheetRows['rows'][number]): FieldError | undefined => {
    const cut = columns.find((_, n) => (cells[places[n]!]?.length ?? 0) >= LONGEST_CELL - 1);
    if (cut) {
      const message = `has ${LONGEST_CELL - 1} characters or more, at which spreadsheets cut texts: import it as CSV`;
      return { field: cut.name, code: 'too_long', message };
    }
    const open = columns.find((_, n) => uncalculated.includes(places[n]!));
    if (open) {
      const message = 'is a formula without a result: open and save the workbook in a spreadsheet program';
      return { field: open.name, code: 'not_calculated', message };
    }
    // where empty cells clear, what could not be computed would
    const wrong = options.empty === 'clear' && columns.find((_, n) => failed.includes(places[n]!));
    if (wrong) {
      const message = 'is an error such as #N/A: correct the formula or empty the cell';
      return { field: wrong.name, code: 'not_calculated', message };
    }
    const beyond = cells.findIndex((cell, n) => n >= header.length && cell !== '');
    if (beyond < 0) return undefined;
    const message = `has a value in column ${beyond + 1}, which the header does not name`;
    return { field: ROW, code: 'wrong_cell_count', message };
  };
  return (rows) =>
    rows.map((row) => {
      const cells = columns.map((_, n) => row.cells[places[n]!] ?? '');
      complete(cells);
      const parsed = read({ line: first + row.row, bytes: 0, cells });
      const error = errorOf(row);
      if (error) parsed.errors.push(error);
      for (const at of row.ambiguous ?? []) refuseAmbiguous(parsed, columns[places.indexOf(at)], options);
      return parsed;
    });
}

/** Refuses a text such as `1.234` for a number: nobody knows in which language it was written. */
function refuseAmbiguous(
  { values, errors }: ImportRow,
  column: FileColumn | undefined,
  { fieldType }: ReadXlsxOptions,
): void {
  if (column?.name !== 'amount') {
    if (column?.part !== 'attributes') return;
    const type = fieldType((values as { type?: string }).type, column.key);
    if (type !== 'number' && type !== 'cost') return;
  }
  const { name } = column;
  if (errors.some(({ field }) => field === name)) return;
  const message = 'is a text that means thousands or decimals: make its cell a number';
  errors.push({ field: name, code: 'ambiguous_number', message });
}

/** The columns of a sheet that are imported. */
interface SheetColumns {
  columns: FileColumn[];
  /** The place of each in the sheet. */
  places: number[];
  /** Adds to the cells of a row what follows from its sheet, and removes what they only show. */
  complete(cells: string[]): void;
}

/**
 * The columns of a sheet without those that exports only show. New cards in a sheet that is named after a type are of the type
 * unless they name one. External ids beside the ids of an existing relation's ends are only shown: they may have been changed in
 * the same workbook.
 */
function sheetColumns(sheet: string, header: string[], options: ReadXlsxOptions): SheetColumns {
  const { kind, labels } = options;
  const shown: ReadonlySet<string> = kind === 'relations' ? shownColumns.relations : new Set();
  const places = [...header.keys()].filter((n) => !shown.has(labels?.column(header[n]!) ?? ''));
  const names = places.map((n) => header[n]!);
  const type = kind === 'cards' ? typeOfSheet(sheet, labels) : undefined;
  if (type !== undefined && !names.some((name) => labels?.column(name) === 'type')) {
    names.push('type');
    places.push(-1);
  }
  const columns = inSheet(sheet, () => headerColumns({ cells: names }, options));
  const at = (name: string) => columns.findIndex((column) => column.name === name);
  const [id, number, typeAt] = [at('id'), at('number'), at('type')];
  const ends = (['source', 'target'] as const).map((end) => [at(`${end}_id`), at(`${end}_external_id`)]);
  return {
    columns,
    places,
    complete(cells) {
      const isKnown = Boolean(cells[id] || cells[number]);
      if (type !== undefined && !isKnown && cells[typeAt] === '') cells[typeAt] = type;
      if (kind !== 'relations' || !isKnown) return;
      for (const [endId, externalId] of ends) if (externalId! >= 0 && cells[endId!]) cells[externalId!] = '';
    },
  };
}

/** How many wrong columns a message names: the errors of a job have no list. */
const MOST_NAMED = 20;

/** Names the sheet and its wrong columns in one message. */
function inSheet<T>(sheet: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof EstateError) || !error.errors) throw error;
    const { errors } = error;
    const named = errors.slice(0, MOST_NAMED).map(({ field, message, nearest }) => {
      const meant = nearest === undefined ? '' : `, perhaps ${nearest}`;
      return `${field}: ${message}${meant}`;
    });
    throw new EstateError('validation_failed', `The sheet ${sheet}: ${named.join('; ')}`, { errors });
  }
}
