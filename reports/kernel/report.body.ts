import { ID, type IdNumbers } from './report.ids.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
/** So few bytes are written one by one sooner than a copy of them is called. */
const FEW = 48;

/**
 * The text of a long answer, written where it is sent from: of tens of thousands of pieces there would be an object for
 * each, and then all of them once more as one.
 */
export class ReportBody {
  #bytes: Buffer;
  #used = 0;

  /** @param expected bytes; more than that costs a copy of the whole. */
  constructor(expected: number) {
    this.#bytes = Buffer.allocUnsafeSlow(expected);
  }

  /** Bytes that have been written. */
  get length(): number {
    return this.#used;
  }

  text(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#room(bytes);
    this.#used += this.#bytes.write(text, this.#used);
  }

  /** What stands in another buffer. */
  copy(source: Buffer, from = 0, to = source.length): void {
    this.#room(to - from);
    const bytes = this.#bytes;
    let at = this.#used;
    this.#used = at + to - from;
    if (to - from > FEW) source.copy(bytes, at, from, to);
    else for (let n = from; n < to; n += 1, at += 1) bytes[at] = source[n]!;
  }

  /** What has been written before, once more. */
  again(from: number, to: number): void {
    this.#room(to - from);
    this.#bytes.copyWithin(this.#used, from, to);
    this.#used += to - from;
  }

  /** The ids of some numbers, each between quotes, with commas between them. */
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

  /** Takes back what was written last. */
  takeBack(bytes: number): void {
    this.#used -= bytes;
  }

  /** All that has been written. */
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
