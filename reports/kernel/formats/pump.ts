import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * Writes chunks to a stream at the pace of whoever reads it, and ends it; destroys it on any failure.
 * @throws the signal's reason when aborted.
 */
export async function pump(
  chunks: AsyncIterable<string | Uint8Array>,
  out: Writable,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await pipeline(chunks, out, { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
