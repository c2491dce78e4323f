import { boundedThreadPool } from '../../../platform/worker-threads.ts';
import { checkSvg } from './svg.check.ts';

/** Characters up to which an image is checked at once: that takes less than 50 ms. */
const AT_ONCE = 64 * 1024;

const ask = boundedThreadPool<string, string | null>({
  module: new URL('./svg.worker.ts', import.meta.url),
  what: 'large SVG images',
});

/**
 * Checks an SVG image as `checkSvg` does: a large one in another thread.
 * @throws Error saying why it is none; EstateError `unavailable` where too many wait, `query_too_heavy` where it takes too long.
 */
export async function checkSvgInThread(text: string): Promise<void> {
  if (text.length <= AT_ONCE) return checkSvg(text);
  const error = await ask(text);
  if (error !== null) throw new Error(error);
}
