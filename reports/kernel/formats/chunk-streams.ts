import { PassThrough, type Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Caller } from '../../../domain/kernel/context.ts';
import { EstateError } from '../../../platform/errors.ts';
import { createUserSemaphore } from '../../../platform/semaphore.ts';

/**
 * Writes chunks to a stream with backpressure, and ends it; destroys it on any failure.
 * @throws the signal's reason when aborted.
 */
export async function writeChunks(
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

/** Limits of concurrent streams: each occupies a database connection until its client has read everything. */
const limited = createUserSemaphore({ running: 8, ofOneUser: 4, queued: 20 });

/** Minimum bytes that a client must read per period while more data is available. */
export const streamPace = { bytes: 256 * 1024, periodMs: 30_000 };

/** Destroys a stream whose client reads less than the pace. */
function endWhenStalled(out: PassThrough): void {
  let sent = 0;
  let before = 0;
  const transform = out._transform.bind(out);
  out._transform = (chunk, encoding, callback) => {
    sent += chunk.length;
    transform(chunk, encoding, callback);
  };
  const timer = setInterval(() => {
    const isSlow = out.writableNeedDrain && sent - before < streamPace.bytes;
    before = sent;
    if (isSlow) out.destroy(new EstateError('unavailable', 'The client reads the response too slowly.'));
  }, streamPace.periodMs);
  timer.unref();
  out.once('close', () => clearInterval(timer));
}

/**
 * Writes a stream, and resolves with what `write` passes to `start`. An error before that rejects; a later error destroys
 * the stream, so that the client sees an aborted response instead of a truncated one.
 * @throws EstateError `too_many_requests`.
 */
export async function startStream<T>(
  { userId }: Pick<Caller, 'userId'>,
  write: (out: PassThrough, start: (answer: T) => void) => Promise<void>,
): Promise<T> {
  const out = new PassThrough();
  let hasStarted = false;
  return await new Promise((resolve, reject) => {
    const start = (answer: T) => {
      hasStarted = true;
      endWhenStalled(out);
      resolve(answer);
    };
    limited(userId ?? '', () => write(out, start)).catch((error: unknown) => {
      if (hasStarted) out.destroy(error as Error);
      else reject(error);
    });
  });
}
