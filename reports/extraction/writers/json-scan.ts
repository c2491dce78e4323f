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

/** Tells each member of the object that begins at `from`: its key, and where its value stands. */
export function eachMember(
  bytes: Buffer,
  from: number,
  tell: (key: string, from: number, to: number) => void,
): void {
  let at = from + 1;
  while (bytes[at] === QUOTE) {
    const end = endOfText(bytes, at);
    const plain = bytes.toString('utf8', at + 1, end - 1);
    const key = plain.includes('\\') ? (JSON.parse(`"${plain}"`) as string) : plain;
    const start = end + BETWEEN;
    const to = endOfValue(bytes, start);
    tell(key, start, to);
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
