import type { RowWriter } from '../../../platform/copy-out.ts';
import { copyBytes, floatAt, ID_TEXT, int32At, TIME_TEXT, writeId, writeTime } from './binary.ts';

/**
 * What a value is and what is made of it: an id, a text, a number, a moment, the text of what is JSON already, or JSON as the
 * database keeps it.
 */
export type JsonKind = 'id' | 'text' | 'number' | 'time' | 'json' | 'jsonb';

export interface JsonValue {
  /** The member's name. */
  name: string;
  kind: JsonKind;
}

const LF = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING = 0x7b;
const CLOSING = 0x7d;
const SPACE = 0x20;
/** Bytes of a number as text, at most. */
const NUMBER_TEXT = 25;
/** What a character becomes at most: `\u001f`. */
const ESCAPED = 6;

const short = new Map([...'\b\f\n\r\t'].map((character, n) => [character.charCodeAt(0), 'bfnrt'[n]!]));
/** What each control character, quote and backslash becomes. */
const escapes = Array.from({ length: BACKSLASH + 1 }, (_, code) => {
  if (code === QUOTE || code === BACKSLASH) return Buffer.from(`\\${String.fromCharCode(code)}`);
  const known = short.get(code);
  return Buffer.from(known ? `\\${known}` : `\\u${code.toString(16).padStart(4, '0')}`);
});

/** Writes a text of UTF-8 as JSON has it; there must be room. */
function writeText(source: Buffer, from: number, to: number, target: Buffer, start: number): number {
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

/** Bytes that a value takes at most, of which the database has sent so many. */
const most: Record<JsonKind, (bytes: number) => number> = {
  id: () => ID_TEXT + 2,
  text: (bytes) => ESCAPED * bytes + 2,
  number: () => NUMBER_TEXT,
  time: () => TIME_TEXT + 2,
  json: (bytes) => bytes,
  jsonb: (bytes) => bytes,
};

type Write = (source: Buffer, from: number, to: number, target: Buffer, at: number) => number;

const quoted =
  (write: (source: Buffer, from: number, target: Buffer, at: number) => number): Write =>
  (source, from, _to, target, at) => {
    target[at] = QUOTE;
    const end = write(source, from, target, at + 1);
    target[end] = QUOTE;
    return end + 1;
  };

const writes: Record<JsonKind, Write> = {
  id: quoted(writeId),
  text: writeText,
  number: (source, from, _to, target, at) => at + target.write(String(floatAt(source, from)), at, 'latin1'),
  time: quoted(writeTime),
  json: copyBytes,
  // the version of the form goes first
  jsonb: (source, from, to, target, at) => copyBytes(source, from + 1, to, target, at),
};

/** Writes rows of these values as objects of JSON, one a line, without the values that are NULL. */
export function jsonRows(values: readonly JsonValue[]): RowWriter {
  const members = values.map(({ name, kind }) => ({
    // the first comma of a line becomes its brace
    head: Buffer.from(`,${JSON.stringify(name)}:`),
    most: most[kind],
    write: writes[kind],
  }));
  return (source, from, target, start) => {
    // how many values there are is known
    let next = from + 2;
    let at = start;
    for (const member of members) {
      const length = int32At(source, next);
      next += 4;
      if (length < 0) continue;
      const { head } = member;
      // and the end of the line
      if (at + head.length + member.most(length) + 3 > target.length) return -1;
      at = copyBytes(head, 0, head.length, target, at);
      at = member.write(source, next, next + length, target, at);
      next += length;
    }
    if (at === start) {
      if (at + 3 > target.length) return -1;
      target[at] = COMMA;
      at += 1;
    }
    target[start] = OPENING;
    target[at] = CLOSING;
    target[at + 1] = LF;
    return at + 2;
  };
}
