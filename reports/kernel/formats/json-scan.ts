// Reads JSON as PostgreSQL writes it for jsonb, where it stands: `{"key": value, "other": [1, "two"]}`.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const [OPENING_LIST, CLOSING_LIST, OPENING, CLOSING] = [0x5b, 0x5d, 0x7b, 0x7d];
/** What goes between a key and its value, and between two members or elements, its second character being a space. */
const BETWEEN = 2;

/** Where the text that begins with a quote at `from` ends, its last quote included. */
function endOfText(bytes: Uint8Array, from: number): number {
  let at = from + 1;
  while (bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** Where the value that begins at `from` ends. */
function endOfValue(bytes: Uint8Array, from: number): number {
  const first = bytes[from]!;
  if (first === QUOTE) return endOfText(bytes, from);
  let at = from;
  let depth = 0;
  for (;;) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = endOfText(bytes, at);
      continue;
    }
    const closes = byte === CLOSING || byte === CLOSING_LIST;
    if (depth === 0 && (closes || byte === COMMA)) return at;
    at += 1;
    if (byte === OPENING || byte === OPENING_LIST) depth += 1;
    if (closes) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
}

/** Keys that are looked for, by their bytes: to make a text of every key there is takes longer than all else here. */
export class MemberKeys {
  /** By how many bytes they have. */
  readonly #known: { bytes: Buffer; n: number }[][] = [];

  constructor(keys: readonly string[]) {
    for (const [n, key] of keys.entries()) {
      const bytes = Buffer.from(JSON.stringify(key).slice(1, -1));
      while (this.#known.length <= bytes.length) this.#known.push([]);
      this.#known[bytes.length]!.push({ bytes, n });
    }
  }

  /** The place among the keys of the one that stands there; below 0 for another. */
  find(source: Uint8Array, from: number, to: number): number {
    const known = this.#known[to - from];
    if (known === undefined) return -1;
    for (let k = 0; k < known.length; k += 1) {
      const { bytes, n } = known[k]!;
      let at = 0;
      while (at < bytes.length && bytes[at] === source[from + at]) at += 1;
      if (at === bytes.length) return n;
    }
    return -1;
  }
}

/** Tells each of the members that are looked for of the object that begins at `from`: which it is, and where its value stands. */
export function eachMember(
  bytes: Buffer,
  from: number,
  keys: MemberKeys,
  tell: (n: number, from: number, to: number) => void,
): void {
  let at = from + 1;
  while (bytes[at] === QUOTE) {
    const end = endOfText(bytes, at);
    const start = end + BETWEEN;
    const to = endOfValue(bytes, start);
    const n = keys.find(bytes, at + 1, end - 1);
    if (n >= 0) tell(n, start, to);
    at = to + BETWEEN;
  }
}

/** Tells where each element of the list that begins at `from` stands. */
export function eachElement(bytes: Buffer, from: number, tell: (from: number, to: number) => void): void {
  let at = from + 1;
  while (bytes[at] !== CLOSING_LIST) {
    const to = endOfValue(bytes, at);
    tell(at, to);
    if (bytes[to] !== COMMA) return;
    at = to + BETWEEN;
  }
}

/** What stands behind a backslash for a character that is not itself. */
const escaped = new Map([...'bfnrt'].map((letter, n) => [letter.charCodeAt(0), '\b\f\n\r\t'.charCodeAt(n)]));
const UNICODE = 0x75;

/** Writes the text between the quotes at `from` and before `to`; there must be room. @returns where it ends. */
export function writeText(bytes: Buffer, from: number, to: number, target: Buffer, start: number): number {
  let at = start;
  for (let n = from + 1; n < to - 1; n += 1) {
    let byte = bytes[n]!;
    if (byte === BACKSLASH) {
      n += 1;
      byte = bytes[n]!;
      if (byte === UNICODE) {
        const code = Number.parseInt(bytes.toString('latin1', n + 1, n + 5), 16);
        n += 4;
        at += target.write(String.fromCharCode(code), at);
        continue;
      }
      byte = escaped.get(byte) ?? byte;
    }
    target[at] = byte;
    at += 1;
  }
  return at;
}
