import { call, readImportSheet } from '#client';
import type { Book, FileTable } from './csv.ts';
import type { Kind } from './import.search.ts';

/** Whether a file is a workbook by its name. */
export const isWorkbook = ({ name }: File): boolean => /\.xlsx$/i.test(name);

/**
 * Reads a sheet of a workbook, whose first row names the columns.
 * @param sheet its name; absent: the first that an import of the kind reads.
 * @throws ApiError if the service refuses the file.
 */
export async function readSheet(file: File, kind: Kind, sheet?: string): Promise<FileTable> {
  const read = await call(
    readImportSheet({
      query: { kind, ...(sheet !== undefined && { sheet }) },
      // the generated client knows texts alone
      body: file as unknown as string,
      bodySerializer: null,
    }),
  );
  const [head, ...rows] = read.rows;
  const width = read.rows.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  return {
    // columns without a name are shown as well
    header: Array.from({ length: width }, (_, at) => head!.cells[at]?.trim() ?? ''),
    rows: rows.map(({ cells }) => cells),
    book: {
      file,
      sheets: read.sheets,
      sheet: read.sheet,
      lines: rows.map(({ row }) => row),
      ambiguous: rows.map(({ ambiguous = [] }) => ambiguous),
      uncalculated: rows.reduce((sum, { uncalculated = [] }) => sum + uncalculated.length, 0),
    },
  };
}

/** The hidden sheet of workbooks that are exported to be edited. */
const LISTS = 'Estate lists';

/** The kinds of which an import reads all sheets of a workbook at once. */
export const readsAllSheets = (kind: Kind): boolean => kind === 'cards' || kind === 'relations';

/** Whether a workbook was exported to be edited, so that its columns need no matching. */
export const isForEditing = ({ sheets }: Pick<Book, 'sheets'>): boolean => sheets.includes(LISTS);

/** Reads the first sheet that has rows, since workbooks often begin with a note; the first one if none has. */
export async function readFirstSheet(file: File, kind: Kind): Promise<FileTable> {
  const first = await readSheet(file, kind);
  if (first.rows.length > 0 || isForEditing(first.book!)) return first;
  for (const name of first.book!.sheets) {
    if (name === first.book!.sheet) continue;
    const other = await readSheet(file, kind, name);
    if (other.rows.length > 0) return other;
  }
  return first;
}
