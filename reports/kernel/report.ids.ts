/** Bytes of an id, and characters of its text. */
export const ID = { bytes: 16, text: 36 };

const WORDS = 4;
/** Where the text of an id has the digits of each byte. */
const PAIRS = Uint8Array.of(0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34);
const DASH = 0x2d;
const hex = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, '0'));
/** The two digits of each byte, and what each digit is worth. */
const high = Uint8Array.from(hex, (text) => text.charCodeAt(0));
const low = Uint8Array.from(hex, (text) => text.charCodeAt(1));
const digits = new Uint8Array(256);
for (let n = 0; n < 16; n += 1) digits[low[n]!] = n;

const idBytes = Buffer.alloc(ID.bytes);

/** The bytes of the id whose text stands there, until the next are asked for. */
function bytesOf(lines: Buffer, at: number): Buffer {
  for (let n = 0; n < ID.bytes; n += 1) {
    const pair = at + PAIRS[n]!;
    idBytes[n] = digits[lines[pair]!]! * 16 + digits[lines[pair + 1]!]!;
  }
  return idBytes;
}

/**
 * Numbers for ids, from 0 in the order in which they come. Ids are read where they stand in what the database sent, so
 * that hundreds of thousands are looked up without a string for each.
 */
export class IdNumbers {
  readonly #words: Int32Array;
  /** A number and 1, or 0 for a free place; at least half are free. */
  readonly #places: Int32Array;
  #count = 0;

  /** @param most ids that will come. */
  constructor(most: number) {
    this.#words = new Int32Array(most * WORDS);
    let places = 16;
    while (places < most * 2) places *= 2;
    this.#places = new Int32Array(places);
  }

  /** How many ids there are. */
  get count(): number {
    return this.#count;
  }

  /** The number of the id whose text stands there; a new one is numbered. */
  addText(lines: Buffer, at: number): number {
    return this.add(bytesOf(lines, at), 0);
  }

  /** The number of the id whose text stands there, -1 for none. */
  findText(lines: Buffer, at: number): number {
    return this.find(bytesOf(lines, at), 0);
  }

  /** Writes the text of the id with the number. */
  writeText(number: number, into: Uint8Array, at: number): void {
    const words = this.#words;
    const from = number * WORDS;
    // step by step: a loop over the bytes takes four times as long
    const second = words[from + 1]!;
    const third = words[from + 2]!;
    writeWord(words[from]!, into, at);
    into[at + 8] = DASH;
    writeHalf(second >>> 16, into, at + 9);
    into[at + 13] = DASH;
    writeHalf(second, into, at + 14);
    into[at + 18] = DASH;
    writeHalf(third >>> 16, into, at + 19);
    into[at + 23] = DASH;
    writeHalf(third, into, at + 24);
    writeWord(words[from + 3]!, into, at + 28);
  }

  /** The number of the id whose bytes stand there; a new one is numbered. */
  add(bytes: Buffer, at: number): number {
    const place = this.#placeOf(bytes, at);
    const known = this.#places[place]!;
    if (known > 0) return known - 1;
    const number = this.#count;
    for (let n = 0; n < WORDS; n += 1) this.#words[number * WORDS + n] = word(bytes, at + n * 4);
    this.#count += 1;
    this.#places[place] = this.#count;
    return number;
  }

  /** The number of the id whose bytes stand there, -1 for none. */
  find(bytes: Buffer, at: number): number {
    return this.#places[this.#placeOf(bytes, at)]! - 1;
  }

  /** Below 0 when the id of the first number comes before that of the second, as the database orders ids. */
  compare(first: number, second: number): number {
    for (let n = 0; n < WORDS; n += 1) {
      const difference = (this.#words[first * WORDS + n]! >>> 0) - (this.#words[second * WORDS + n]! >>> 0);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /** The place that holds the id, or where it would be put. */
  #placeOf(bytes: Buffer, at: number): number {
    const a = word(bytes, at);
    const b = word(bytes, at + 4);
    const c = word(bytes, at + 8);
    const d = word(bytes, at + 12);
    const words = this.#words;
    const places = this.#places;
    let mixed = Math.imul(a, 0x9e3779b1) ^ b;
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) ^ c;
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35) ^ d;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x9e3779b1);
    mixed ^= mixed >>> 15;
    for (let place = mixed & (places.length - 1); ; place = (place + 1) & (places.length - 1)) {
      const known = places[place]!;
      if (known === 0) return place;
      const from = (known - 1) * WORDS;
      if (words[from + 3] === d && words[from + 2] === c && words[from + 1] === b && words[from] === a)
        return place;
    }
  }
}

// signed, since that is what fits into a small integer
const word = (bytes: Buffer, at: number): number =>
  (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;

/** Writes the digits of a word's lower half. */
function writeHalf(half: number, into: Uint8Array, at: number): void {
  const first = (half >>> 8) & 0xff;
  const second = half & 0xff;
  into[at] = high[first]!;
  into[at + 1] = low[first]!;
  into[at + 2] = high[second]!;
  into[at + 3] = low[second]!;
}

function writeWord(word: number, into: Uint8Array, at: number): void {
  writeHalf(word >>> 16, into, at);
  writeHalf(word, into, at + 4);
}
