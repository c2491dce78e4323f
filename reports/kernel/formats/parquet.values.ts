import { type ColumnValues, packBits } from './parquet.pages.ts';

export type PhysicalType = 'DOUBLE' | 'BOOLEAN' | 'INT32' | 'INT64';

/** Texts as strings of one character per byte of UTF-8. */
export class TextValues implements ColumnValues {
  readonly #distinct: string[] = [];
  readonly #indexes: number[] = [];
  readonly #known: Map<string, number> | null;
  #bytes = 0;

  /** @param repeats whether texts are likely to repeat. */
  constructor(repeats: boolean) {
    this.#known = repeats ? new Map() : null;
  }

  get count(): number {
    return this.#known ? this.#indexes.length : this.#distinct.length;
  }

  add(text: string): void {
    this.#bytes += text.length + 4;
    let index = this.#known?.get(text);
    if (index === undefined) {
      index = this.#distinct.push(text) - 1;
      this.#known?.set(text, index);
    }
    if (this.#known) this.#indexes.push(index);
  }

  plain(): Uint8Array {
    return this.#write(this.#known ? this.#indexes.map((index) => this.#distinct[index]!) : this.#distinct);
  }

  dictionary() {
    const size = this.#distinct.reduce((sum, text) => sum + text.length + 4, 0);
    if (!this.#known || this.#known.size === 0 || size * 2 > this.#bytes) return null;
    return { count: this.#distinct.length, plain: this.#write(this.#distinct), indexes: this.#indexes };
  }

  /** The smallest and the largest in the order of the bytes. */
  bounds(): [string, string] {
    let [min, max] = [this.#distinct[0]!, this.#distinct[0]!];
    for (const text of this.#distinct) {
      if (text < min) min = text;
      if (text > max) max = text;
    }
    return [min, max];
  }

  #write(texts: readonly string[]): Uint8Array {
    const out = Buffer.allocUnsafeSlow(texts.reduce((sum, text) => sum + text.length + 4, 0));
    let at = 0;
    for (const text of texts) {
      at = out.writeUInt32LE(text.length, at);
      at += out.write(text, at, 'latin1');
    }
    return out;
  }
}

/** Numbers, and what is stored as a number: dates in days and times in milliseconds since 1970, booleans as 0 and 1. */
export class NumberValues implements ColumnValues {
  readonly #values: number[] = [];
  readonly #type: PhysicalType;

  constructor(type: PhysicalType) {
    this.#type = type;
  }

  get count(): number {
    return this.#values.length;
  }

  add(value: number): void {
    this.#values.push(value);
  }

  plain(): Uint8Array {
    if (this.#type === 'BOOLEAN') return packBits(this.#values, 1).subarray(0, Math.ceil(this.count / 8));
    const array =
      this.#type === 'DOUBLE'
        ? Float64Array.from(this.#values)
        : this.#type === 'INT32'
          ? Int32Array.from(this.#values)
          : BigInt64Array.from(this.#values, BigInt);
    return new Uint8Array(array.buffer);
  }

  dictionary(): null {
    return null;
  }

  bounds(): [number | bigint, number | bigint] {
    const min = this.#values.reduce((found, value) => Math.min(found, value));
    const max = this.#values.reduce((found, value) => Math.max(found, value));
    return this.#type === 'INT64' ? [BigInt(min), BigInt(max)] : [min, max];
  }
}
