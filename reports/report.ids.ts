/** Bytes of an id, and characters of its text. */
export const ID = { bytes: 16, text: 36 };

const WORDS = 4;
/** Where the text of an id has the digits of each byte, and where it has dashes. */
const PAIRS = Uint8Array.of(0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34);
const DASHES = [8, 13, 18, 23];
const DASH = 0x2d;
const HEX = '0123456789abcdef';
/** The character of each digit, and what each character is worth. */
const characters = Uint8Array.from(HEX, (digit) => digit.charCodeAt(0));
const digits = new Uint8Array(256);
for (const [worth, character] of characters.entries()) digits[character] = worth;

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
    for (let n = 0; n < WORDS; n += 1) {
      const word = this.#words[number * WORDS + n]!;
      for (let byte = 0; byte < 4; byte += 1) {
        const pair = at + PAIRS[n * 4 + byte]!;
        const shift = 24 - byte * 8;
        into[pair] = characters[(word >>> (shift + 4)) & 15]!;
        into[pair + 1] = characters[(word >>> shift) & 15]!;
      }
    }
    for (const dash of DASHES) into[at + dash] = DASH;
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
