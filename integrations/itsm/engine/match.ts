import { hash } from 'node:crypto';
import type { FieldMapping, Mapping, Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import { identityKey } from './fields.ts';
import type { Decision, Path } from './model.types.ts';
import type { Candidate } from './plan.types.ts';

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
  const free = new Map(unmatched.cards.map((card) => [card.id, card]));
  const matches = matchByDecision(
    unmatched.records.map(({ id }) => id),
    decisions,
    (cardId) => free.has(cardId),
  );
  const open = () => unmatched.records.filter(({ id }) => !matches.has(id));
  takeMatched(free, matches.values());
  const index = identityIndex(mapping.fields);
  for (const record of open()) index.addRecord(record);
  for (const card of free.values()) index.addCard(card);
  for (const card of unmatched.bound) index.addBound(card);
  for (const record of open()) {
    const match = matchByIdentity(index.find(record));
    if (match) matches.set(record.id, match);
  }
  takeMatched(free, matches.values());
  for (const [id, match] of matchByScore(score(open(), [...free.values()]))) matches.set(id, match);
  for (const { id } of open()) matches.set(id, { kind: 'new' });
  return matches;
}

/** Takes out the cards that are spoken for: neither likeness nor another record may claim them. */
export function takeMatched(free: Pick<Map<string, unknown>, 'delete'>, matches: Iterable<Match>): void {
  for (const match of matches) {
    if (match.kind === 'link') free.delete(match.cardId);
    if (match.kind === 'stage') for (const { cardId } of match.candidates) free.delete(cardId);
  }
}

/** What persons have said of these records; a card is given to one of them. */
export function matchByDecision(
  records: readonly string[],
  decisions: readonly Decision[],
  isFree: (cardId: string) => boolean,
): Map<string, Match> {
  const matches = new Map<string, Match>();
  const decided = new Map(decisions.map(({ remoteId, cardId }) => [remoteId, cardId]));
  const given = new Set<string>();
  for (const id of records) {
    const cardId = decided.get(id);
    if (cardId === null) matches.set(id, { kind: 'new' });
    else if (cardId !== undefined && !given.has(cardId) && isFree(cardId)) {
      given.add(cardId);
      matches.set(id, { kind: 'link', cardId, why: 'a person said so' });
    }
  }
  return matches;
}

/** All that say the same in their identity fields. */
export interface SameIdentity {
  /** Records that are to be matched. */
  records: number;
  /** Cards that may become half of a pair, and cards that are. */
  cards: readonly string[];
  bound: readonly string[];
}

/** Who says what in the identity fields. It holds ids alone, so that a whole table fits into it. */
export interface IdentityIndex {
  addRecord(record: Thing): void;
  addCard(card: Thing): void;
  addBound(card: Thing): void;
  /** Undefined where the identity fields are not all filled, or nobody says the same. */
  find(thing: Thing): SameIdentity | undefined;
}

const nobody: readonly string[] = [];

export function identityIndex(fields: readonly FieldMapping[]): IdentityIndex {
  const all = new Map<string, SameIdentity>();
  const change = (thing: Thing, step: (same: SameIdentity) => SameIdentity) => {
    const key = identityHash(fields, thing);
    if (key === null) return;
    const same = all.get(key) ?? { records: 0, cards: nobody, bound: nobody };
    all.set(key, step(same));
  };
  return {
    addRecord: (record) => change(record, (same) => ({ ...same, records: same.records + 1 })),
    addCard: (card) => change(card, (same) => ({ ...same, cards: [...same.cards, card.id] })),
    addBound: (card) => change(card, (same) => ({ ...same, bound: [...same.bound, card.id] })),
    find: (thing) => {
      const key = identityHash(fields, thing);
      return key === null ? undefined : all.get(key);
    },
  };
}

/** What the identity fields say together, in twelve letters: 72 bits, so that no two things meet by chance. */
export function identityHash(fields: readonly FieldMapping[], thing: Thing): string | null {
  const key = identityKey(fields, thing.fields);
  return key === null ? null : hash('sha256', key, 'base64url').slice(0, 12);
}

/** What follows for a record from those that say the same; undefined when nothing does. */
export function matchByIdentity(same: SameIdentity | undefined): Match | undefined {
  if (!same) return undefined;
  const { records, cards, bound } = same;
  if (records === 1 && cards.length === 1 && bound.length === 0) {
    return { kind: 'link', cardId: cards[0]!, why: 'the identity fields say the same' };
  }
  const candidates = [...cards, ...bound].map((cardId) => ({ cardId, score: 1, why: 'same identity' }));
  if (candidates.length === 0 && records === 1) return undefined;
  return { kind: 'stage', candidates, why: ambiguity(same) };
}

function ambiguity({ records, cards, bound }: SameIdentity): string {
  if (records > 1) return `${records} records have these identity fields`;
  if (bound.length > 0) return 'a card with these identity fields belongs to another record';
  return `${cards.length} cards have these identity fields`;
}

/** What follows for records from how alike they and the cards that are left are. */
export function matchByScore(scored: readonly Scored[]): Map<string, Match> {
  const matches = new Map<string, Match>();
  const alike = scored.filter(({ verdict }) => verdict !== 'no');
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
  return matches;
}
