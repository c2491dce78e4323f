import { deserialize, serialize } from 'node:v8';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Grows whenever what is packed would be read wrongly. */
const FORM = 1;

const PARAMS = { [constants.ZSTD_c_compressionLevel]: 3 };

/** Plain data with typed arrays, packed for a while: of similarities a tenth is left. */
export function pack(value: unknown): Uint8Array<ArrayBuffer> {
  const packed = zstdCompressSync(serialize({ form: FORM, value }), { params: PARAMS });
  // of its own, so that it can be handed to another thread
  return Uint8Array.from(packed);
}

/** What was packed; undefined where it was by another version of the service, or none is there. */
export function unpack<T>(packed: Uint8Array | null | undefined): T | undefined {
  if (!packed) return undefined;
  try {
    const { form, value } = deserialize(zstdDecompressSync(packed));
    return form === FORM ? (value as T) : undefined;
  } catch {
    // nothing is lost: it is found again
    return undefined;
  }
}

type Numbers = Uint32Array | Float32Array | Float64Array;

/** Packs a long array of numbers without a copy of it in between. */
export const packNumbers = ({ buffer, byteOffset, byteLength }: Numbers): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(zstdCompressSync(new Uint8Array(buffer, byteOffset, byteLength), { params: PARAMS }));

/** What {@link packNumbers} packed. */
export const unpackNumbers = <T extends Numbers>(
  packed: Uint8Array,
  type: new (buffer: ArrayBuffer) => T,
): T => new type(Uint8Array.from(zstdDecompressSync(packed)).buffer);
