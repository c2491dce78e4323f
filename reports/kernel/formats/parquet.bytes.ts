import { ByteWriter } from 'hyparquet-writer';

/** Bytes that are written again and again into the same memory. */
export class Bytes extends ByteWriter {
  restart(): void {
    this.index = 0;
    this.offset = 0;
  }
}
