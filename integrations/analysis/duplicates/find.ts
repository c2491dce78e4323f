import type { CardRecord } from '../../../domain/analysis/duplicates/duplicates.records.ts';
import { openMatchingThread } from '../matching/matching.thread.ts';
import type { Found, FoundPair, SearchOptions, SearchRequest, SearchResponse } from './find.types.ts';

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
export function openSearch(signal: AbortSignal, memoryMb?: number): { find: Find; close(): void } {
  const module = new URL('./find.worker.ts', import.meta.url);
  const advice = 'Shorten long texts of the cards, or divide the type.';
  const { send, close } = openMatchingThread<SearchRequest, SearchResponse>(module, signal, advice, memoryMb);
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
    close,
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
