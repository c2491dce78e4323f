import type { Mapping, Path } from './mapping.types.ts';
import { identityKey } from './normalise.ts';
import type { Decision } from './observation.types.ts';
import type { Candidate } from './plan.types.ts';
import type { Value } from './values.ts';

/** A record or a card in the inventory's words. */
export interface Thing {
  id: string;
  fields: Record<Path, Value>;
}

/** How alike a record and a card are, and what follows from it. */
export interface Scored {
  remoteId: string;
  cardId: string;
  /** 0 to 1. */
  score: number;
  verdict: 'match' | 'possible' | 'no';
  /** In words, for the one who decides. */
  why: string;
}

/** Tells how alike things are; it may leave out pairs that are not alike at all. */
export type Scorer = (records: Thing[], cards: Thing[]) => Scored[];

/** What a record without a pair turns out to be. */
export type Match =
  | { kind: 'link'; cardId: string; why: string }
  | { kind: 'stage'; candidates: Candidate[]; why: string }
  | { kind: 'new' };

/** What there is to match. */
export interface Unmatched {
  records: Thing[];
  /** Cards that may become half of a pair. */
  cards: Thing[];
  /** Cards that already are; a record that says the same as one of them may be its double. */
  bound: Thing[];
}

/**
 * Finds out which record is which card: a person's decision first, then the identity fields, then the scorer.
 * Whatever more than one card could be, or more than one record claims, is left to a person; nothing is guessed.
 */
export function matchRecords(
  mapping: Mapping,
  unmatched: Unmatched,
  decisions: readonly Decision[],
  score: Scorer,
): Map<string, Match> {
  const matches = new Map<string, Match>();
  const free = new Map(unmatched.cards.map((card) => [card.id, card]));
  const decided = new Map(decisions.map(({ remoteId, cardId }) => [remoteId, cardId]));
  for (const { id } of unmatched.records) {
    const cardId = decided.get(id);
    if (cardId === null) matches.set(id, { kind: 'new' });
    else if (cardId !== undefined && free.delete(cardId)) {
      matches.set(id, { kind: 'link', cardId, why: 'a person said so' });
    }
  }
  const open = () => unmatched.records.filter(({ id }) => !matches.has(id));
  matchByIdentity(mapping, open(), [...free.values()], unmatched.bound, matches);
  for (const match of matches.values()) {
    if (match.kind === 'link') free.delete(match.cardId);
    if (match.kind === 'stage') for (const { cardId } of match.candidates) free.delete(cardId);
  }
  matchByScore(score(open(), [...free.values()]), matches);
  for (const { id } of open()) matches.set(id, { kind: 'new' });
  return matches;
}

function byKey(mapping: Mapping, things: readonly Thing[]): Map<string, Thing[]> {
  const groups = new Map<string, Thing[]>();
  for (const thing of things) {
    const key = identityKey(mapping.fields, thing.fields);
    if (key === null) continue;
    const group = groups.get(key);
    if (group) group.push(thing);
    else groups.set(key, [thing]);
  }
  return groups;
}

function matchByIdentity(
  mapping: Mapping,
  records: Thing[],
  cards: Thing[],
  bound: Thing[],
  matches: Map<string, Match>,
): void {
  const free = byKey(mapping, cards);
  const taken = byKey(mapping, bound);
  for (const [key, group] of byKey(mapping, records)) {
    const candidates = free.get(key) ?? [];
    const others = taken.get(key) ?? [];
    const all = [...candidates, ...others].map(({ id }) => ({ cardId: id, score: 1, why: 'same identity' }));
    if (all.length === 0 && group.length === 1) continue;
    for (const { id } of group) {
      if (group.length === 1 && candidates.length === 1 && others.length === 0) {
        matches.set(id, { kind: 'link', cardId: candidates[0]!.id, why: 'the identity fields say the same' });
      } else matches.set(id, { kind: 'stage', candidates: all, why: ambiguity(group, candidates, others) });
    }
  }
}

function ambiguity(group: Thing[], candidates: Thing[], others: Thing[]): string {
  if (group.length > 1) return `${group.length} records have these identity fields`;
  if (others.length > 0) return 'a card with these identity fields belongs to another record';
  return `${candidates.length} cards have these identity fields`;
}

function matchByScore(scored: readonly Scored[], matches: Map<string, Match>): void {
  const alike = scored.filter(({ verdict, remoteId }) => verdict !== 'no' && !matches.has(remoteId));
  const sure = alike.filter(({ verdict }) => verdict === 'match');
  const ofRecord = Map.groupBy(alike, ({ remoteId }) => remoteId);
  const ofCard = Map.groupBy(sure, ({ cardId }) => cardId);
  for (const [remoteId, candidates] of ofRecord) {
    const best = candidates.filter(({ verdict }) => verdict === 'match');
    const [only] = best;
    if (only && best.length === 1 && ofCard.get(only.cardId)?.length === 1) {
      matches.set(remoteId, { kind: 'link', cardId: only.cardId, why: only.why });
      continue;
    }
    const why = best.length > 0 ? 'more than one would fit' : 'alike, but not enough to be sure';
    matches.set(remoteId, {
      kind: 'stage',
      candidates: candidates
        .map(({ cardId, score, why: reason }) => ({ cardId, score, why: reason }))
        .sort((left, right) => right.score - left.score || (left.cardId < right.cardId ? -1 : 1)),
      why,
    });
  }
}
