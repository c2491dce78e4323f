import type { BlobStore } from '../../../platform/blobs.ts';
import { invalidField } from '../../../platform/errors.ts';
import { readError } from '../../kernel/transfer/read-error.ts';
import type { StoredWorkbook } from '../../kernel/transfer/xlsx.parts.ts';
import { readXlsx, type SheetRows } from '../../kernel/transfer/xlsx.read.ts';
import { chooseSheets } from './imports.read-xlsx.ts';
import type { ImportKind } from './imports.row.ts';

/** Maximum rows and characters of a sheet that is answered as a whole. */
const MOST = { rows: 100_000, characters: 20_000_000 };

/** One sheet of a workbook, and the names of all that an import of the kind may read. */
export interface ImportSheet {
  sheets: string[];
  sheet: string;
  rows: SheetRows['rows'];
}

/**
 * Reads the cells of a sheet as an import does.
 * @param chosen its name; absent: the first that an import of the kind reads.
 * @throws EstateError `validation_failed` if the file is no workbook, or the sheet is missing or too large.
 */
export async function readImportSheet(
  blobs: BlobStore,
  file: StoredWorkbook,
  kind: ImportKind,
  chosen: string | undefined,
): Promise<ImportSheet> {
  const read: ImportSheet = { sheets: [], sheet: '', rows: [] };
  let characters = 0;
  const choose = (names: readonly string[]) => {
    read.sheet = chooseSheets(names, kind, chosen)[0]!;
    read.sheets = [...names];
    return [read.sheet];
  };
  try {
    for await (const { rows } of readXlsx(blobs, file, choose)) {
      for (const row of rows) characters += row.cells.reduce((sum, cell) => sum + cell.length, 0);
      read.rows.push(...rows);
      if (characters > MOST.characters || read.rows.length > MOST.rows) {
        const message = `the sheet ${read.sheet} has more than ${MOST.rows} rows or ${MOST.characters} characters`;
        throw invalidField('sheet', 'too_large', message);
      }
    }
  } catch (error) {
    throw readError(error);
  }
  return read;
}
