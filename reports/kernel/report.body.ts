import { ID, type IdNumbers } from './report.ids.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
/** Up to this number of bytes a loop is faster than `Buffer.copy`. */
const FEW = 48;

/**
 * A growing buffer for a long response body. It avoids an object per chunk and a final concatenation.
 */
export class ReportBody {
  #bytes: Buffer;
  #used = 0;

  /** @param expected bytes; growing beyond it copies the buffer. */
  constructor(expected: number) {
    this.#bytes = Buffer.allocUnsafeSlow(expected);
  }

  /** Number of written bytes. */
  get length(): number {
    return this.#used;
  }

  text(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#room(bytes);
    this.#used += this.#bytes.write(text, this.#used);
  }

  /** Appends a range of another buffer. */
  copy(source: Buffer, from = 0, to = source.length): void {
    this.#room(to - from);
    const bytes = this.#bytes;
    let at = this.#used;
    this.#used = at + to - from;
    if (to - from > FEW) source.copy(bytes, at, from, to);
    else for (let n = from; n < to; n += 1, at += 1) bytes[at] = source[n]!;
  }

  /** Appends a range that was written before. */
  again(from: number, to: number): void {
    this.#room(to - from);
    this.#bytes.copyWithin(this.#used, from, to);
    this.#used += to - from;
  }

  /** Appends the ids of some numbers, quoted and separated by commas. */
  ids(ids: IdNumbers, numbers: Int32Array, from: number, to: number): void {
    this.#room((to - from) * (ID.text + 3));
    const bytes = this.#bytes;
    let at = this.#used;
    for (let n = from; n < to; n += 1) {
      if (n > from) {
        bytes[at] = COMMA;
        at += 1;
      }
      bytes[at] = QUOTE;
      ids.writeText(numbers[n]!, bytes, at + 1);
      at += ID.text + 2;
      bytes[at - 1] = QUOTE;
    }
    this.#used = at;
  }

  /** Removes the last bytes. */
  takeBack(bytes: number): void {
    this.#used -= bytes;
  }

  /** All written bytes. */
  whole(): Buffer {
    return this.#bytes.subarray(0, this.#used);
  }

  #room(bytes: number): void {
    const needed = this.#used + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.ceil(needed * 1.25));
    this.#bytes.copy(larger, 0, 0, this.#used);
    this.#bytes = larger;
  }
}
