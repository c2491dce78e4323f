import { PassThrough, type Readable, type Writable } from 'node:stream';
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

/** A file that is sent while it is written. */
export interface StartedFile {
  name: string;
  mediaType: string;
  /** The feed position that it includes. */
  position: string;
  out: Readable;
}

/**
 * Writes a stream, and resolves with what `write` passes to `start`. An error before that rejects; one after it
 * destroys the stream, so that the client sees a broken answer rather than a short one.
 */
export async function startStream<T>(
  write: (out: PassThrough, start: (answer: T) => void) => Promise<void>,
): Promise<T> {
  const out = new PassThrough();
  let hasStarted = false;
  return await new Promise((resolve, reject) => {
    const start = (answer: T) => {
      hasStarted = true;
      resolve(answer);
    };
    write(out, start).catch((error: unknown) => {
      if (hasStarted) out.destroy(error as Error);
      else reject(error);
    });
  });
}
