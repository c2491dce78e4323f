import { ID_TEXT, int32At } from './report.json-rows.ts';

/** Bytes of an id, and characters of its text. */
export const ID = { bytes: 16, text: ID_TEXT };

const WORDS = 4;
/** Offset of each byte's two digits in the text of an id. */
const PAIRS = Uint8Array.of(0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34);
/** Values by hexadecimal digit. */
const digits = new Uint8Array(256);
for (let n = 0; n < 16; n += 1) digits[n.toString(16).charCodeAt(0)] = n;

const idBytes = Buffer.alloc(ID.bytes);

/** Parses the id at an offset; the returned buffer is reused by the next call. */
function bytesOf(lines: Buffer, at: number): Buffer {
  for (let n = 0; n < ID.bytes; n += 1) {
    const pair = at + PAIRS[n]!;
    idBytes[n] = digits[lines[pair]!]! * 16 + digits[lines[pair + 1]!]!;
  }
  return idBytes;
}

/**
 * Assigns numbers to ids, from 0 in order of insertion: an open-addressing hash table that reads ids directly from database
 * output, so that hundreds of thousands of lookups need no strings.
 */
export class IdNumbers {
  readonly #words: Int32Array;
  /** Slots: the number plus 1, or 0 for a free slot; at least half are free. */
  readonly #places: Int32Array;
  #count = 0;

  /** @param most maximum number of ids. */
  constructor(most: number) {
    this.#words = new Int32Array(most * WORDS);
    let places = 16;
    while (places < most * 2) places *= 2;
    this.#places = new Int32Array(places);
  }

  /** Number of ids. */
  get count(): number {
    return this.#count;
  }

  /** The number of the id with its text at an offset; a new id gets the next number. */
  addText(lines: Buffer, at: number): number {
    return this.add(bytesOf(lines, at), 0);
  }

  /** The number of the id with its text at an offset; -1 if unknown. */
  findText(lines: Buffer, at: number): number {
    return this.find(bytesOf(lines, at), 0);
  }

  /** The number of the id with its bytes at an offset; a new id gets the next number. */
  add(bytes: Buffer, at: number): number {
    const place = this.#placeOf(bytes, at);
    const known = this.#places[place]!;
    if (known > 0) return known - 1;
    const number = this.#count;
    for (let n = 0; n < WORDS; n += 1) this.#words[number * WORDS + n] = int32At(bytes, at + n * 4);
    this.#count += 1;
    this.#places[place] = this.#count;
    return number;
  }

  /** The number of the id with its bytes at an offset; -1 if unknown. */
  find(bytes: Buffer, at: number): number {
    return this.#places[this.#placeOf(bytes, at)]! - 1;
  }

  /** Compares two ids by their numbers, in PostgreSQL's order of UUIDs. */
  compare(first: number, second: number): number {
    for (let n = 0; n < WORDS; n += 1) {
      const difference = (this.#words[first * WORDS + n]! >>> 0) - (this.#words[second * WORDS + n]! >>> 0);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /** The slot of the id, or the free slot for it. */
  #placeOf(bytes: Buffer, at: number): number {
    const a = int32At(bytes, at);
    const b = int32At(bytes, at + 4);
    const c = int32At(bytes, at + 8);
    const d = int32At(bytes, at + 12);
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
