import { readMs, readUuid } from './binary-rows.ts';

/** Conversion of a member of a JSON column: unchanged, a date, a list, or a number as text. */
type InsideForm = 'value' | 'date' | 'list' | 'exact';

/**
 * The source of an entity's member: a value of the row; a URL with an id; a member of a JSON column; related entities; the
 * link to further related entities, omitted if there are none; or a constant.
 */
export type MemberSource =
  | { kind: 'id' | 'text' | 'number' | 'time' | 'json'; column: number }
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

type Entity = Record<string, unknown>;

// PostgreSQL's binary format of rows and arrays within a row
/** Bytes before the values of a row: their number. Each value has its type before its length. */
const ROW_HEAD = 4;
const TYPE = 4;
/** Bytes before the elements of an array that is not empty. */
const ARRAY_HEAD = 20;
/** Bytes before the text of a jsonb value: its version. */
const VERSION = 1;

/** The beginning and end of each value of a row; the beginning of NULL is below 0. */
interface Places {
  from: number[];
  to: number[];
}

/** @param skipped bytes before the length of each value. */
function placesOf(bytes: Buffer, start: number, columns: number, skipped: number): Places {
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
  return { from, to };
}

function readEntity(bytes: Buffer, { members }: EntityShape, { from, to }: Places): Entity {
  const parsed = new Map<number, Entity>();
  const objectIn = (column: number): Entity => {
    let object = parsed.get(column);
    if (!object) {
      object =
        from[column]! < 0 ? {} : JSON.parse(bytes.toString('utf8', from[column]! + VERSION, to[column]));
      parsed.set(column, object!);
    }
    return object!;
  };
  const entity: Entity = {};
  for (const { name, source } of members) {
    if (source.kind === 'constant') {
      entity[name] = source.value;
    } else if (source.kind === 'inside') {
      entity[name] = shownInside(objectIn(source.column)[source.key], source.form);
    } else if (source.kind === 'more') {
      if (bytes[from[source.column]!] !== 1) continue;
      entity[name] = `${source.start}${readUuid(bytes, from[source.id]!)}${source.end}`;
    } else {
      entity[name] = readValue(bytes, source, from[source.column]!, to[source.column]!);
    }
  }
  return entity;
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

type RowValue = Exclude<MemberSource, { kind: 'inside' | 'more' | 'constant' }>;

function readValue(bytes: Buffer, source: RowValue, from: number, to: number): unknown {
  if (from < 0) return source.kind === 'entities' ? [] : null;
  switch (source.kind) {
    case 'id':
      return readUuid(bytes, from);
    case 'text':
      return bytes.toString('utf8', from, to);
    case 'number':
      return bytes.readDoubleBE(from);
    case 'time':
      return new Date(readMs(bytes, from)).toISOString();
    case 'json':
      return JSON.parse(bytes.toString('utf8', from, to));
    case 'address':
      return `${source.start}${readUuid(bytes, from)}${source.end}`;
    case 'entity':
      return readInner(bytes, source.shape, from);
    case 'entities':
      return readInners(bytes, source.shape, from, to);
  }
}

const readInner = (bytes: Buffer, shape: EntityShape, from: number): Entity =>
  readEntity(bytes, shape, placesOf(bytes, from + ROW_HEAD, shape.columns, TYPE));

function readInners(bytes: Buffer, shape: EntityShape, from: number, to: number): Entity[] {
  const entities: Entity[] = [];
  for (let at = from + ARRAY_HEAD; at < to; at += 4 + bytes.readInt32BE(at)) {
    entities.push(readInner(bytes, shape, at + 4));
  }
  return entities;
}

/** The entities of a chunk of rows in the binary format of COPY. */
export function readEntities(bytes: Buffer, shape: EntityShape): Entity[] {
  const entities: Entity[] = [];
  for (let at = 0; at < bytes.length; ) {
    // a row starts with its number of values
    const places = placesOf(bytes, at + 2, shape.columns, 0);
    entities.push(readEntity(bytes, shape, places));
    at = places.to.at(-1)!;
  }
  return entities;
}
