import { ByteWriter } from 'hyparquet-writer';

/** Bytes that are written again and again into the same memory. */
export class Bytes extends ByteWriter {
  #whole = Buffer.from(this.buffer);

  restart(): void {
    this.index = 0;
    this.offset = 0;
  }

  /** A text in UTF-8 after its length, as Parquet has it. */
  appendText(text: string): void {
    // a unit of UTF-16 takes three bytes at most
    this.ensure(4 + text.length * 3);
    if (this.#whole.buffer !== this.buffer) this.#whole = Buffer.from(this.buffer);
    const length = this.#whole.write(text, this.index + 4);
    this.view.setUint32(this.index, length, true);
    this.index += 4 + length;
    this.offset += 4 + length;
  }
}
