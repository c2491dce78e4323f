import type { Decision } from './model.types.ts';
import type { Match } from './plan.types.ts';

/** The similarity of a record and a card. */
export interface ScoredPair {
  remoteId: string;
  cardId: string;
  /** 0 to 1. */
  score: number;
  verdict: 'match' | 'possible' | 'no';
  /** Shown to the user who decides. */
  reason: string;
}

/** Removes the cards that matches claim, so that they are not matched with another record. */
export function removeMatchedCards(
  free: Pick<Map<string, unknown>, 'delete'>,
  matches: Iterable<Match>,
): void {
  for (const match of matches) {
    if (match.kind === 'link') free.delete(match.cardId);
    if (match.kind === 'stage') for (const { cardId } of match.candidates) free.delete(cardId);
  }
}

/** Matches by users' decisions. A card is matched with one record only. */
export function matchByDecision(
  records: readonly string[],
  decisions: readonly Decision[],
  isFree: (cardId: string) => boolean,
): Map<string, Match> {
  const matches = new Map<string, Match>();
  const decided = new Map(decisions.map(({ remoteId, cardId }) => [remoteId, cardId]));
  const claimed = new Set<string>();
  for (const id of records) {
    const cardId = decided.get(id);
    if (cardId === null) matches.set(id, { kind: 'new' });
    else if (cardId !== undefined && !claimed.has(cardId) && isFree(cardId)) {
      claimed.add(cardId);
      matches.set(id, { kind: 'link', cardId, reason: 'a user decided so' });
    }
  }
  return matches;
}

/**
 * Matches the remaining records by their similarity to the remaining cards: the only certain pairs of their record and card are
 * linked, other similar cards are candidates.
 */
export function matchByScore(scored: readonly ScoredPair[]): Map<string, Match> {
  const matches = new Map<string, Match>();
  const matching = scored.filter(({ verdict }) => verdict === 'match');
  const byRecord = Map.groupBy(matching, ({ remoteId }) => remoteId);
  const byCard = Map.groupBy(matching, ({ cardId }) => cardId);
  const linked = new Set<string>();
  for (const { remoteId, cardId, reason } of matching) {
    if (byRecord.get(remoteId)!.length > 1 || byCard.get(cardId)!.length > 1) continue;
    matches.set(remoteId, { kind: 'link', cardId, reason });
    linked.add(cardId);
  }
  const similar = scored.filter(
    ({ verdict, remoteId, cardId }) => verdict !== 'no' && !matches.has(remoteId) && !linked.has(cardId),
  );
  const byCandidate = Map.groupBy(similar, ({ cardId }) => cardId);
  for (const [remoteId, candidates] of Map.groupBy(similar, (pair) => pair.remoteId)) {
    const isShared = candidates.some(({ cardId }) => byCandidate.get(cardId)!.length > 1);
    const reason =
      candidates.length > 1
        ? 'more than one card matches'
        : isShared
          ? 'more than one record matches the card'
          : 'similar, but not certain';
    matches.set(remoteId, {
      kind: 'stage',
      candidates: candidates
        .map(({ cardId, score, reason }) => ({ cardId, score, why: reason }))
        .sort((left, right) => right.score - left.score || (left.cardId < right.cardId ? -1 : 1)),
      reason,
    });
  }
  return matches;
}
