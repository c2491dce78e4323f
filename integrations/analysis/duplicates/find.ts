import type { CardRecord } from '../../../domain/analysis/duplicates/duplicates.records.ts';
import { startThread } from '../../../platform/worker-threads.ts';
import type { Decision, MatchField } from '../matching/matching.types.ts';
import { type Answer, type Found, type Packed, type Question, type Stage, stages } from './find.types.ts';

/** Timeout for a page of records; longer than reading takes under load. */
const IDLE_MS = 600_000;

/** The input of a search. */
interface SearchInput {
  fields: readonly MatchField[];
  /** A model to apply; null: a model is learned. */
  base: Packed | null;
  /** The snapshot of the last run with the model. */
  previous: Packed | null;
  records: AsyncIterable<CardRecord[]>;
  decisions: readonly Decision[];
  /** Whether there are no new decisions since the last run, so that an unchanged type can be skipped. */
  maySkip: boolean;
  /** The stored result of a stage, of an earlier worker. */
  stored(stage: Stage): Promise<Packed | null>;
  /** Stores the result of a stage, and reports the progress. */
  store(stage: Stage, found: Packed | null): Promise<void>;
}

/** Finds duplicate cards of one type; null if the result of the last run is current. */
export type Find = (input: SearchInput) => Promise<Found | null>;

/**
 * Starts a worker thread in which cards are compared.
 * @param signal terminates it; pending requests are rejected with the reason.
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
      if (!('result' in answer)) throw new Error('the search returned no result');
      return answer.result;
    },
    close() {
      signal.removeEventListener('abort', stop);
      thread.end(new Error('the search has ended'));
    },
  };
}
