import { type Chunk, rowScanner } from './binary-rows.ts';
import type { Column } from './formats.types.ts';

const QUOTE = 0x22;

/** Marks bytes by their code, for {@link LineWriter.copyUnless}. */
export function marked(...codes: number[]): Uint8Array {
  const table = new Uint8Array(256);
  for (const code of codes) table[code] = 1;
  return table;
}

/** A growing buffer for lines. Space is reserved before a line is written. */
export class LineWriter {
  #out = Buffer.alloc(0);
  #length = 0;

  /** Starts a new buffer. */
  start(capacity: number): void {
    this.#out = Buffer.from(new ArrayBuffer(capacity));
    this.#length = 0;
  }

  reserve(bytes: number): void {
    if (this.#out.length - this.#length >= bytes) return;
    const larger = Buffer.from(new ArrayBuffer(2 * this.#out.length + bytes));
    this.#out.copy(larger, 0, 0, this.#length);
    this.#out = larger;
  }

  byte(code: number): void {
    this.#out[this.#length] = code;
    this.#length += 1;
  }

  text(text: string): void {
    this.#length += this.#out.write(text, this.#length);
  }

  copy(bytes: Uint8Array, from: number, to: number): void {
    const out = this.#out;
    let end = this.#length;
    for (let at = from; at < to; at += 1) {
      out[end] = bytes[at]!;
      end += 1;
    }
    this.#length = end;
  }

  /** Copies bytes unless one is marked. @returns whether they were copied. */
  copyUnless(special: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
    const out = this.#out;
    let seen = 0;
    let end = this.#length;
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at]!;
      seen |= special[byte]!;
      out[end] = byte;
      end += 1;
    }
    if (seen === 0) this.#length = end;
    return seen === 0;
  }

  /** {@link copyUnless}, in quotes. */
  copyQuoted(special: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
    const before = this.#length;
    this.byte(QUOTE);
    const isCopied = this.copyUnless(special, bytes, from, to);
    if (isCopied) this.byte(QUOTE);
    else this.#length = before;
    return isCopied;
  }

  /** What was written since the start; the writer does not use its memory any more. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = new Uint8Array(this.#out.buffer as ArrayBuffer, 0, this.#length);
    this.start(0);
    return taken;
  }
}

/** The places of the values of a row in a chunk, by column; a value that starts below 0 is null. */
export interface PlacedRow {
  chunk: Chunk;
  starts: Int32Array;
  ends: Int32Array;
  /** 1 for values of attributes, which are JSON. */
  isJson: Uint8Array;
}

/** Makes lines of groups of chunks with rows in the binary format of COPY. */
export type LineEncoder = (chunks: readonly Buffer[]) => Uint8Array<ArrayBuffer>;

/**
 * An encoder that writes the line of a row at a time.
 * @param growth the largest quotient of the bytes of a text in a line and in the row. @param fixed bytes of a line besides its values.
 */
export function lineEncoder(
  columns: Column[],
  { growth, fixed }: { growth: number; fixed: number },
  writeLine: (row: PlacedRow, out: LineWriter) => void,
): LineEncoder {
  const out = new LineWriter();
  const row: PlacedRow = {
    chunk: { bytes: Buffer.alloc(0), characters: '' },
    starts: new Int32Array(columns.length).fill(-1),
    ends: new Int32Array(columns.length),
    isJson: new Uint8Array(columns.length),
  };
  let size = fixed;
  const scan = rowScanner(
    columns,
    (at, chunk, from, to, isJson) => {
      row.chunk = chunk;
      row.starts[at] = from;
      row.ends[at] = to;
      row.isJson[at] = isJson ? 1 : 0;
      // a number or a time takes up to 32 characters
      size += growth * (to - from) + 32;
    },
    () => {
      out.reserve(size);
      writeLine(row, out);
      row.starts.fill(-1);
      size = fixed;
    },
  );
  return (chunks) => {
    out.start(Math.ceil(1.25 * chunks.reduce((sum, chunk) => sum + chunk.length, 0)));
    for (const chunk of chunks) scan(chunk);
    return out.take();
  };
}
