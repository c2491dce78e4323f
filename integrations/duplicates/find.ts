import type { CardRecord } from '../../domain/analysis/duplicates/duplicates.records.ts';
import { startThread } from '../../platform/worker-threads.ts';
import type { Decision, MatchField } from '../matching/matching.types.ts';
import { type Answer, type Found, type Packed, type Question, type Stage, stages } from './find.types.ts';

/** Longer than reading a page of records takes under load. */
const IDLE_MS = 600_000;

/** What a search works with. */
interface SearchInput {
  fields: readonly MatchField[];
  /** A model to apply; null: one is learned. */
  base: Packed | null;
  /** What the last run with the model found. */
  previous: Packed | null;
  records: AsyncIterable<CardRecord[]>;
  decisions: readonly Decision[];
  /** There are no new decisions since the last run, so that an unchanged type can be skipped. */
  maySkip: boolean;
  /** The stored result of a stage, of an earlier worker. */
  stored(stage: Stage): Promise<Packed | null>;
  /** Stores the result of a stage, and reports the progress. */
  store(stage: Stage, found: Packed | null): Promise<void>;
}

/** Finds the cards of one type that stand for one thing; null where the last run has found all that there is. */
export type Find = (input: SearchInput) => Promise<Found | null>;

/**
 * A thread of its own in which cards are compared.
 * @param signal ends it at once; whatever it was asked then rejects with the reason.
 */
export function openSearch(signal: AbortSignal): { find: Find; close(): void } {
  signal.throwIfAborted();
  const thread = startThread<Question, Answer>({
    module: new URL('./find.worker.ts', import.meta.url),
    idleMs: IDLE_MS,
  });
  const stop = () => thread.end(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const ask = async (question: Question) => await thread.ask({ question });
  return {
    async find({ fields, base, previous, records, ...input }) {
      await ask({ ask: 'begin', fields, base, previous });
      for await (const page of records) await ask({ ask: 'records', records: page });
      if (input.maySkip) {
        const answer = await ask({ ask: 'same' });
        if ('same' in answer && answer.same) return null;
      }
      for (const stage of stages) {
        const answer = await ask({ ask: 'stage', stage, stored: await input.stored(stage) });
        await input.store(stage, 'packed' in answer ? answer.packed : null);
      }
      const answer = await ask({ ask: 'result', decisions: input.decisions });
      if (!('result' in answer)) throw new Error('the search answered no result');
      return answer.result;
    },
    close() {
      signal.removeEventListener('abort', stop);
      thread.end(new Error('the search is over'));
    },
  };
}
