import type { CardRecord } from '../../../domain/analysis/duplicates/duplicates.records.ts';
import { startThread } from '../../../platform/worker-threads.ts';
import type { Found, SearchOptions, SearchRequest, SearchResponse } from './find.types.ts';

/** Timeout for a page of records; longer than reading takes under load. */
const IDLE_MS = 600_000;

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
 */
export function openSearch(signal: AbortSignal): { find: Find; close(): void } {
  signal.throwIfAborted();
  const options = { module: new URL('./find.worker.ts', import.meta.url), idleMs: IDLE_MS };
  const thread = startThread<SearchRequest, SearchResponse>(options);
  const stop = () => thread.end(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const send = async (request: SearchRequest) => await thread.ask({ question: request });
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
        if ('found' in response) return response.found;
        if ('progress' in response) onProgress(response.progress);
      }
    },
    close() {
      signal.removeEventListener('abort', stop);
      thread.end(new Error('the search has ended'));
    },
  };
}
