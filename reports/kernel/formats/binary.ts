// What stands in the values of a row as PostgreSQL's binary format has it.

/** PostgreSQL counts the microseconds since this moment. */
const EPOCH_MS = Date.UTC(2000, 0, 1);

/** The four bytes of a length, or of a number, with its sign. */
export const int32At = (bytes: Uint8Array, at: number): number =>
  (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;

/** A moment, in milliseconds since 1970; beyond all that `Date` knows for `infinity`. */
export function msAt(bytes: Uint8Array, at: number): number {
  const micros = int32At(bytes, at) * 0x1_0000_0000 + (int32At(bytes, at + 4) >>> 0);
  return Math.floor(micros / 1000) + EPOCH_MS;
}

const hex = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, '0'));
const high = Uint8Array.from(hex, (text) => text.charCodeAt(0));
const low = Uint8Array.from(hex, (text) => text.charCodeAt(1));

/** Bytes of an id as text. */
export const ID_TEXT = 36;
const DASH = 0x2d;

/** Writes the sixteen bytes of an id as text; there must be room. @returns where the text ends. */
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

/** Bytes of a moment as text. */
export const TIME_TEXT = 24;
const DAY_MS = 86_400_000;
const ZERO = 0x30;
const COLON = 0x3a;
const POINT = 0x2e;
const ZULU = 0x5a;

/** The days that were written last: those of a landscape are few. */
const days = new Map<number, Buffer>();
const MOST_DAYS = 10_000;

function dayText(day: number): Buffer {
  let text = days.get(day);
  if (!text) {
    if (days.size === MOST_DAYS) days.clear();
    text = Buffer.from(new Date(day * DAY_MS).toISOString().slice(0, 11));
    days.set(day, text);
  }
  return text;
}

const tens = Uint8Array.from({ length: 100 }, (_, n) => ZERO + Math.floor(n / 10));
const ones = Uint8Array.from({ length: 100 }, (_, n) => ZERO + (n % 10));

/** Writes a moment as RFC 3339 in UTC with milliseconds; there must be room. @returns where the text ends. */
export function writeTime(source: Uint8Array, from: number, target: Uint8Array, start: number): number {
  const ms = msAt(source, from);
  const day = Math.floor(ms / DAY_MS);
  const text = dayText(day);
  let at = start;
  for (let n = 0; n < text.length; n += 1, at += 1) target[at] = text[n]!;
  // whole numbers of 32 bits from here on
  const rest = (ms - day * DAY_MS) | 0;
  const seconds = (rest / 1000) | 0;
  const minutes = (seconds / 60) | 0;
  const hours = (minutes / 60) | 0;
  const fraction = rest - seconds * 1000;
  const hundreds = (fraction / 100) | 0;
  const [minute, second] = [minutes - hours * 60, seconds - minutes * 60];
  target[at] = tens[hours]!;
  target[at + 1] = ones[hours]!;
  target[at + 2] = COLON;
  target[at + 3] = tens[minute]!;
  target[at + 4] = ones[minute]!;
  target[at + 5] = COLON;
  target[at + 6] = tens[second]!;
  target[at + 7] = ones[second]!;
  target[at + 8] = POINT;
  target[at + 9] = ZERO + hundreds;
  target[at + 10] = tens[fraction - hundreds * 100]!;
  target[at + 11] = ones[fraction - hundreds * 100]!;
  target[at + 12] = ZULU;
  return at + 13;
}

/** A number of eight bytes. */
const view = new DataView(new ArrayBuffer(8));

/** The number that stands there. */
export function floatAt(bytes: Uint8Array, at: number): number {
  for (let n = 0; n < 8; n += 1) view.setUint8(n, bytes[at + n]!);
  return view.getFloat64(0);
}

/** The numbers that were written last: most are qualities and costs in round figures. */
const numbers = new Map<number, Buffer>();
const MOST_NUMBERS = 10_000;

/** Writes a number as JavaScript shows it; there must be room. @returns where the text ends. */
export function writeNumber(value: number, target: Uint8Array, start: number): number {
  let text = numbers.get(value);
  if (!text) {
    if (numbers.size === MOST_NUMBERS) numbers.clear();
    text = Buffer.from(String(value));
    numbers.set(value, text);
  }
  let at = start;
  for (let n = 0; n < text.length; n += 1, at += 1) target[at] = text[n]!;
  return at;
}

/** From so many bytes on a call copies sooner than a loop does. */
const MANY = 48;

/** Copies bytes; there must be room. @returns where they end. */
export function copyBytes(source: Buffer, from: number, to: number, target: Buffer, start: number): number {
  if (to - from >= MANY) source.copy(target, start, from, to);
  else for (let n = from, at = start; n < to; n += 1, at += 1) target[at] = source[n]!;
  return start + to - from;
}
