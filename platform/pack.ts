import { deserialize, serialize } from 'node:v8';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Grows whenever what is packed would be read wrongly. */
const FORM = 1;

/** Plain data with typed arrays, packed for a while: of similarities a tenth is left. */
export function pack(value: unknown): Uint8Array<ArrayBuffer> {
  const packed = zstdCompressSync(serialize({ form: FORM, value }), {
    params: { [constants.ZSTD_c_compressionLevel]: 3 },
  });
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
