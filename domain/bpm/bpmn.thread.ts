import { EstateError } from '../../platform/errors.ts';
import { startThread, type Thread } from '../../platform/threads.ts';
import { readContent } from './bpmn.model.ts';

/** Characters up to which a model is read at once: that takes less than to ask a thread, and keeps nobody waiting. */
const AT_ONCE = 64 * 1024;
/** How long a thread without work is kept, in milliseconds. */
const IDLE_MS = 60_000;
/** How long a model may take, in milliseconds, those before it included: much longer than the largest of all takes. */
const LIMIT_MS = 30_000;
/** Models that may wait; each is kept meanwhile. */
const WAITING = 10;

type Content = Awaited<ReturnType<typeof readContent>>;

let thread: Thread<string, Content> | undefined;

/**
 * Reads a model: a large one in a thread of its own, one after the other, so that no other request waits for it.
 * @throws EstateError `unavailable` where too many wait, or none comes to an end.
 */
export async function readAside(text: string): Promise<Content> {
  if (text.length <= AT_ONCE) return await readContent(text);
  if (!thread || thread.ended) {
    thread = startThread({ module: new URL('./bpmn.worker.ts', import.meta.url), idleMs: IDLE_MS });
  }
  const asked = thread;
  if (asked.waiting >= WAITING) throw busy();
  const timer = setTimeout(() => asked.end(busy()), LIMIT_MS);
  try {
    return await asked.ask({ question: text });
  } finally {
    clearTimeout(timer);
  }
}

const busy = (): EstateError =>
  new EstateError('unavailable', 'Too many large models are being read; send it again in some seconds.', {
    headers: { 'retry-after': '5' },
  });
