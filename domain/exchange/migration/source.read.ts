import path from 'node:path';
import type { BlobStore } from '../../../platform/blobs.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { openContent } from '../../kernel/files/files.store.ts';
import { restore } from '../../kernel/transfer/csv-cells.ts';
import { csvRecords } from '../imports/imports.csv-records.ts';
import { badText, utf8Chunks } from '../imports/imports.utf8.ts';
import { createSheet, type Sheet } from './source.blocks.ts';
import {
  MAX_CELL,
  MAX_COLUMNS,
  MAX_ROWS,
  type SheetRows,
  type SourceFacts,
  type SourceRow,
  type SourceType,
} from './source.types.ts';
import { readXlsx } from './xlsx.read.ts';

/** The file of a migration. */
export interface SourceFile {
  id: string;
  /** As it was uploaded. */
  name: string;
  size: number;
  source: SourceType;
}

/**
 * Reads a file as rows of things, some at a time, and gathers in `facts` which kinds and columns there are.
 * @throws EstateError `validation_failed` naming `file` where it cannot be read as what it says it is.
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
      if (sheet?.name !== part.sheet) sheet = createSheet(part.sheet, file.source);
      const rows = sheet.take(part.rows, facts).map((row) => {
        line += 1;
        return { ...row, line };
      });
      if (line > MAX_ROWS) throw new Error(`it has more than ${MAX_ROWS} rows`);
      if (rows.length > 0) yield rows;
    }
  } catch (error) {
    throw refused(error);
  }
}

/** Faults of the file itself end the migration; what the store says goes on as it is. */
function refused(error: unknown): unknown {
  const { code, name, message } = error as { code?: unknown; name?: string; message: string };
  const ofText = code === 'ERR_ENCODING_INVALID_ENCODED_DATA';
  // libraries throw plain errors, systems say a code
  const ofFile = name === 'Error' && (code === undefined || String(code).startsWith('Z_'));
  if (!ofFile && !ofText) return error;
  const why = ofText ? 'it is not UTF-8' : message.replace(/\s+/g, ' ').slice(0, 200);
  return new EstateError('validation_failed', `The file cannot be read: ${why}.`);
}

async function* rowsOf(blobs: BlobStore, file: SourceFile): AsyncGenerator<SheetRows> {
  const { ext, name } = path.parse(file.name);
  if (ext.toLowerCase() === '.xlsx') {
    yield* readXlsx(blobs, file);
    return;
  }
  const content = await openContent(blobs, file.id);
  const separator = ext.toLowerCase() === '.tsv' ? '\t' : undefined;
  for await (const records of csvRecords(utf8Chunks(content), separator)) {
    const rows = records.map(({ line, cells, fault }) => {
      if (fault) throw new Error(`line ${line}: ${fault.message}`);
      if (cells.length > MAX_COLUMNS) throw new Error(`line ${line} has more than ${MAX_COLUMNS} cells`);
      if (cells.some((cell) => cell.length > MAX_CELL))
        throw new Error(`line ${line} has a cell that is too long`);
      const strange = cells.find((cell) => cell.includes('\0'));
      if (strange !== undefined) throw strangeText(line, strange);
      return { row: line, cells: cells.map(restore) };
    });
    yield { sheet: name.slice(0, 100) || 'table', rows };
  }
}

/** A cell with what no text may hold; bytes that are not UTF-8 are marked so. */
function strangeText(line: number, cell: string): EstateError {
  const { code, message } = badText('file', cell)!;
  return invalidField(
    'file',
    code,
    `The file cannot be read: line ${line} ${message}. Save the file as UTF-8 and upload it again.`,
  );
}
