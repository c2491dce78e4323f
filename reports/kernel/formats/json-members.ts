import type { Cell } from './formats.types.ts';

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;
const CLOSE_LIST = 0x5d;
const CLOSE_OBJECT = 0x7d;

/** The end of the string that begins at a position of a JSON text. */
function endOfString(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); ; at = json.indexOf('"', at + 1)) {
    let before = at - 1;
    while (json.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 1) return at + 1;
  }
}

/** The end of a member's value that begins at a position of a JSON text: the comma or brace after it. */
function endOfValue(json: string, start: number): number {
  let depth = 0;
  for (let at = start; ; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at) - 1;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) depth += 1;
    else if (code === COMMA || code === CLOSE_LIST || code === CLOSE_OBJECT) {
      if (depth === 0) return at;
      if (code !== COMMA) depth -= 1;
    }
  }
}

/**
 * Calls a function with the key and the place of the value of each member of an object that is not null, without parsing values.
 * @param json a text that contains, between two positions, an object as PostgreSQL writes it. Keys with escapes are passed with them.
 */
export function eachMember(
  json: string,
  start: number,
  end: number,
  onMember: (key: string, from: number, to: number) => void,
): void {
  // after the brace or comma before each key
  for (let at = start + 1; at < end - 1; at += 1) {
    while (json.charCodeAt(at) === SPACE) at += 1;
    const afterKey = endOfString(json, at);
    let from = afterKey + 1;
    while (json.charCodeAt(from) === SPACE) from += 1;
    const to = endOfValue(json, from);
    if (json[from] !== 'n') onMember(json.slice(at + 1, afterKey - 1), from, to);
    at = to;
  }
}

/** The cell of a JSON value. */
export function jsonCell(json: string): Cell {
  return json[0] === '"' && !json.includes('\\') ? json.slice(1, -1) : JSON.parse(json);
}
