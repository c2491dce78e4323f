import { PassThrough, Readable } from 'node:stream';
import type { FailedHead, FailedLine, StoredRows } from '../../../domain/exchange/imports/imports.failed.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { REASONS_COLUMN } from '../../../domain/kernel/transfer/columns.ts';
import { csvText, joinPath, joinValues } from '../../../domain/kernel/transfer/csv-cells.ts';
import { XLSX } from '../../../domain/kernel/transfer/xlsx.read.ts';
import { invalidField } from '../../../platform/errors.ts';
import type { Column } from '../../kernel/formats/formats.types.ts';
import { writeXlsx } from '../../kernel/formats/xlsx.ts';

/** The failed rows of an import as a streamed file, ready to be corrected and sent again. */
export interface FailedRowsFile {
  name: string;
  mediaType: string;
  body: Readable;
}

/** The rows of one sheet, or of a file without sheets. */
interface Part {
  /** Its number among the heads of the stored rows. */
  index: number;
  sheet: string;
  header: string[];
  head?: FailedHead;
  cells(line: FailedLine): string[];
}

const isHead = (line: FailedHead | FailedLine): line is FailedHead => !('reasons' in line);
const BATCH = 500;

/**
 * The failed rows with the header and the cells that were sent, and their reasons in a last column, which imports ignore. Of rows of
 * NDJSON the columns are all members that occur.
 * @throws EstateError `validation_failed` if rows of several sheets are to be one CSV file.
 */
export async function downloadFailedRows(
  ctx: Ctx,
  rows: StoredRows,
  format: 'csv' | 'xlsx',
): Promise<FailedRowsFile> {
  const parts = await readParts(rows);
  const name = `${rows.report.name.replace(/\.ndjson$/, '')}-failed.${format}`;
  if (format === 'csv') {
    if (parts.length > 1) {
      throw invalidField('format', 'not_offered', 'several sheets have failed rows: choose xlsx');
    }
    return { name, mediaType: 'text/csv; charset=utf-8', body: Readable.from(csv(rows, parts[0]!)) };
  }
  const out = new PassThrough();
  const tables = parts.map((part) => ({
    name: part.sheet,
    columns: [...part.header, REASONS_COLUMN].map((header): Column => ({ header, type: 'text' })),
    batches: batches(rows, part),
  }));
  // a failure destroys the stream, so that the client sees a broken download
  writeXlsx(tables, out, {}).catch((error) => ctx.log.warn({ err: error }, 'failed rows could not be sent'));
  return { name, mediaType: XLSX, body: out };
}

/** The sheets with failed rows and their columns, without those that the caller may not see. */
async function readParts({ lines, kind, shows }: StoredRows): Promise<Part[]> {
  const parts: Part[] = [];
  const members = new Set<string>();
  let ofObjects: FailedHead | undefined;
  for await (const line of lines()) {
    if (isHead(line)) {
      if (line.header) parts.push(partOf(line, parts.length, kind, shows));
      else ofObjects = line;
    } else if (line.row) for (const [key] of membersOf(line.row)) members.add(key);
  }
  if (!ofObjects && parts.length > 0) return parts;
  const header = [...members].filter((key) => key !== REASONS_COLUMN && shows(key, ofObjects?.costs ?? []));
  const cells = ({ row }: FailedLine) => {
    const values = new Map(row ? membersOf(row) : []);
    return header.map((key) => values.get(key) ?? '');
  };
  return [{ index: 0, sheet: kind, header, head: ofObjects, cells }];
}

function partOf(head: FailedHead, index: number, kind: string, shows: StoredRows['shows']): Part {
  const { sheet, header = [], names = header, costs } = head;
  const columns = header
    .map((text, n) => ({ text, n }))
    .filter(({ n }) => names[n] !== REASONS_COLUMN && shows(names[n]!, costs));
  return {
    ...{ index, head },
    sheet: sheet ?? kind,
    header: columns.map(({ text }) => text),
    cells: ({ cells = [] }) => columns.map(({ n }) => cells[n] ?? ''),
  };
}

/** The members of a row of NDJSON as columns. */
function* membersOf(row: Record<string, unknown>): Generator<[string, string]> {
  for (const [key, value] of Object.entries(row)) {
    if ((key === 'attributes' || key === 'lifecycle') && value !== null && typeof value === 'object') {
      for (const [inner, content] of Object.entries(value)) yield [`${key}.${inner}`, textOf(key, content)];
    } else yield [key, textOf(key, value)];
  }
}

function textOf(key: string, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return key === 'parent_path' ? joinPath(value) : joinValues(value);
  return JSON.stringify(value);
}

/** The rows of a part, with their reasons. */
async function* batches({ lines, reasons }: StoredRows, part: Part): AsyncGenerator<string[][]> {
  let batch: string[][] = [];
  let at = -1;
  for await (const line of lines()) {
    if (isHead(line)) {
      at += 1;
      if (at > part.index) break;
    } else if (at === part.index) {
      batch.push([...part.cells(line), reasons(line, part.head)]);
      if (batch.length < BATCH) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

async function* csv(rows: StoredRows, part: Part): AsyncGenerator<string> {
  const lineOf = (cells: readonly string[]) => `${cells.map((cell) => csvText(cell, true)).join(',')}\r\n`;
  // with a byte order mark, without which Excel reads umlauts wrongly
  yield `\ufeff${lineOf([...part.header, REASONS_COLUMN])}`;
  for await (const batch of batches(rows, part)) yield batch.map(lineOf).join('');
}
