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

/** Matches the remaining records by their similarity to the remaining cards. */
export function matchByScore(scored: readonly ScoredPair[]): Map<string, Match> {
  const matches = new Map<string, Match>();
  const similar = scored.filter(({ verdict }) => verdict !== 'no');
  const matching = similar.filter(({ verdict }) => verdict === 'match');
  const byRecord = Map.groupBy(similar, ({ remoteId }) => remoteId);
  const byCard = Map.groupBy(matching, ({ cardId }) => cardId);
  for (const [remoteId, candidates] of byRecord) {
    const best = candidates.filter(({ verdict }) => verdict === 'match');
    const [only] = best;
    if (only && best.length === 1 && byCard.get(only.cardId)?.length === 1) {
      matches.set(remoteId, { kind: 'link', cardId: only.cardId, reason: only.reason });
      continue;
    }
    const reason = best.length > 0 ? 'more than one card matches' : 'similar, but not certain';
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
