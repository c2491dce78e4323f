import type { AgreedLink, Book, BookChange, Pair } from './book.types.ts';

/** An empty book: nothing was ever agreed on. */
export const emptyBook = (): Book => ({
  pairs: new Map(),
  links: new Map(),
  again: new Set(),
  watermark: null,
});

/** What tells an agreed relation from all others. */
export const linkKey = ({ relationType, source, target }: AgreedLink): string =>
  JSON.stringify([relationType, source, target]);

/** Writes the changes into the book, in their order. Doing it twice has the outcome of once. */
export function writeBook(book: Book, changes: readonly BookChange[]): void {
  for (const change of changes) {
    // a copy, since later changes are made in it
    if (change.op === 'pair')
      book.pairs.set(change.pair.remoteId, { ...change.pair, base: { ...change.pair.base } });
    else if (change.op === 'drop') book.pairs.delete(change.remoteId);
    else if (change.op === 'link') book.links.set(linkKey(change.link), change.link);
    else if (change.op === 'unlink') book.links.delete(linkKey(change.link));
    else if (change.op === 'again') book.again = new Set(change.remoteIds);
    else if (change.op === 'watermark') book.watermark = change.watermark;
    else amend(book.pairs.get(change.remoteId), change);
  }
}

type Amendment = Extract<BookChange, { op: 'base' | 'state' | 'absences' }>;

function amend(pair: Pair | undefined, change: Amendment): void {
  if (!pair) return;
  if (change.op === 'state') pair.state = change.state;
  else if (change.op === 'absences') pair.absences = change.absences;
  else {
    for (const [path, agreed] of Object.entries(change.base)) {
      if (agreed === null) delete pair.base[path];
      else pair.base[path] = agreed;
    }
  }
}

/** Where a card has gone to by merges; itself when it was not merged. */
export function redirected(cardId: string, redirects: ReadonlyMap<string, string>): string {
  const seen = new Set<string>();
  let id = cardId;
  while (!seen.has(id)) {
    seen.add(id);
    const next = redirects.get(id);
    if (next === undefined) return id;
    id = next;
  }
  return id;
}

/** The identity map as it holds today, with the merges of cards followed. */
export interface Identities {
  /** The pair that speaks for a card: its own record, or the one that a merge brought along. */
  primary: ReadonlyMap<string, Pair>;
  /** The card of a record's pair today. */
  cardOf: (remoteId: string) => string | undefined;
  recordOf: (cardId: string) => string | undefined;
  /** The same for a reference that is to be written: a record that is known to be gone is none. */
  presentRecordOf: (cardId: string) => string | undefined;
}

/** A pair whose sides are kept in step, or wait for the removal of one. */
export const isLive = ({ state }: Pair): boolean => state.kind === 'linked' || state.kind === 'quarantined';

/**
 * Which pair speaks for which card. When a merge leaves a card with two records, its own stays with it, and the other
 * is an alias: it belongs to the card, and nothing is written to it. When the own one ends, the alias takes over.
 */
export function identities(book: Book, redirects: ReadonlyMap<string, string>): Identities {
  const primary = new Map<string, Pair>();
  for (const pair of book.pairs.values()) {
    if (!isLive(pair)) continue;
    const card = redirected(pair.cardId, redirects);
    const other = primary.get(card);
    if (!other || speaksBefore(pair, other, card)) primary.set(card, pair);
  }
  return {
    primary,
    cardOf: (remoteId) => {
      const pair = book.pairs.get(remoteId);
      return pair && isLive(pair) ? redirected(pair.cardId, redirects) : undefined;
    },
    recordOf: (cardId) => primary.get(cardId)?.remoteId,
    presentRecordOf: (cardId) => {
      const pair = primary.get(cardId);
      const isGone = pair?.state.kind === 'quarantined' && pair.state.gone === 'remote';
      return isGone ? undefined : pair?.remoteId;
    },
  };
}

function speaksBefore(pair: Pair, other: Pair, card: string): boolean {
  const rank = (one: Pair) => (one.state.kind === 'linked' ? 0 : 2) + (one.cardId === card ? 0 : 1);
  const [mine, theirs] = [rank(pair), rank(other)];
  return mine === theirs ? pair.remoteId < other.remoteId : mine < theirs;
}

/** By card, the pairs that it is half of: live ones, also of cards that were merged into it, and those that a person took apart. */
export function boundPairs(book: Book, redirects: ReadonlyMap<string, string>): Map<string, Pair[]> {
  const bound = [...book.pairs.values()].filter((pair) => isLive(pair) || pair.state.kind === 'unmapped');
  return Map.groupBy(bound, (pair) => (isLive(pair) ? redirected(pair.cardId, redirects) : pair.cardId));
}

/** A pair that a row's card is half of, besides the row's own and those that end with it. */
export function otherPair(
  bound: ReadonlyMap<string, Pair[]>,
  redirects: ReadonlyMap<string, string>,
  { cardId, remoteId, drops }: { cardId: string; remoteId: string | null; drops: readonly string[] },
): Pair | undefined {
  // a card that was merged into another one has the records of that one
  const ids = new Set([redirected(cardId, redirects), cardId]);
  const pairs = [...ids].flatMap((id) => bound.get(id) ?? []);
  return pairs.find((pair) => pair.remoteId !== remoteId && !drops.includes(pair.remoteId));
}

/** Cards that a person took out of the synchronisation, by the pairs that were taken apart. */
export function unmappedCards(book: Book): Set<string> {
  const cards = new Set<string>();
  for (const { cardId, state } of book.pairs.values()) if (state.kind === 'unmapped') cards.add(cardId);
  return cards;
}
