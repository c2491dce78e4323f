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
import { jsonTextMost, writeJsonText } from './json-text.ts';

/**
 * What a value is and what is made of it: an id, a text, a number, a moment, the text of what is JSON already, or JSON as the
 * database keeps it.
 */
export type JsonKind = 'id' | 'text' | 'number' | 'time' | 'json' | 'jsonb';

export interface JsonValue {
  /** The member's name. */
  name: string;
  /** What goes before the value, where that is not the name. */
  head?: string;
  kind: JsonKind;
}

const QUOTE = 0x22;
const OPENING = 0x7b;
/** Bytes of a number as text, at most. */
export const NUMBER_TEXT = 25;

/** Bytes that a value takes at most, of which the database has sent so many. */
const most: Record<JsonKind, (bytes: number) => number> = {
  id: () => ID_TEXT + 2,
  text: jsonTextMost,
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

/** Writes a value that is there as JSON; there must be room. @returns where it ends. */
export const writes: Record<JsonKind, Write> = {
  id: quoted(writeId),
  text: writeJsonText,
  number: (source, from, _to, target, at) => writeNumber(floatAt(source, from), target, at),
  time: quoted(writeTime),
  json: copyBytes,
  // the version of the form goes first
  jsonb: (source, from, to, target, at) => copyBytes(source, from + 1, to, target, at),
};

/** How {@link jsonRows} writes a line. */
interface LineForm {
  /** What goes behind the last member. */
  end?: string;
  /** Whether values that are NULL are written, and not left out. */
  nulls?: boolean;
}

const NULL = Buffer.from('null');

/** Writes rows of these values as objects of JSON, one a line. */
export function jsonRows(
  values: readonly JsonValue[],
  { end = '}\n', nulls = false }: LineForm = {},
): RowWriter {
  const ending = Buffer.from(end);
  const members = values.map(({ name, head, kind }) => ({
    // the first comma of a line becomes its brace
    head: Buffer.from(head ?? `,${JSON.stringify(name)}:`),
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
      if (length < 0 && !nulls) continue;
      const { head } = member;
      const bytes = length < 0 ? NULL.length : member.most(length);
      if (at + head.length + bytes + ending.length > target.length) return -1;
      at = copyBytes(head, 0, head.length, target, at);
      if (length < 0) {
        at = copyBytes(NULL, 0, NULL.length, target, at);
      } else {
        at = member.write(source, next, next + length, target, at);
        next += length;
      }
    }
    if (at === start) {
      if (at + 1 + ending.length > target.length) return -1;
      at += 1;
    }
    target[start] = OPENING;
    return copyBytes(ending, 0, ending.length, target, at);
  };
}
