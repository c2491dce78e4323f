import type { CardRecord } from '../../domain/duplicates/duplicates.records.ts';
import { startThread } from '../../platform/threads.ts';
import type { Decision, MatchField } from '../matching/matching.types.ts';
import { type Answer, type Found, type Packed, type Question, type Stage, stages } from './find.types.ts';

const IDLE_MS = 60_000;

/** What a search works with. */
export interface SearchInput {
  fields: readonly MatchField[];
  /** A model to apply; null: one is learned. */
  base: Packed | null;
  /** What the last run with the model found. */
  previous: Packed | null;
  records: AsyncIterable<CardRecord[]>;
  decisions: readonly Decision[];
  signal: AbortSignal;
  /** What was kept of a stage before the worker's end. */
  kept(stage: Stage): Promise<Packed | null>;
  /** Keeps what a stage found, and tells that it is done. */
  keep(stage: Stage, found: Packed | null): Promise<void>;
}

/**
 * Finds the cards of one type that stand for one thing, in a thread of its own.
 * @throws the reason of the signal as soon as that is aborted.
 */
export async function findAmong(input: SearchInput): Promise<Found> {
  const { signal, fields, base, previous } = input;
  signal.throwIfAborted();
  const thread = startThread<Question, Answer>({
    module: new URL('./find.worker.ts', import.meta.url),
    idleMs: IDLE_MS,
  });
  const stop = () => thread.end(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const ask = async (question: Question) => await thread.ask({ question });
  try {
    thread.hold();
    await ask({ ask: 'begin', fields, base, previous });
    for await (const records of input.records) await ask({ ask: 'records', records });
    for (const stage of stages) {
      const answer = await ask({ ask: 'stage', stage, kept: await input.kept(stage) });
      await input.keep(stage, 'packed' in answer ? answer.packed : null);
    }
    const answer = await ask({ ask: 'result', decisions: input.decisions });
    if (!('result' in answer)) throw new Error('the search answered no result');
    return answer.result;
  } finally {
    signal.removeEventListener('abort', stop);
    thread.end(new Error('the search is over'));
  }
}
