import type { RowWriter } from '../../../platform/copy-out.ts';
import {
  copyBytes,
  floatAt,
  ID_TEXT,
  int32At,
  TIME_TEXT,
  writeId,
  writeNumber,
  writeTime,
} from './binary.ts';
import { eachElement, eachMember, MemberKeys, writeText } from './json-scan.ts';

/**
 * What a value is: a text as it is, one which a spreadsheet might calculate (of which an empty one is none), an id, a number or a
 * moment.
 */
export type CsvKind = 'plain' | 'text' | 'id' | 'number' | 'time';

/** How a member of an object becomes a cell: as `plain` and `text`, or several values in one. */
export type MemberKind = 'plain' | 'text' | 'list';

/** A column: a value of the row, or a member of its object, told for each type of objects that has it. */
export type CsvColumn = { kind: CsvKind } | { key: string; kindIn(type: string): MemberKind | undefined };

const [CR, LF] = [0x0d, 0x0a];
const QUOTE = 0x22;
const COMMA = 0x2c;
const APOSTROPHE = 0x27;
const [SEMICOLON, BACKSLASH] = [0x3b, 0x5c];
const LIST = 0x5b;
const NULL = 0x6e;
/** Bytes of a cell beyond twice those of its value: of an id, moment or number, of the comma, the quotes and the apostrophe. */
const CELL = Math.max(ID_TEXT, TIME_TEXT) + 4;

/** Which bytes make a text one that is calculated, and which make a cell need quotes. */
const marked = (characters: string): Uint8Array => {
  const marks = new Uint8Array(256);
  for (const character of characters) marks[character.charCodeAt(0)] = 1;
  return marks;
};
const risky = marked('=+-@\t\r');
const fullWidth = marked('\x9d\x8b\x8d\xa0');
const quoted = marked('",\r\n');
/** In a text of JSON. */
const quotedOrEscaped = marked('",\r\n\\');

/** As `neutralise` of `domain/kernel/transfer/csv-cells.ts` has it. */
function isRisky(bytes: Uint8Array, from: number, to: number): boolean {
  let at = from;
  while (at < to && bytes[at] === APOSTROPHE) at += 1;
  if (at >= to) return false;
  // full-width =, +, - and @ in UTF-8: EF BC and one more byte
  if (bytes[at] === 0xef) return to - at >= 3 && bytes[at + 1] === 0xbc && fullWidth[bytes[at + 2]!] === 1;
  return risky[bytes[at]!] === 1;
}

/**
 * Copies bytes of which none is marked. Most texts are some ten bytes long, for which one loop is sooner done than a call that
 * copies after another one that looks. @returns where they end, below 0 where one is marked; there must be room.
 */
function copyUnmarked(
  source: Buffer,
  from: number,
  to: number,
  target: Buffer,
  start: number,
  marks: Uint8Array,
) {
  let at = start;
  for (let n = from; n < to; n += 1, at += 1) {
    const byte = source[n]!;
    if (marks[byte] === 1) return -1;
    target[at] = byte;
  }
  return at;
}

/** Writes a cell with quotes where RFC 4180 needs them, and for an empty text, since nothing stands for no value. */
function writeCell(source: Buffer, from: number, to: number, target: Buffer, start: number, guard: boolean) {
  if (from < to) {
    if (guard) target[start] = APOSTROPHE;
    const end = copyUnmarked(source, from, to, target, guard ? start + 1 : start, quoted);
    if (end > 0) return end;
  }
  let at = start + 1;
  target[start] = QUOTE;
  if (guard) {
    target[at] = APOSTROPHE;
    at += 1;
  }
  for (let n = from; n < to; n += 1) {
    const byte = source[n]!;
    target[at] = byte;
    at += 1;
    if (byte === QUOTE) {
      target[at] = byte;
      at += 1;
    }
  }
  target[at] = QUOTE;
  return at + 1;
}

/** Buffers for values on their way from JSON to a cell. */
interface Scratch {
  /** A text without its escapes. */
  plain: Buffer;
  /** A joined list. */
  list: Buffer;
}

/** Joins the values of a list like `joinValues`, into `list`. @returns its length, below 0 when the list is empty. */
function joinList({ plain, list }: Scratch, source: Buffer, start: number): number {
  let at = 0;
  let count = 0;
  eachElement(source, start, (from, to) => {
    if (source[from] === NULL) return;
    if (count > 0) {
      list[at] = SEMICOLON;
      at += 1;
    }
    count += 1;
    const isText = source[from] === QUOTE;
    const end = isText ? writeText(source, from, to, plain, 0) : copyBytes(source, from, to, plain, 0);
    for (let n = 0; n < end; n += 1) {
      const byte = plain[n]!;
      if (byte === SEMICOLON || byte === BACKSLASH) {
        list[at] = BACKSLASH;
        at += 1;
      }
      list[at] = byte;
      at += 1;
    }
  });
  return count === 0 ? -1 : at;
}

function isSame(bytes: Buffer, source: Buffer, from: number, to: number): boolean {
  if (bytes.length !== to - from) return false;
  let n = 0;
  while (n < bytes.length && bytes[n] === source[from + n]) n += 1;
  return n === bytes.length;
}

/** The members that are columns, of objects of a type. */
interface TypeMembers {
  type: Buffer;
  keys: MemberKeys;
  places: { n: number; kind: MemberKind }[];
}

/**
 * Writes rows as lines of CSV (RFC 4180, comma, CRLF). A row has the type of its object, the values of the columns that are no
 * members in their order, and the object as the database keeps it.
 * @param guard whether a text that a spreadsheet would calculate has an apostrophe in front.
 */
export function csvRows(columns: readonly CsvColumn[], guard: boolean): RowWriter {
  const values = [...columns.entries()].flatMap(([n, column]) => ('kind' in column ? [n] : []));
  const kinds = columns.map((column) => ('kind' in column ? column.kind : 'member'));
  const [from, to] = [new Int32Array(columns.length), new Int32Array(columns.length)];
  const memberKinds = new Array<MemberKind>(columns.length).fill('plain');
  let scratch: Scratch = { plain: Buffer.alloc(4096), list: Buffer.alloc(4 * 4096) };
  const membersOf = new Map<string, TypeMembers>();
  let members: TypeMembers = { type: Buffer.alloc(0), keys: new MemberKeys([]), places: [] };

  /** Those of the type that stands there: mostly the same as in the row before, which no text needs to be made for. */
  const findMembers = (source: Buffer, start: number, end: number): void => {
    if (isSame(members.type, source, start, end)) return;
    const type = source.toString('utf8', start, end);
    const known = membersOf.get(type);
    if (known) {
      members = known;
    } else {
      const keys: string[] = [];
      const places: { n: number; kind: MemberKind }[] = [];
      for (const [n, column] of columns.entries()) {
        const kind = 'kind' in column ? undefined : column.kindIn(type);
        if (!kind) continue;
        keys.push((column as { key: string }).key);
        places.push({ n, kind });
      }
      members = { type: Buffer.from(type), keys: new MemberKeys(keys), places };
      membersOf.set(type, members);
    }
  };

  const noteMember = (place: number, first: number, end: number): void => {
    const { n, kind } = members.places[place]!;
    from[n] = first;
    to[n] = end;
    memberKinds[n] = kind;
  };

  const writeMember = (source: Buffer, n: number, target: Buffer, at: number): number => {
    const [start, end, kind] = [from[n]!, to[n]!, memberKinds[n]!];
    const { plain } = scratch;
    const first = source[start]!;
    if (kind === 'list') {
      const length = first === LIST ? joinList(scratch, source, start) : -1;
      return length < 0 ? at : writeCell(scratch.list, 0, length, target, at, false);
    }
    if (first === NULL) return at;
    const isText = first === QUOTE;
    if (isText && end - start > 2 && !isRisky(source, start + 1, end - 1)) {
      const done = copyUnmarked(source, start + 1, end - 1, target, at, quotedOrEscaped);
      if (done > 0) return done;
    }
    const bytes = isText ? plain : source;
    const begin = isText ? 0 : start;
    const stop = isText ? writeText(source, start, end, plain, 0) : end;
    if (kind === 'plain') return writeCell(bytes, begin, stop, target, at, false);
    return begin === stop
      ? at
      : writeCell(bytes, begin, stop, target, at, guard && isRisky(bytes, begin, stop));
  };

  return (source, start, target, begin) => {
    const size = source.length - start;
    if (begin + 2 * size + columns.length * CELL > target.length) return -1;
    if (scratch.plain.length < size) {
      scratch = { plain: Buffer.alloc(size * 2), list: Buffer.alloc(size * 4) };
    }
    from.fill(-1);
    // how many values there are is known
    let at = start + 2;
    const length = int32At(source, at);
    findMembers(source, at + 4, at + 4 + length);
    at += 4 + length;
    for (const n of values) {
      const bytes = int32At(source, at);
      at += 4;
      if (bytes < 0) continue;
      from[n] = at;
      at += bytes;
      to[n] = at;
    }
    if (int32At(source, at) > 0) {
      // the version of the form goes first
      eachMember(source, at + 5, members.keys, noteMember);
    }
    let out = begin;
    for (let n = 0; n < columns.length; n += 1) {
      if (n > 0) {
        target[out] = COMMA;
        out += 1;
      }
      const [first, end] = [from[n]!, to[n]!];
      if (first < 0) continue;
      const kind = kinds[n]!;
      if (kind === 'member') {
        out = writeMember(source, n, target, out);
      } else if (kind === 'plain') {
        out = writeCell(source, first, end, target, out, false);
      } else if (kind === 'text') {
        if (first < end)
          out = writeCell(source, first, end, target, out, guard && isRisky(source, first, end));
      } else if (kind === 'id') {
        out = writeId(source, first, target, out);
      } else if (kind === 'time') {
        out = writeTime(source, first, target, out);
      } else {
        out = writeNumber(floatAt(source, first), target, out);
      }
    }
    target[out] = CR;
    target[out + 1] = LF;
    return out + 2;
  };
}
