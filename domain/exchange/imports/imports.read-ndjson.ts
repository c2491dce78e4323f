import type { FieldError } from '../../../platform/errors.ts';
import { cleanName } from '../../../platform/storable.ts';
import { unknownChoice } from '../../kernel/choices.ts';
import { lifecyclePhases } from '../../kernel/metamodel/metamodel.types.ts';
import { isObject } from '../../kernel/shapes.ts';
import { REASONS_COLUMN } from '../../kernel/transfer/columns.ts';
import { readDay } from '../../kernel/transfer/csv-cells.ts';
import { MAX_RECORD } from './imports.csv-records.ts';
import {
  type Draft,
  type FieldReader,
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
import { badDate, type ImportKind, type ImportRow, inBatches, type ReadOptions, ROW } from './imports.row.ts';
import { findTextError, utf8Chunks } from './imports.utf8.ts';

/**
 * Parses a file with a JSON object on each line into batches of rows; rows with errors contain them and do not stop the
 * others. `lifecycle` and `attributes` are nested; several values are an array, or one text as in a CSV cell; `null`
 * and empty texts clear. Empty lines are skipped.
 * @throws EstateError `validation_failed` if the file is UTF-16.
 */
export async function* readNdjson<K extends ImportKind>(
  stream: AsyncIterable<Uint8Array>,
  options: ReadOptions<K>,
): AsyncGenerator<ImportRow<K>[]> {
  yield* inBatches(jsonRows(stream, options), options.batchRows);
}

async function* jsonRows<K extends ImportKind>(
  stream: AsyncIterable<Uint8Array>,
  options: ReadOptions<K>,
): AsyncGenerator<{ row: ImportRow<K>; bytes: number }[]> {
  for await (const lines of linesOf(utf8Chunks(stream))) {
    yield lines.map(({ line, text, bytes }) => ({ row: readLine(line, text, options), bytes }));
  }
}

interface Line {
  line: number;
  bytes: number;
  /** Undefined if it is too long. */
  text?: string;
}

/** The non-blank lines of a file; the contents of a line that is too long are discarded. */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let line = 1;
  let held: Buffer[] = [];
  let size = 0;
  const take = (end: Buffer): Line[] => {
    const bytes = size + end.length;
    const text = bytes > MAX_RECORD ? undefined : Buffer.concat([...held, end]).toString('utf8');
    held = [];
    size = 0;
    line += 1;
    return text === undefined || text.trim()
      ? [{ line: line - 1, bytes: Math.min(bytes, MAX_RECORD), text }]
      : [];
  };
  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let from = 0;
    for (let at = chunk.indexOf('\n'); at >= 0; at = chunk.indexOf('\n', from)) {
      lines.push(...take(chunk.subarray(from, at)));
      from = at + 1;
    }
    const rest = chunk.subarray(from);
    size += rest.length;
    if (size > MAX_RECORD) held = [];
    else if (rest.length > 0) held.push(Buffer.from(rest));
    if (lines.length > 0) yield lines;
  }
  const lines = take(Buffer.alloc(0));
  if (lines.length > 0) yield lines;
}

function readLine<K extends ImportKind>(
  line: number,
  text: string | undefined,
  options: ReadOptions<K>,
): ImportRow<K> {
  const refuse = (code: string, message: string) =>
    failedRow(line, options.kind, { field: ROW, code, message });
  if (text === undefined) return refuse('too_long', 'is larger than 1 MiB');
  const error = findTextError(ROW, text);
  if (error) return failedRow(line, options.kind, error);
  let item: unknown;
  try {
    item = JSON.parse(text);
  } catch {
    return refuse('bad_json', 'is not JSON');
  }
  return isObject(item) ? readObject(line, item, options) : refuse('wrong_type', 'is not a JSON object');
}

/** Reads an object like a line of a file. */
export function readObject<K extends ImportKind>(
  line: number,
  item: Record<string, unknown>,
  options: ReadOptions<K>,
): ImportRow<K> {
  const row = newDraft(line);
  const { type, ...others } = item;
  // The type determines how attributes are parsed, so it is read first.
  if (type !== undefined) readMember(row, 'type', type, options);
  for (const [key, value] of Object.entries(others)) readMember(row, key, value, options);
  const noParent = parentFields.some((field) => isBlank(item[field]));
  return finishRow(row, options.kind, options.kind === 'cards' && noParent);
}

/** Whether the value of a member means "not set". */
function isBlank(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

function readMember(row: Draft, key: string, value: unknown, options: ReadOptions): void {
  if (key === 'attributes' || (key === 'lifecycle' && options.kind === 'cards')) {
    if (value === null) row.values[key] = null;
    else if (!isObject(value)) row.errors.push(wrongType(key, 'an object'));
    else if (key === 'lifecycle') readLifecycle(row, value);
    else readAttributes(row, value, options);
    return;
  }
  if (key === REASONS_COLUMN) return;
  const reader = Object.hasOwn(fieldReaders[options.kind], key) ? fieldReaders[options.kind][key] : undefined;
  if (!reader) {
    const message = 'is no member of this kind of row';
    const error = { field: shown(key), code: 'unknown_field', message };
    row.errors.push(unknownChoice(error, shown(key), Object.keys(fieldReaders[options.kind])));
  } else if (isBlank(value)) {
    if (reader.clears) row.values[key] = null;
  } else {
    // amounts are numbers
    const given = typeof value === 'number' && options.kind === 'costs' ? String(value) : value;
    const read = readField(row, key, given, reader);
    if (read !== undefined) row.values[key] = read;
  }
}

function readField(row: Draft, field: string, value: unknown, reader: FieldReader): unknown {
  if (!isTexts(value) || (typeof value !== 'string' && !reader.list)) {
    row.errors.push(wrongType(field, reader.list ? 'a text or a list of texts' : 'a text'));
    return undefined;
  }
  const error = findTextError(field, String(value));
  if (error) {
    row.errors.push(error);
    return undefined;
  }
  if (!reader.list) return reader.read(value as string, field, row.errors);
  const items = typeof value === 'string' ? reader.list(value) : value;
  return reader.read(items.map(cleanName).filter(Boolean), field, row.errors);
}

function isTexts(value: unknown): value is string | string[] {
  return (
    typeof value === 'string' || (Array.isArray(value) && value.every((item) => typeof item === 'string'))
  );
}

/** An unknown name from the file, truncated and cleaned so that it can be reported and stored. */
const shown = (name: string): string => name.slice(0, 100).toWellFormed().replaceAll('\0', '\ufffd');

function wrongType(field: string, expected: string): FieldError {
  return { field, code: 'wrong_type', message: `must be ${expected}` };
}

function readLifecycle(row: Draft, value: Record<string, unknown>): void {
  for (const [phase, day] of Object.entries(value)) {
    const field = `lifecycle.${phase}`;
    if (!(lifecyclePhases as readonly string[]).includes(phase)) {
      const message = `is none of ${lifecyclePhases.join(', ')}`;
      const error = { field: shown(field), code: 'unknown_phase', message };
      row.errors.push(unknownChoice(error, shown(phase), lifecyclePhases));
    } else if (isBlank(day)) setMember(row, 'lifecycle', phase, null);
    else if (typeof day !== 'string') row.errors.push(wrongType(field, 'a date as YYYY-MM-DD'));
    else if (readDay(day)) setMember(row, 'lifecycle', phase, readDay(day));
    else row.errors.push({ field, ...badDate });
  }
}

function readAttributes(row: Draft, value: Record<string, unknown>, options: ReadOptions): void {
  for (const [key, content] of Object.entries(value)) {
    const field = `attributes.${key}`;
    const error = !options.attributeKeys.has(key)
      ? unknownAttribute(shown(key), options)
      : isNamedTwice(row, key, Object.keys(value), options)
        ? repeatedField(field)
        : attributeError(row, field, key, content, options);
    if (error) row.errors.push(error);
    else setMember(row, 'attributes', presentKeyOf(row, key, options), isBlank(content) ? null : content);
  }
}

const MOST_UNKNOWN = 1_000;
/** The errors of unknown attributes by the known ones: rows of one file usually repeat them. */
const unknownAttributes = new WeakMap<ReadonlySet<string>, Map<string, FieldError>>();

function unknownAttribute(key: string, { attributeKeys }: ReadOptions): FieldError {
  const before = unknownAttributes.get(attributeKeys);
  const errors = before && before.size < MOST_UNKNOWN ? before : new Map<string, FieldError>();
  unknownAttributes.set(attributeKeys, errors);
  const known = errors.get(key);
  if (known) return known;
  const field = `attributes.${key}`;
  const error = { field, code: 'unknown_attribute', message: 'is no attribute of any type' };
  const named = unknownChoice(error, key, attributeKeys);
  errors.set(key, named);
  return named;
}

function attributeError(
  row: Draft,
  field: string,
  key: string,
  value: unknown,
  options: ReadOptions,
): FieldError | undefined {
  if (isBlank(value)) return undefined;
  switch (options.fieldType(typeOf(row), key)) {
    case 'number':
    case 'cost':
      return typeof value === 'number' ? undefined : wrongType(field, 'a number');
    case 'boolean':
      return typeof value === 'boolean' ? undefined : wrongType(field, 'true or false');
    case 'multiple_select':
      return Array.isArray(value) && isTexts(value)
        ? findTextError(field, String(value))
        : wrongType(field, 'a list of option keys');
    case undefined:
      return isTexts(value) ? findTextError(field, String(value)) : undefined;
    case 'date':
      if (typeof value === 'string') return readDay(value) ? undefined : { field, ...badDate };
      return wrongType(field, 'a date as YYYY-MM-DD');
    default:
      return typeof value === 'string' ? findTextError(field, value) : wrongType(field, 'a text');
  }
}
