import { redirected } from './book.ts';
import type { Book, BookChange } from './book.types.ts';

/**
 * Takes a card out of the synchronisation: its pair, and those that merges brought to it. Both sides stay as they are,
 * and neither is linked or made again until a person says so.
 */
export function unmap(book: Book, cardId: string, redirects: ReadonlyMap<string, string>): BookChange[] {
  return [...book.pairs.values()]
    .filter((pair) => redirected(pair.cardId, redirects) === cardId)
    .map(({ remoteId }): BookChange => ({ op: 'state', remoteId, state: { kind: 'unmapped' } }));
}

/** Puts what was taken apart together again; what has changed meanwhile on one side alone goes to the other. */
export function mapAgain(book: Book, remoteId: string): BookChange[] {
  if (book.pairs.get(remoteId)?.state.kind !== 'unmapped') return [];
  return [
    { op: 'state', remoteId, state: { kind: 'linked' } },
    { op: 'again', remoteIds: [...new Set([...book.again, remoteId])].sort() },
  ];
}
