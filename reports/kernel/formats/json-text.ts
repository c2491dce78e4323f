import { copyBytes } from './binary.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
/** What a character becomes at most: `\u001f`. */
const ESCAPED = 6;

const short = new Map([...'\b\f\n\r\t'].map((character, n) => [character.charCodeAt(0), 'bfnrt'[n]!]));
/** What each control character, quote and backslash becomes. */
const escapes = Array.from({ length: BACKSLASH + 1 }, (_, code) => {
  if (code === QUOTE || code === BACKSLASH) return Buffer.from(`\\${String.fromCharCode(code)}`);
  const known = short.get(code);
  return Buffer.from(known ? `\\${known}` : `\\u${code.toString(16).padStart(4, '0')}`);
});

/** Bytes that a text of so many takes at most. */
export const jsonTextMost = (bytes: number): number => ESCAPED * bytes + 2;

/** Writes a text of UTF-8 as JSON has it; there must be room. @returns where it ends. */
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
