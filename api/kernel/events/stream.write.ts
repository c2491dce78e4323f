import type { ServerResponse } from 'node:http';

/** Whether the response can still be written to. */
export const isOpen = (response: ServerResponse): boolean => !response.destroyed && !response.writableEnded;

/**
 * Waits until everything that was written has been passed to the operating system.
 * @returns false if the connection has closed, or nothing was read for `limitMs`.
 */
export function drained(response: ServerResponse, limitMs: number): Promise<boolean> {
  if (!isOpen(response)) return Promise.resolve(false);
  if (!response.writableNeedDrain) return Promise.resolve(true);
  return new Promise((resolve) => {
    const settle = (isDrained: boolean) => {
      clearTimeout(timer);
      // without removal, listeners would accumulate over the life of a stream
      response.off('drain', onDrain).off('close', onClose);
      resolve(isDrained);
    };
    const onDrain = () => settle(true);
    const onClose = () => settle(false);
    const timer = setTimeout(onClose, limitMs);
    response.on('drain', onDrain).on('close', onClose);
  });
}
