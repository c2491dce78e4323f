import type { RowWriter } from '../../../platform/copy-out.ts';
import { copyBytes, int32At, writeId } from './binary.ts';
import { eachMember, MemberKeys } from './json-scan.ts';
import { NUMBER_TEXT, writes } from './ndjson.rows.ts';
import type { EntityMember, EntityShape, MemberSource } from './odata.types.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const [OPENING_LIST, CLOSING_LIST, OPENING, CLOSING] = [0x5b, 0x5d, 0x7b, 0x7d];
const MINUS = 0x2d;
const [ZERO, NINE] = [0x30, 0x39];
const NULL = Buffer.from('null');
/** What goes before the values of a row of the answer, and before those of a row among another's values: how many there are. */
const [TOP_HEAD, INNER_HEAD] = [2, 4];
/** What goes before the length of a value inside a row: its type. */
const TYPE = 4;
/** What goes before an array's elements where there are some, and the place of how many there are. */
const [ARRAY_HEAD, ARRAY_SIZE] = [20, 12];
/** What goes before the text of a JSON column: the version of its form. */
const VERSION = 1;

// Where there is no room left bytes are lost without a sound, but counted: who has asked for a row then asks for more room.

/** Writes the entity whose values begin at `from`. @returns where it ends. */
type WriteEntity = (source: Buffer, from: number, target: Buffer, at: number) => number;

/** How a value is written, each in its own way. */
const ways = [
  ...(['id', 'text', 'number', 'time', 'json', 'address', 'more', 'entity', 'entities'] as const),
  ...(['value', 'date', 'list', 'exact'] as const),
];
type Way = (typeof ways)[number];
const wayNumber = Object.fromEntries(ways.map((way, n) => [way, n])) as Record<Way, number>;
const {
  id: ID,
  text: TEXT,
  number: NUMBER,
  time: TIME,
  address: ADDRESS,
  more: MORE,
  entity: ENTITY,
  entities: ENTITIES,
  date: DATE,
  list: LIST,
  exact: EXACT,
} = wayNumber;

/** A member as the writer has it: where its value stands among those of a row, with the members of JSON columns behind these. */
interface Member {
  /** What goes before the value, and what a row without one has. */
  head: Buffer;
  way: number;
  place: number;
  /** Of an address: around the id. */
  start: Buffer;
  end: Buffer;
  /** Of a link to more: the place of the id. */
  id: number;
  /** Of related entities. */
  write: WriteEntity | undefined;
}

/** The members of a JSON column that are wanted, the first of which has that place. */
interface Inside {
  column: number;
  keys: MemberKeys;
  first: number;
}

/** Finds a place behind the columns for every member of a JSON column that is wanted. */
function placeInsides({ columns, members }: EntityShape): {
  insides: Inside[];
  placeOf(source: MemberSource): number;
} {
  const keysOf = new Map<number, string[]>();
  for (const { source } of members) {
    if (source.kind !== 'inside') continue;
    const keys = keysOf.get(source.column);
    if (!keys) keysOf.set(source.column, [source.key]);
    else if (!keys.includes(source.key)) keys.push(source.key);
  }
  let first = columns;
  const firstOf = new Map<number, number>();
  const insides: Inside[] = [];
  for (const [column, keys] of keysOf) {
    firstOf.set(column, first);
    insides.push({ column, keys: new MemberKeys(keys), first });
    first += keys.length;
  }
  return {
    insides,
    placeOf: (source) =>
      source.kind === 'inside'
        ? firstOf.get(source.column)! + keysOf.get(source.column)!.indexOf(source.key)
        : source.column,
  };
}

function memberOf({ head, source }: EntityMember, place: number): Member {
  const address = source.kind === 'address' || source.kind === 'more' ? source : { start: '', end: '' };
  return {
    head: Buffer.from(head),
    way: wayNumber[source.kind === 'inside' ? source.form : source.kind],
    place,
    start: Buffer.from(`"${address.start}`),
    end: Buffer.from(`${address.end}"`),
    id: source.kind === 'more' ? source.id : 0,
    write:
      source.kind === 'entity' || source.kind === 'entities' ? entityWriter(source.shape, TYPE) : undefined,
  };
}

const constant = (bytes: Buffer, target: Buffer, at: number): number =>
  copyBytes(bytes, 0, bytes.length, target, at);

function writeNumber(source: Buffer, from: number, to: number, target: Buffer, at: number): number {
  // a call that refuses to write beyond the end
  if (at + NUMBER_TEXT > target.length) return at + NUMBER_TEXT;
  return writes.number(source, from, to, target, at);
}

/** A number of JSON as a text. */
function writeExact(source: Buffer, from: number, to: number, target: Buffer, at: number): number {
  const first = source[from]!;
  if (first !== MINUS && (first < ZERO || first > NINE)) return constant(NULL, target, at);
  target[at] = QUOTE;
  const end = copyBytes(source, from, to, target, at + 1);
  target[end] = QUOTE;
  return end + 1;
}

function writeAddress(
  { start, end }: Member,
  source: Buffer,
  id: number,
  target: Buffer,
  at: number,
): number {
  return constant(end, target, writeId(source, id, target, constant(start, target, at)));
}

function writeEmptyList(target: Buffer, at: number): number {
  target[at] = OPENING_LIST;
  target[at + 1] = CLOSING_LIST;
  return at + 2;
}

/** Writes the entities of an array of rows. */
function writeEntities(
  write: WriteEntity,
  source: Buffer,
  start: number,
  to: number,
  target: Buffer,
  begin: number,
): number {
  if (to - start < ARRAY_HEAD) return writeEmptyList(target, begin);
  target[begin] = OPENING_LIST;
  let at = begin + 1;
  let next = start + ARRAY_HEAD;
  for (let left = int32At(source, start + ARRAY_SIZE); left > 0; left -= 1) {
    const length = int32At(source, next);
    at = write(source, next + 4 + INNER_HEAD, target, at);
    next += 4 + length;
    target[at] = left > 1 ? COMMA : CLOSING_LIST;
    at += 1;
  }
  return at;
}

/** Writes a value that is there, and stands before `to`. @returns where it ends. */
function writeValue(
  member: Member,
  source: Buffer,
  from: number,
  to: number,
  target: Buffer,
  at: number,
): number {
  switch (member.way) {
    case ID:
      return writes.id(source, from, to, target, at);
    case TEXT:
      return writes.text(source, from, to, target, at);
    case NUMBER:
      return writeNumber(source, from, to, target, at);
    case TIME:
      return writes.time(source, from, to, target, at);
    case ADDRESS:
      return writeAddress(member, source, from, target, at);
    case ENTITY:
      return member.write!(source, from + INNER_HEAD, target, at);
    case ENTITIES:
      return writeEntities(member.write!, source, from, to, target, at);
    case DATE:
      // an empty date is none
      return source[from] === QUOTE && to - from > 2
        ? copyBytes(source, from, to, target, at)
        : constant(NULL, target, at);
    case LIST:
      return source[from] === OPENING_LIST
        ? copyBytes(source, from, to, target, at)
        : writeEmptyList(target, at);
    case EXACT:
      return writeExact(source, from, to, target, at);
    // what is JSON already
    default:
      return copyBytes(source, from, to, target, at);
  }
}

/** @param skipped bytes before the length of each value. */
function entityWriter(shape: EntityShape, skipped: number): WriteEntity {
  const { columns } = shape;
  const { insides, placeOf } = placeInsides(shape);
  const members = shape.members.map((member) => memberOf(member, placeOf(member.source)));
  const places = Math.max(columns, ...members.map(({ place }) => place + 1));
  // where the values of a row stand; those that are NULL begin below 0
  const [froms, tos] = [new Int32Array(places), new Int32Array(places)];
  const ending = Buffer.from(`${shape.tail}}`);

  const find = (source: Buffer, start: number): void => {
    froms.fill(-1, columns);
    let next = start;
    for (let n = 0; n < columns; n += 1) {
      next += skipped;
      const length = int32At(source, next);
      next += 4;
      froms[n] = length < 0 ? -1 : next;
      if (length > 0) next += length;
      tos[n] = next;
    }
    for (const { column, keys, first } of insides) {
      if (froms[column]! < 0) continue;
      eachMember(source, froms[column]! + VERSION, keys, (n, from, to) => {
        froms[first + n] = from;
        tos[first + n] = to;
      });
    }
  };

  return (source, start, target, begin) => {
    find(source, start);
    let at = begin;
    for (let n = 0; n < members.length; n += 1) {
      const member = members[n]!;
      const { head, way, place } = member;
      const from = froms[place]!;
      // nothing is said of what is not there
      if (way === MORE && source[from] !== 1) continue;
      for (let byte = 0; byte < head.length; byte += 1) target[at + byte] = head[byte]!;
      at += head.length;
      if (way === MORE) at = writeAddress(member, source, froms[member.id]!, target, at);
      else if (from >= 0) at = writeValue(member, source, from, tos[place]!, target, at);
      else if (way === LIST || way === ENTITIES) at = writeEmptyList(target, at);
      else at = constant(NULL, target, at);
    }
    at = constant(ending, target, at);
    // the comma of the first member becomes the brace
    if (at === begin + 1) {
      target[at] = CLOSING;
      at += 1;
    }
    target[begin] = OPENING;
    return at;
  };
}

/** Writes rows of the values of entities as their JSON, each with a comma behind. */
export function entityRows(shape: EntityShape): RowWriter {
  const write = entityWriter(shape, 0);
  return (source, from, target, at) => {
    const end = write(source, from + TOP_HEAD, target, at);
    if (end + 1 > target.length) return -1;
    target[end] = COMMA;
    return end + 1;
  };
}
