import type { ColumnType } from './formats.types.ts';

/** Types of columns that hold one value a row, which are written here; the library writes the others. */
export type FlatType = 'text' | 'key' | 'number' | 'boolean' | 'date' | 'datetime';

/** Bytes of a value; texts have the four of their length before them, and what is true or false becomes bits later. */
const widths = { text: undefined, key: undefined, number: 8, boolean: 1, date: 4, datetime: 8 } as const;

/** Whether the values of a type are gathered by {@link FlatColumn}. */
export const isFlat = (type: ColumnType): type is FlatType => type in widths;

/** Below this length a loop copies sooner than a call does. */
const SHORT = 32;
const TWO_TO_32 = 0x1_0000_0000;

/**
 * A column of a row group: which rows have a value (1), and those values one after the other as Parquet's plain encoding
 * has them. Its memory is used again for the row groups that follow, and no object is made for a value.
 */
export class FlatColumn {
  readonly name: string;
  readonly type: FlatType;
  /** Whether readers are told the least and the greatest value. */
  readonly bounded: boolean;
  /** Bytes of each value; undefined for texts. */
  readonly width: 1 | 4 | 8 | undefined;
  present = new Uint8Array(0);
  bytes = Buffer.allocUnsafeSlow(1024);
  #view = new DataView(this.bytes.buffer);
  /** Bytes of the values. */
  used = 0;
  /** How many values there are. */
  count = 0;

  constructor(name: string, type: FlatType, bounded: boolean) {
    this.name = name;
    this.type = type;
    this.bounded = bounded;
    this.width = widths[type];
  }

  /** Begins a row group of so many rows. */
  restart(rows: number): void {
    if (this.present.length === rows) this.present.fill(0);
    else this.present = new Uint8Array(rows);
    this.used = 0;
    this.count = 0;
  }

  /** Adds a text of UTF-8. */
  addBytes(row: number, source: Buffer, from: number, to: number): void {
    const length = to - from;
    this.#begin(row, 4 + length);
    this.#view.setUint32(this.used, length, true);
    const at = this.used + 4;
    if (length < SHORT) {
      const { bytes } = this;
      for (let n = 0; n < length; n += 1) bytes[at + n] = source[from + n]!;
    } else {
      source.copy(this.bytes, at, from, to);
    }
    this.used = at + length;
  }

  /** Adds a value: a text, a number (1 for what is true), the days or the milliseconds since 1970. */
  add(row: number, value: string | number): void {
    if (typeof value === 'string') {
      this.#addText(row, value);
      return;
    }
    this.#begin(row, 8);
    const view = this.#view;
    if (this.type === 'number') {
      view.setFloat64(this.used, value, true);
    } else if (this.type === 'boolean') {
      view.setUint8(this.used, value);
    } else if (this.type === 'date') {
      view.setInt32(this.used, value, true);
    } else {
      const high = Math.floor(value / TWO_TO_32);
      view.setUint32(this.used, value - high * TWO_TO_32, true);
      view.setInt32(this.used + 4, high, true);
    }
    this.used += this.width!;
  }

  /** Where the value that begins at `from` ends. */
  endOf(from: number): number {
    return from + (this.width ?? 4 + this.#view.getUint32(from, true));
  }

  /** The value that begins at `from`; times as they are in the file. */
  valueAt(from: number): string | number | bigint {
    if (this.type === 'number') return this.#view.getFloat64(from, true);
    if (this.type === 'date') return this.#view.getInt32(from, true);
    if (this.type === 'datetime') return this.#view.getBigInt64(from, true);
    return this.bytes.toString('utf8', from + 4, this.endOf(from));
  }

  /** The least and the greatest value, texts by their bytes, as the format compares them. */
  bounds(): { min_value?: string | number | bigint; max_value?: string | number | bigint } {
    if (this.count === 0) return {};
    let least = 0;
    let greatest = 0;
    for (let at = this.endOf(0); at < this.used; at = this.endOf(at)) {
      if (this.#compare(at, least) < 0) least = at;
      else if (this.#compare(at, greatest) > 0) greatest = at;
    }
    return { min_value: this.valueAt(least), max_value: this.valueAt(greatest) };
  }

  #compare(one: number, other: number): number {
    if (this.width === undefined) {
      const { bytes } = this;
      return bytes.compare(bytes, other + 4, this.endOf(other), one + 4, this.endOf(one));
    }
    if (this.type === 'datetime') {
      const high = this.#view.getInt32(one + 4, true) - this.#view.getInt32(other + 4, true);
      return high !== 0 ? high : this.#view.getUint32(one, true) - this.#view.getUint32(other, true);
    }
    return (this.valueAt(one) as number) - (this.valueAt(other) as number);
  }

  #addText(row: number, text: string): void {
    // a unit of UTF-16 takes three bytes at most
    this.#begin(row, 4 + 3 * text.length);
    const length = this.bytes.write(text, this.used + 4);
    this.#view.setUint32(this.used, length, true);
    this.used += 4 + length;
  }

  /** Notes that a row has a value, and makes room for it. */
  #begin(row: number, room: number): void {
    this.present[row] = 1;
    this.count += 1;
    if (this.used + room <= this.bytes.length) return;
    const before = this.bytes;
    this.bytes = Buffer.allocUnsafeSlow(Math.max(before.length * 2, this.used + room));
    this.#view = new DataView(this.bytes.buffer);
    before.copy(this.bytes, 0, 0, this.used);
  }
}
