import { invalidField, invalidFields } from '../../../platform/errors.ts';
import { unknownChoice } from '../../kernel/choices.ts';
import type { FieldType } from '../../kernel/metamodel/metamodel.types.ts';
import {
  type FileColumn,
  readCardHeader,
  readCostHeader,
  readFlowHeader,
  readRelationHeader,
} from '../../kernel/transfer/columns.ts';
import { readDay, readNumber, restore, splitValues } from '../../kernel/transfer/csv-cells.ts';
import { type CsvRecord, csvRecords, type Separator } from './imports.csv-records.ts';
import {
  type Draft,
  failedRow,
  fieldReaders,
  finishRow,
  isNamedTwice,
  newDraft,
  parentFields,
  presentKeyOf,
  repeatedField,
  setMember,
  typeOf,
} from './imports.fields.ts';
import { readTruth } from './imports.labels.ts';
import { badDate, type ImportKind, type ImportRow, inBatches, type ReadOptions, ROW } from './imports.row.ts';
import { findTextError, utf8Chunks } from './imports.utf8.ts';

export interface ReadCsvOptions<K extends ImportKind = ImportKind> extends ReadOptions<K> {
  /** Detected from the header if not given. */
  separator?: Separator;
  /** What an empty cell does: leave the value unchanged, or clear it. */
  empty: 'leave' | 'clear';
  /** Whether texts have no apostrophe that escapes formulas. */
  verbatim?: boolean;
}

/**
 * Parses a CSV file into batches of rows; rows with errors contain them and do not stop the others. Texts are read
 * verbatim except for the apostrophe that escapes formulas; keys, ids, numbers, booleans and dates are trimmed.
 * @throws EstateError `validation_failed` before any row: no header, or one with unknown, repeated or missing columns.
 */
export async function* readCsv<K extends ImportKind>(
  stream: AsyncIterable<Uint8Array>,
  options: ReadCsvOptions<K>,
): AsyncGenerator<ImportRow<K>[]> {
  yield* inBatches(csvRows(stream, options), options.batchRows);
}

/** The columns of a header. @throws EstateError `validation_failed` naming each one that is unknown, repeated or missing. */
export function headerColumns(
  { cells, error }: Pick<CsvRecord, 'cells' | 'error'>,
  {
    kind,
    attributeKeys,
    labels,
    presentKey,
  }: Pick<ReadCsvOptions, 'kind' | 'attributeKeys' | 'labels' | 'presentKey'>,
): FileColumn[] {
  if (error) throw invalidField('file', error.code, `The header ${error.message}.`);
  if (cells.some((cell) => findTextError('', cell))) {
    throw invalidField('file', 'bad_encoding', 'The header is not UTF-8 text.');
  }
  if (kind === 'costs') return readCostHeader(cells);
  if (kind === 'data_flows') return readFlowHeader(cells);
  const read = kind === 'cards' ? readCardHeader : readRelationHeader;
  const columns = read(cells, attributeKeys, labels?.column);
  refuseSameFields(columns, (key) => presentKey?.(undefined, key) ?? key);
  return columns;
}

/** @throws EstateError `validation_failed` naming each column that has a field by its former key which another column has. */
function refuseSameFields(columns: readonly FileColumn[], presentOf: (key: string) => string): void {
  const attributes = columns.filter(({ part }) => part === 'attributes');
  const errors = attributes.flatMap(({ name, key }) => {
    const present = presentOf(key);
    const other = attributes.find((one) => one.key !== key && presentOf(one.key) === present);
    if (present === key || !other) return [];
    return [{ field: name, code: 'repeated_column', message: `is the field of the column ${other.name}` }];
  });
  if (errors.length > 0) throw invalidFields(errors);
}

async function* csvRows<K extends ImportKind>(
  stream: AsyncIterable<Uint8Array>,
  options: ReadCsvOptions<K>,
): AsyncGenerator<{ row: ImportRow<K>; bytes: number }[]> {
  let read: ((record: CsvRecord) => ImportRow<K>) | undefined;
  for await (const records of csvRecords(utf8Chunks(stream), options.separator)) {
    if (!read) read = rowReader(headerColumns(records.shift()!, options), options);
    yield records.map((record) => ({ row: read!(record), bytes: record.bytes }));
  }
  if (!read)
    throw invalidField('file', 'empty_file', 'The file is empty; its first line has to name the columns.');
}

/** A function that parses the records below a header. */
export function rowReader<K extends ImportKind>(
  columns: FileColumn[],
  options: ReadCsvOptions<K>,
): (record: CsvRecord) => ImportRow<K> {
  const { kind } = options;
  const keys = columns.flatMap(({ part, key }) => (part === 'attributes' ? [key] : []));
  const cells = columns
    .map((column, index) => ({ index, column }))
    .filter((cell): cell is { index: number; column: ReadColumn } => cell.column.part !== 'ignored')
    .map(({ index, column }) => ({ index, read: cellReader(column, options, keys), column }));
  // The type determines how the others are parsed, so it is read first.
  const rank = ({ part, key }: FileColumn) => (part !== 'field' ? 2 : key === 'type' ? 0 : 1);
  const ordered = cells.toSorted((a, b) => rank(a.column) - rank(b.column));
  const namesParent = columns.some(({ name }) => (parentFields as string[]).includes(name));
  const noParent = kind === 'cards' && options.empty === 'clear' && namesParent;
  return (record) => {
    if (record.error) return failedRow(record.line, kind, record.error);
    if (record.cells.length !== columns.length) {
      const message = `has ${record.cells.length} cells and the header ${columns.length}`;
      return failedRow(record.line, kind, { field: ROW, code: 'wrong_cell_count', message });
    }
    const row = newDraft(record.line);
    for (const { index, read } of ordered) {
      const cell = record.cells[index]!;
      // Most cells of a file of several types are empty.
      if (cell !== '' || options.empty === 'clear') read(row, cell);
    }
    return finishRow(row, kind, noParent);
  };
}

type ReadColumn = FileColumn & { part: Exclude<FileColumn['part'], 'ignored'> };

/** @param keys of the attributes that the file has columns for. */
function cellReader(
  column: ReadColumn,
  options: ReadCsvOptions,
  keys: readonly string[],
): (row: Draft, cell: string) => void {
  const read = valueReader(column, options);
  const clear = clearer(column, options);
  return (row, cell) => {
    const isRepeated = column.part === 'attributes' && isNamedTwice(row, column.key, keys, options);
    if (isRepeated && cell === '') return;
    const error = isRepeated
      ? repeatedField(column.name)
      : cell.includes('\0')
        ? findTextError(column.name, cell)
        : undefined;
    if (error) row.errors.push(error);
    else if (cell === '') clear(row);
    else read(row, options.verbatim ? cell : restore(cell));
  };
}

function clearer({ part, key }: ReadColumn, options: ReadCsvOptions): (row: Draft) => void {
  if (part === 'field') {
    const { clears } = fieldReaders[options.kind][key]!;
    return (row) => {
      if (clears) row.values[key] = null;
    };
  }
  if (part === 'lifecycle') return (row) => setMember(row, part, key, null);
  // In a file of several types, columns that the row's type does not have are expected to be empty.
  return (row) => {
    if (options.fieldType(typeOf(row), key)) setMember(row, part, presentKeyOf(row, key, options), null);
  };
}

/** Columns of costs and data flows that name the type of a card. */
const cardTypes = new Set(['card_type', 'source_type', 'target_type']);

function valueReader(
  { name, part, key }: ReadColumn,
  options: ReadCsvOptions,
): (row: Draft, text: string) => void {
  if (part === 'field') {
    const reader = fieldReaders[options.kind][key]!;
    const { labels } = options;
    return (row, text) => {
      if (key === 'status') {
        const state = states.get(text.trim().toLowerCase());
        const own = state ? undefined : labels?.attribute(typeOf(row), key);
        if (own) return readOwn(row, `attributes.${own}`, own, text);
        row.values.status = state ?? reader.read(text as never, key, row.errors);
        return;
      }
      const value = reader.list
        ? reader.read(reader.list(text), key, row.errors)
        : reader.read(text, key, row.errors);
      if (value === undefined) return;
      row.values[key] = value;
      if (key === 'type' || cardTypes.has(key)) row.values[key] = labels?.type(text) ?? value;
      if (key === 'subtype') row.values.subtype = labels?.subtype(typeOf(row), text) ?? value;
    };
  }
  if (part === 'lifecycle') {
    return (row, text) => {
      const day = readDay(dayOf(text, options));
      if (day) setMember(row, part, key, day);
      else row.errors.push({ field: name, ...badDate });
    };
  }
  return (row, text) => readOwn(row, name, key, text);

  function readOwn(row: Draft, name: string, key: string, text: string): void {
    const type = options.fieldType(typeOf(row), key);
    const option = (given: string) => options.labels?.option(typeOf(row), key, given) ?? given;
    const value = type ? readAttribute(type, type === 'date' ? dayOf(text, options) : text, option) : text;
    if (value !== undefined) setMember(row, 'attributes', presentKeyOf(row, key, options), value);
    else {
      const error = { field: name, ...unreadable[type as keyof typeof unreadable] };
      row.errors.push(type === 'boolean' ? unknownChoice(error, text.trim(), ['true', 'false']) : error);
    }
  }
}

/** The states of cards by what people write; in other words a column `Status` has the field of the type with this label. */
const states = new Map([
  ['active', 'ACTIVE'],
  ['aktiv', 'ACTIVE'],
  ['archived', 'ARCHIVED'],
  ['archiviert', 'ARCHIVED'],
]);

/** The day of a cell with a date and a time, as workbooks have them. */
const dayOf = (text: string, { verbatim }: ReadCsvOptions): string =>
  verbatim && /^\d{4}-\d\d-\d\dT[\d:]{8}Z$/.test(text) ? text.slice(0, 10) : text;

const badNumber = {
  code: 'bad_number',
  message: 'is not a number, with . before its decimals and no other signs',
};
const unreadable = {
  number: badNumber,
  cost: badNumber,
  boolean: { code: 'bad_boolean', message: 'is neither true nor false' },
  date: badDate,
};

/** @param option returns the key of an option by what names it. */
function readAttribute(type: FieldType, text: string, option: (given: string) => string): unknown {
  switch (type) {
    case 'number':
    case 'cost':
      return readNumber(text);
    case 'boolean':
      return readTruth(text);
    case 'date':
      return readDay(text);
    case 'multiple_select':
      return splitValues(text).map(option);
    case 'single_select':
      return option(text.trim());
    case 'url':
      return text.trim();
    case 'text':
    case 'multiline_text':
      return text;
  }
}
