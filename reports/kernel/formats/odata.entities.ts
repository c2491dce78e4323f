import { type Chunk, readIsoTime, readText, readUuid } from './binary-rows.ts';

/** Conversion of a member of a JSON column: unchanged, a date, a list, or a number as text. */
type InsideForm = 'value' | 'date' | 'list' | 'exact';

/**
 * The source of an entity's member: a value of the row; a URL with an id; a member of a JSON column; related entities; the
 * link to further related entities, omitted if there are none; or a constant.
 */
export type MemberSource =
  | { kind: 'id' | 'text' | 'number' | 'time' | 'json' | 'tags'; column: number }
  | { kind: 'address'; column: number; start: string; end: string }
  | { kind: 'inside'; column: number; key: string; form: InsideForm }
  | { kind: 'entity' | 'entities'; column: number; shape: EntityShape }
  | { kind: 'more'; column: number; id: number; start: string; end: string }
  | { kind: 'constant'; value: string };

/** How a row of values becomes an entity. */
export interface EntityShape {
  /** Number of values, at least one. */
  columns: number;
  members: { name: string; source: MemberSource }[];
}

/** The place of each tag in the order in which tags are shown, by name. */
export type TagOrder = ReadonlyMap<string, number>;

// PostgreSQL's binary format of rows and arrays within a row
/** Bytes before the values of a row: their number. Each value has its type before its length. */
const ROW_HEAD = 4;
const TYPE = 4;
/** Bytes before the elements of an array that is not empty. */
const ARRAY_HEAD = 20;
/** Bytes before the text of a jsonb value: its version. */
const VERSION = 1;

/** A row: the beginning and end of each of its values. The beginning of NULL is below 0. */
interface Row {
  chunk: Chunk;
  from: number[];
  to: number[];
  /** The parsed values of JSON columns, by column. */
  objects: Record<string, unknown>[];
}

/** @param skipped bytes before the length of each value. */
function readRow(chunk: Chunk, start: number, columns: number, skipped: number): Row {
  const { bytes } = chunk;
  const from: number[] = [];
  const to: number[] = [];
  let at = start;
  for (let n = 0; n < columns; n += 1) {
    const length = bytes.readInt32BE(at + skipped);
    at += skipped + 4;
    from.push(length < 0 ? -1 : at);
    at += Math.max(length, 0);
    to.push(at);
  }
  return { chunk, from, to, objects: [] };
}

/** Returns the JSON of something in a row; none if it is omitted. */
type Writer = (row: Row) => string | undefined;

const inString = (text: string): string => JSON.stringify(text).slice(1, -1);

/**
 * Makes the function that writes the entities of a shape. JSON is concatenated: to make objects of their members first takes
 * twice the time.
 */
function entityWriter({ members }: EntityShape, tags: TagOrder): (row: Row) => string {
  const parts = members.map(({ name, source }) => ({
    label: `${JSON.stringify(name)}:`,
    write: memberWriter(source, tags),
  }));
  return (row) => {
    let json = '';
    for (const { label, write } of parts) {
      const value = write(row);
      if (value !== undefined) json += `${json === '' ? '' : ','}${label}${value}`;
    }
    return `{${json}}`;
  };
}

function memberWriter(source: MemberSource, tags: TagOrder): Writer {
  if (source.kind === 'constant') {
    const json = JSON.stringify(source.value);
    return () => json;
  }
  const { column } = source;
  if (source.kind === 'inside') {
    const { key, form } = source;
    return (row) => JSON.stringify(shownInside(objectIn(row, column)[key], form));
  }
  if (source.kind === 'more') {
    const write = addressWriter(source.start, source.end, source.id);
    return (row) => (row.chunk.bytes[row.from[column]!] === 1 ? write(row) : undefined);
  }
  const write = valueWriter(source, tags);
  const absent = source.kind === 'entities' ? '[]' : 'null';
  return (row) => (row.from[column]! < 0 ? absent : write(row));
}

function objectIn(row: Row, column: number): Record<string, unknown> {
  const from = row.from[column]!;
  row.objects[column] ??= from < 0 ? {} : JSON.parse(readText(row.chunk, from + VERSION, row.to[column]!));
  return row.objects[column]!;
}

function shownInside(value: unknown, form: InsideForm): unknown {
  switch (form) {
    case 'value':
      return value ?? null;
    case 'date':
      return typeof value === 'string' && value !== '' ? value : null;
    case 'list':
      return Array.isArray(value) ? value : [];
    case 'exact':
      return typeof value === 'number' ? String(value) : null;
  }
}

function addressWriter(start: string, end: string, column: number): (row: Row) => string {
  const before = inString(start);
  const after = inString(end);
  return ({ chunk, from }) => `"${before}${readUuid(chunk.bytes, from[column]!)}${after}"`;
}

type RowValue = Exclude<MemberSource, { kind: 'inside' | 'more' | 'constant' }>;

/** Makes the function that writes a value that is not NULL. */
function valueWriter(source: RowValue, tags: TagOrder): (row: Row) => string {
  const { column } = source;
  switch (source.kind) {
    case 'id':
      return ({ chunk, from }) => `"${readUuid(chunk.bytes, from[column]!)}"`;
    case 'text':
      return ({ chunk, from, to }) => JSON.stringify(readText(chunk, from[column]!, to[column]!));
    case 'number':
      return ({ chunk, from }) => JSON.stringify(chunk.bytes.readDoubleBE(from[column]));
    case 'time': {
      const read = readIsoTime();
      return ({ chunk, from, to }) => JSON.stringify(read(chunk, from[column]!, to[column]!));
    }
    case 'json':
      // written anew: JSON of PostgreSQL has numbers and spaces in other forms
      return ({ chunk, from, to }) => JSON.stringify(JSON.parse(readText(chunk, from[column]!, to[column]!)));
    case 'address':
      return addressWriter(source.start, source.end, column);
    case 'tags':
      return ({ chunk, from, to }) => JSON.stringify(readTags(chunk.bytes, from[column]!, to[column]!, tags));
    case 'entity': {
      const { columns } = source.shape;
      const write = entityWriter(source.shape, tags);
      return ({ chunk, from }) => write(readRow(chunk, from[column]! + ROW_HEAD, columns, TYPE));
    }
    case 'entities':
      return entitiesWriter(column, source.shape, tags);
  }
}

function entitiesWriter(column: number, shape: EntityShape, tags: TagOrder): (row: Row) => string {
  const write = entityWriter(shape, tags);
  return ({ chunk, from, to }) => {
    const end = to[column]!;
    let json = '';
    for (let at = from[column]! + ARRAY_HEAD; at < end; at += 4 + chunk.bytes.readInt32BE(at)) {
      json += `${json === '' ? '' : ','}${write(readRow(chunk, at + 4 + ROW_HEAD, shape.columns, TYPE))}`;
    }
    return `[${json}]`;
  };
}

function readTags(bytes: Buffer, from: number, to: number, order: TagOrder): string[] {
  const names: string[] = [];
  for (let at = from + ARRAY_HEAD; at < to; ) {
    const end = at + 4 + bytes.readInt32BE(at);
    names.push(bytes.toString('utf8', at + 4, end));
    at = end;
  }
  return names.length < 2 ? names : names.sort((a, b) => order.get(a)! - order.get(b)!);
}

/** The JSON of the entities of a chunk of rows in the binary format of COPY, separated by commas. */
export function writeEntities(bytes: Buffer, shape: EntityShape, tags: TagOrder): string {
  const write = entityWriter(shape, tags);
  const chunk = { bytes, characters: bytes.toString('latin1') };
  let json = '';
  for (let at = 0; at < bytes.length; ) {
    // a row starts with its number of values
    const row = readRow(chunk, at + 2, shape.columns, 0);
    json += `${json === '' ? '' : ','}${write(row)}`;
    at = row.to.at(-1)!;
  }
  return json;
}
