import path from 'node:path';
import type { BlobStore } from '../../../platform/blobs.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { openContent } from '../../kernel/files/files.store.ts';
import { restore } from '../../kernel/transfer/csv-cells.ts';
import { csvRecords } from '../imports/imports.csv-records.ts';
import { findTextError, utf8Chunks } from '../imports/imports.utf8.ts';
import type { MigrationRow } from './migration.model.ts';
import { createSheet, type Sheet } from './source.blocks.ts';
import {
  MAX_CELL,
  MAX_COLUMNS,
  MAX_ROWS,
  type SheetRows,
  type SourceFacts,
  type SourceRow,
} from './source.types.ts';
import { readXlsx } from './xlsx.read.ts';

type SourceFile = Pick<MigrationRow, 'file_id' | 'file_name' | 'file_size' | 'source_type'>;

/**
 * Reads the rows of a file, some at a time, and collects in `facts` which native types and columns there are.
 * @throws EstateError `validation_failed` if the file cannot be read.
 */
export async function* readSource(
  blobs: BlobStore,
  file: SourceFile,
  facts: SourceFacts,
): AsyncGenerator<SourceRow[]> {
  let line = 0;
  let sheet: Sheet | undefined;
  try {
    for await (const part of rowsOf(blobs, file)) {
      if (sheet?.name !== part.sheet) sheet = createSheet(part.sheet, file.source_type);
      const rows = sheet.take(part.rows, facts).map((row) => {
        line += 1;
        return { ...row, line };
      });
      if (line > MAX_ROWS) throw new Error(`it has more than ${MAX_ROWS} rows`);
      if (rows.length > 0) yield rows;
    }
  } catch (error) {
    throw readError(error);
  }
}

/** Converts errors of the file itself; errors of the blob store stay as they are. */
function readError(error: unknown): unknown {
  const { code, name, message } = error as { code?: unknown; name?: string; message: string };
  const ofText = code === 'ERR_ENCODING_INVALID_ENCODED_DATA';
  // libraries throw plain errors, the system errors with a code
  const ofFile = name === 'Error' && (code === undefined || String(code).startsWith('Z_'));
  if (!ofFile && !ofText) return error;
  const why = ofText ? 'it is not UTF-8' : message.replace(/\s+/g, ' ').slice(0, 200);
  return new EstateError('validation_failed', `The file cannot be read: ${why}.`);
}

async function* rowsOf(blobs: BlobStore, file: SourceFile): AsyncGenerator<SheetRows> {
  const { ext, name } = path.parse(file.file_name);
  if (ext.toLowerCase() === '.xlsx') {
    yield* readXlsx(blobs, { id: file.file_id, size: file.file_size });
    return;
  }
  const content = await openContent(blobs, file.file_id);
  const separator = ext.toLowerCase() === '.tsv' ? '\t' : undefined;
  for await (const records of csvRecords(utf8Chunks(content), separator)) {
    const rows = records.map(({ line, cells, fault }) => {
      if (fault) throw new Error(`line ${line}: ${fault.message}`);
      if (cells.length > MAX_COLUMNS) throw new Error(`line ${line} has more than ${MAX_COLUMNS} cells`);
      if (cells.some((cell) => cell.length > MAX_CELL))
        throw new Error(`line ${line} has a cell that is too long`);
      const bad = cells.find((cell) => cell.includes('\0'));
      if (bad !== undefined) throw badCell(line, bad);
      return { row: line, cells: cells.map(restore) };
    });
    yield { sheet: name.slice(0, 100) || 'table', rows };
  }
}

/** The error of a cell with a NUL, or with bytes that are not UTF-8. */
function badCell(line: number, cell: string): EstateError {
  const { code, message } = findTextError('file', cell)!;
  return invalidField(
    'file',
    code,
    `The file cannot be read: line ${line} ${message}. Save the file as UTF-8 and upload it again.`,
  );
}
