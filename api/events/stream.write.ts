import type { ServerResponse } from 'node:http';

/** A client that lets this much pile up is cut off; it resumes by its last event id. */
const UNSENT_LIMIT_BYTES = 1024 * 1024;

/** Writes to the client unless it lags too far behind. @returns whether the client was kept. */
export function writeOrCut(response: ServerResponse, frame: Buffer): boolean {
  if (response.destroyed) return false;
  if (response.writableLength + frame.length > UNSENT_LIMIT_BYTES) {
    response.destroy();
    return false;
  }
  response.write(frame);
  return true;
}
