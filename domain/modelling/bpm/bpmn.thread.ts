import { boundedThreadPool } from '../../../platform/worker-threads.ts';
import { readContent } from './bpmn.model.ts';

/** Characters up to which a model is read at once: that takes less than to ask a thread, and keeps nobody waiting. */
const AT_ONCE = 64 * 1024;
/** Tags likewise: each that BPMN does not know takes 40 microseconds. */
const TAGS_AT_ONCE = 4_000;

type Content = Awaited<ReturnType<typeof readContent>>;

const ask = boundedThreadPool<string, Content>({
  module: new URL('./bpmn.worker.ts', import.meta.url),
  what: 'large models',
});

/**
 * Reads a model: a large one in a thread of its own, one after the other, so that no other request waits for it.
 * @throws EstateError `unavailable` where too many wait, `query_too_heavy` where it takes too long.
 */
export const readAside = async (text: string): Promise<Content> =>
  text.length <= AT_ONCE && text.split('<', TAGS_AT_ONCE + 1).length <= TAGS_AT_ONCE
    ? await readContent(text)
    : await ask(text);
