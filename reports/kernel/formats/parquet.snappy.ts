/** Bits of the hash by which a place with the same four bytes is found. */
const HASH_BITS = 14;
/** How far back a copy may reach. */
const REACH = 0xffff;
/** So many bytes at the end are not looked at, so that four can always be read. */
const MARGIN = 15;
/** Below this length a loop copies sooner than a call does. */
const SHORT = 24;

const table = new Int32Array(1 << HASH_BITS);
let out = Buffer.allocUnsafeSlow(1 << 16);
let used = 0;

const hashOf = (word: number): number => Math.imul(word, 0x1e35a7bd) >>> (32 - HASH_BITS);

/**
 * Compresses bytes as Snappy's format description has it.
 * @returns memory that is used again for the next bytes.
 */
export function snappy(input: Uint8Array): Uint8Array {
  const { length } = input;
  // what literals take at most, as the reference has it
  const most = 32 + length + Math.floor(length / 6);
  if (out.length < most) out = Buffer.allocUnsafeSlow(most);
  used = 0;
  let rest = length;
  for (; rest > 127; rest >>>= 7) out[used++] = (rest & 127) | 128;
  out[used++] = rest;
  const view = new DataView(input.buffer, input.byteOffset, length);
  const written = length > MARGIN ? matches(input, view, length - MARGIN) : 0;
  if (written < length) literal(input, written, length);
  return out.subarray(0, used);
}

/** Writes all up to the last match. @returns where that ends. */
function matches(input: Uint8Array, view: DataView, limit: number): number {
  table.fill(0);
  let written = 0;
  let at = 1;
  for (;;) {
    let place = 0;
    // the longer nothing is found, the less is looked at
    for (let skip = 32; ; skip += 1) {
      if (at > limit) return written;
      const word = view.getInt32(at, true);
      const hash = hashOf(word);
      place = table[hash]!;
      table[hash] = at;
      if (at - place <= REACH && view.getInt32(place, true) === word) break;
      at += skip >>> 5;
    }
    literal(input, written, at);
    for (;;) {
      let same = 4;
      while (at + same < input.length && input[at + same] === input[place + same]) same += 1;
      copy(at - place, same);
      at += same;
      written = at;
      if (at > limit) return written;
      table[hashOf(view.getInt32(at - 1, true))] = at - 1;
      const word = view.getInt32(at, true);
      const hash = hashOf(word);
      place = table[hash]!;
      table[hash] = at;
      if (at - place > REACH || view.getInt32(place, true) !== word) break;
    }
    at += 1;
  }
}

/** Writes bytes as they are. */
function literal(input: Uint8Array, from: number, to: number): void {
  const length = to - from;
  if (length === 0) return;
  const rest = length - 1;
  if (rest < 60) {
    out[used++] = rest << 2;
  } else {
    const tag = used;
    used += 1;
    for (let more = rest; more > 0; more >>>= 8) out[used++] = more & 255;
    out[tag] = (59 + used - tag - 1) << 2;
  }
  if (length < SHORT) for (let n = from; n < to; n += 1) out[used++] = input[n]!;
  else {
    out.set(input.subarray(from, to), used);
    used += length;
  }
}

/** Writes that so many bytes stand a distance before as well. */
function copy(distance: number, length: number): void {
  let rest = length;
  while (rest >= 68) {
    part(distance, 64);
    rest -= 64;
  }
  if (rest > 64) {
    part(distance, 60);
    rest -= 60;
  }
  part(distance, rest);
}

function part(distance: number, length: number): void {
  if (length < 12 && distance < 2048) {
    out[used++] = 1 | ((length - 4) << 2) | ((distance >>> 8) << 5);
    out[used++] = distance & 255;
    return;
  }
  out[used++] = 2 | ((length - 1) << 2);
  out[used++] = distance & 255;
  out[used++] = distance >>> 8;
}
