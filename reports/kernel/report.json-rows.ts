import type { RowWriter } from '../../platform/copy-out.ts';

// Writes the JSON of a report's rows from PostgreSQL's binary COPY format, without a string for each value.

/** A big-endian integer of four bytes. */
export const int32At = (bytes: Uint8Array, at: number): number =>
  (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;

const hex = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, '0'));
const high = Uint8Array.from(hex, (text) => text.charCodeAt(0));
const low = Uint8Array.from(hex, (text) => text.charCodeAt(1));

/** Characters of a UUID. */
export const ID_TEXT = 36;
const DASH = 0x2d;

/** Writes the sixteen bytes of a UUID as text; there must be room. @returns where the text ends. */
export function writeId(source: Uint8Array, from: number, target: Uint8Array, start: number): number {
  let at = start;
  for (let n = 0; n < 16; n += 1) {
    if (n === 4 || n === 6 || n === 8 || n === 10) {
      target[at] = DASH;
      at += 1;
    }
    const byte = source[from + n]!;
    target[at] = high[byte]!;
    target[at + 1] = low[byte]!;
    at += 2;
  }
  return at;
}

/** Number of bytes from which `Buffer.copy` is faster than a loop. */
const MANY = 48;

/** Copies bytes; there must be room. @returns where they end. */
export function copyBytes(source: Buffer, from: number, to: number, target: Buffer, start: number): number {
  if (to - from >= MANY) source.copy(target, start, from, to);
  else for (let n = from, at = start; n < to; n += 1, at += 1) target[at] = source[n]!;
  return start + to - from;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const OPENING = 0x7b;
/** Bytes of the longest escape, `\u001f`. */
const ESCAPED = 6;

const escapes = Array.from({ length: BACKSLASH + 1 }, (_, code) =>
  Buffer.from(JSON.stringify(String.fromCharCode(code)).slice(1, -1)),
);

/** Maximum length in bytes of a text of the given length as JSON. */
export const maxJsonLength = (bytes: number): number => ESCAPED * bytes + 2;

/** Writes a UTF-8 text as JSON; there must be room. @returns where it ends. */
export function writeJsonText(
  source: Buffer,
  from: number,
  to: number,
  target: Buffer,
  start: number,
): number {
  let at = start;
  target[at] = QUOTE;
  at += 1;
  for (let n = from; n < to; n += 1) {
    const byte = source[n]!;
    if (byte >= SPACE && byte !== QUOTE && byte !== BACKSLASH) {
      target[at] = byte;
      at += 1;
    } else {
      const escaped = escapes[byte]!;
      at = copyBytes(escaped, 0, escaped.length, target, at);
    }
  }
  target[at] = QUOTE;
  return at + 1;
}

/** A UUID, a text, or the text of JSON. */
type JsonKind = 'id' | 'text' | 'json';

export interface JsonValue {
  /** The member's name. */
  name: string;
  kind: JsonKind;
}

interface Writer {
  /** Maximum length of a value of the given length. */
  most(bytes: number): number;
  write(source: Buffer, from: number, to: number, target: Buffer, at: number): number;
}

const writers: Record<JsonKind, Writer> = {
  id: {
    most: () => ID_TEXT + 2,
    write: (source, from, _to, target, at) => {
      target[at] = QUOTE;
      const end = writeId(source, from, target, at + 1);
      target[end] = QUOTE;
      return end + 1;
    },
  },
  text: { most: maxJsonLength, write: writeJsonText },
  json: { most: (bytes) => bytes, write: copyBytes },
};

const NULL = Buffer.from('null');

/** Writes rows as JSON objects, each followed by `end`. */
export function jsonRows(values: readonly JsonValue[], end: string): RowWriter {
  const ending = Buffer.from(end);
  const members = values.map(({ name, kind }) => ({
    // the first comma is replaced by the brace
    head: Buffer.from(`,${JSON.stringify(name)}:`),
    ...writers[kind],
  }));
  return (source, from, target, start) => {
    // a row starts with its number of values
    let next = from + 2;
    let at = start;
    for (const { head, most, write } of members) {
      const length = int32At(source, next);
      next += 4;
      const bytes = length < 0 ? NULL.length : most(length);
      if (at + head.length + bytes + ending.length > target.length) return -1;
      at = copyBytes(head, 0, head.length, target, at);
      if (length < 0) {
        at = copyBytes(NULL, 0, NULL.length, target, at);
      } else {
        at = write(source, next, next + length, target, at);
        next += length;
      }
    }
    target[start] = OPENING;
    return copyBytes(ending, 0, ending.length, target, at);
  };
}
