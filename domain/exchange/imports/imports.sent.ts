import type { BlobStore } from '../../../platform/blobs.ts';
import { openContent } from '../../kernel/files/files.store.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { isObject } from '../../kernel/shapes.ts';
import { columnNames } from '../../kernel/transfer/columns.ts';
import { quoteCell } from '../../kernel/transfer/csv-cells.ts';
import type { StoredWorkbook } from '../../kernel/transfer/xlsx.parts.ts';
import { readXlsx } from '../../kernel/transfer/xlsx.read.ts';
import { csvRecords } from './imports.csv-records.ts';
import type { ImportPayload } from './imports.job.ts';
import { linesOf } from './imports.read-ndjson.ts';
import { chooseSheets } from './imports.read-xlsx.ts';
import { readOptions, separatorOf } from './imports.source.ts';
import { utf8Chunks } from './imports.utf8.ts';

/** A row of a file as it was sent. */
export interface SentRow {
  /** Of a workbook the row of its sheet. */
  line: number;
  sheet?: string;
  /** The header and the names of its columns, one object for all rows below it. */
  header?: string[];
  names?: string[];
  /** Absent if they cannot be assigned to the columns. */
  cells?: string[];
  /** A line of NDJSON; absent if it is no object. */
  row?: Record<string, unknown>;
  /** A row that has neither, or its beginning. */
  text?: string;
  /** Whether texts are escaped as in CSV. */
  isCsv?: boolean;
}

/** Stands for the results that formulas do not have, so that a row that is sent again clears nothing. */
const NOT_AVAILABLE = '#N/A';

type SentOptions = Pick<ImportPayload, 'kind' | 'format' | 'separator' | 'sheet' | 'profile'>;

/** The rows of an uploaded file as they were sent, in its order. Its header was valid before. */
export async function* sentRows(
  blobs: BlobStore,
  file: StoredWorkbook,
  metamodel: Metamodel,
  options: SentOptions,
): AsyncGenerator<SentRow> {
  const { kind, format, sheet: chosen, profile } = options;
  const reading = readOptions(metamodel, kind, format);
  // of a workbook, sheets can have columns of which nothing is imported, or lack those that follow from their names
  const namesOf = (header: string[]) =>
    profile === 'focus' || (kind !== 'cards' && kind !== 'relations')
      ? header.map((name) => name.trim())
      : columnNames(header, kind, reading.attributeKeys, reading.labels?.column);
  if (format === 'xlsx') {
    let head: { sheet: string; header: string[]; names: string[] } | undefined;
    for await (const { sheet, rows } of readXlsx(blobs, file, (all) => chooseSheets(all, kind, chosen))) {
      if (head?.sheet !== sheet) {
        const header = rows.shift()!.cells;
        head = { sheet, header, names: namesOf(header) };
      }
      for (const { row, cells, uncalculated = [], failed = [] } of rows) {
        for (const column of [...uncalculated, ...failed]) cells[column] = NOT_AVAILABLE;
        const all = Array.from(cells, (cell) => cell ?? '');
        const fits = all.every((cell, n) => n < head!.header.length || cell === '');
        yield { line: row, ...head, ...(fits ? { cells: all } : { text: lineOf(all) }) };
      }
    }
    return;
  }
  const stream = await openContent(blobs, file.id);
  try {
    if (format === 'ndjson') {
      for await (const lines of linesOf(utf8Chunks(stream)))
        for (const { line, text = '' } of lines) {
          const row = objectOf(text);
          yield row ? { line, row } : { line, text };
        }
      return;
    }
    let head: { header: string[]; names: string[] } | undefined;
    for await (const records of csvRecords(utf8Chunks(stream), separatorOf(options.separator))) {
      if (!head) {
        const header = records.shift()!.cells;
        head = { header, names: namesOf(header) };
      }
      for (const { line, cells, text } of records) {
        const fits = text === undefined && cells.length === head.header.length;
        yield { line, ...head, ...(fits ? { cells } : { text: text ?? lineOf(cells) }), isCsv: true };
      }
    }
  } finally {
    stream.destroy();
  }
}

const lineOf = (cells: readonly string[]) => cells.map(quoteCell).join(',');

function objectOf(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
