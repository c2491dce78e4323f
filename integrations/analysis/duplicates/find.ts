import type { CardRecord } from '../../../domain/analysis/duplicates/duplicates.records.ts';
import { EstateError } from '../../../platform/errors.ts';
import { startThread } from '../../../platform/worker-threads.ts';
import type { Found, FoundPair, SearchOptions, SearchRequest, SearchResponse } from './find.types.ts';

/** Timeout for a page of records; longer than reading takes under load. */
const IDLE_MS = 600_000;

/** Limit of the heap of the thread, beside which it has arrays of numbers; cards that do not fit are in files. */
const HEAP_MB = 512;
/** Limit of the heap for new objects: arrays that are not needed any more are freed when it is full, so that few wait for that. */
const YOUNG_MB = 6;

/** The input of a search. */
interface SearchInput extends SearchOptions {
  records: AsyncIterable<CardRecord[]>;
  /** Whether there are no new decisions since the last run, so that an unchanged type can be skipped. */
  maySkip: boolean;
  onProgress(progress: number): void;
}

/** Finds duplicate cards of one type; null if the result of the last run is current. */
export type Find = (input: SearchInput) => Promise<Found | null>;

/**
 * Starts a worker thread in which cards are compared.
 * @param signal terminates it; pending requests are rejected with the reason.
 * @param memoryMb limit of the heap of the thread.
 */
export function openSearch(signal: AbortSignal, memoryMb = HEAP_MB): { find: Find; close(): void } {
  signal.throwIfAborted();
  const module = new URL('./find.worker.ts', import.meta.url);
  const options = { module, idleMs: IDLE_MS, memoryMb, youngMb: YOUNG_MB };
  const thread = startThread<SearchRequest, SearchResponse>(options);
  const stop = () => thread.end(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const send = async (request: SearchRequest) => {
    try {
      return await thread.ask({ question: request });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
      throw new EstateError(
        'query_too_heavy',
        `Comparing the cards takes more than ${memoryMb} MB of memory. Shorten long texts of the cards, or divide the type.`,
      );
    }
  };
  return {
    async find({ records, maySkip, onProgress, ...options }) {
      await send({ request: 'start', options });
      for await (const page of records) await send({ request: 'records', records: page });
      if (maySkip) {
        const response = await send({ request: 'compare' });
        if ('isUnchanged' in response && response.isUnchanged) return null;
      }
      for (;;) {
        const response = await send({ request: 'advance' });
        if ('found' in response) return { ...response.found, pairs: await pairsOf(send) };
        if ('progress' in response) onProgress(response.progress);
      }
    },
    close() {
      signal.removeEventListener('abort', stop);
      thread.end(new Error('the search has ended'));
    },
  };
}

async function pairsOf(send: (request: SearchRequest) => Promise<SearchResponse>): Promise<FoundPair[]> {
  const pairs: FoundPair[] = [];
  for (;;) {
    const response = await send({ request: 'pairs', from: pairs.length });
    const page = 'pairs' in response ? response.pairs : [];
    if (page.length === 0) return pairs;
    pairs.push(...page);
  }
}
