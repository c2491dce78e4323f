import type { Bytes } from './parquet.bytes.ts';

/** Eight values of 0 and 1 as the bits of a byte, the first one lowest; those beyond the end are 0. */
function bitsAt(values: Uint8Array, at: number): number {
  if (at + 8 <= values.length) {
    return (
      values[at]! |
      (values[at + 1]! << 1) |
      (values[at + 2]! << 2) |
      (values[at + 3]! << 3) |
      (values[at + 4]! << 4) |
      (values[at + 5]! << 5) |
      (values[at + 6]! << 6) |
      (values[at + 7]! << 7)
    );
  }
  let bits = 0;
  for (let n = at; n < values.length; n += 1) bits |= values[n]! << (n - at);
  return bits;
}

/** Values of 0 and 1 as bits: the plain encoding of what is true or false. */
export function packBits(values: Uint8Array): Uint8Array {
  const packed = new Uint8Array(Math.ceil(values.length / 8));
  for (let n = 0; n < packed.length; n += 1) packed[n] = bitsAt(values, n * 8);
  return packed;
}

/** Bytes of one value from which on a run takes less than its bits. */
const RUN = 4;

/** Writes levels of 0 and 1 in the encoding of runs and bits (RLE). @param ones how many of them are 1. */
export function writeLevels(writer: Bytes, values: Uint8Array, ones: number): void {
  if (ones === 0 || ones === values.length) {
    writeRun(writer, values.length, ones === 0 ? 0 : 1);
    return;
  }
  const packed = packBits(values);
  let begun = 0;
  for (let n = 0; n < packed.length; ) {
    const byte = packed[n]!;
    let end = n + 1;
    if (byte === 0 || byte === 255) while (packed[end] === byte) end += 1;
    if (end - n >= RUN) {
      writeBits(writer, packed.subarray(begun, n));
      writeRun(writer, Math.min(end * 8, values.length) - n * 8, byte & 1);
      begun = end;
    }
    n = end;
  }
  writeBits(writer, packed.subarray(begun));
}

function writeRun(writer: Bytes, length: number, value: number): void {
  writer.appendVarInt(length << 1);
  writer.appendUint8(value);
}

function writeBits(writer: Bytes, packed: Uint8Array): void {
  if (packed.length === 0) return;
  writer.appendVarInt((packed.length << 1) | 1);
  writer.appendBytes(packed);
}
