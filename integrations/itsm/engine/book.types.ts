import type { Path, Side } from './mapping.types.ts';
import type { Value } from './values.ts';

/**
 * What both sides last agreed on about one field: the value as each side itself holds it. Both are kept, since a
 * transform need not lead back to where it came from, and a remote may store something else than it was sent.
 */
export interface Agreed {
  local: Value;
  remote: Value;
}

/** Who made the pair: the engine made the card (`pulled`) or the record (`pushed`), or both were there (`linked`). */
export type Origin = 'pulled' | 'pushed' | 'linked';

/** How it is known that something is gone. */
export type Evidence = 'tombstone' | 'look' | 'readings' | 'inventory';

/**
 * - `linked`: the pair is synchronised.
 * - `quarantined`: one side is gone, the other waits for its removal.
 * - `ended`: one side is gone and the other stays; neither is made again.
 * - `removed`: both sides are gone; when the record comes back its archived card is restored, and the pair is linked again.
 *   `gone` is the side that was gone first.
 * - `unmapped`: a person took the pair apart; neither is linked or made again unless a person says so.
 */
export type PairState =
  | { kind: 'linked' }
  | { kind: 'quarantined'; gone: Side; evidence: Evidence; since: string }
  | { kind: 'ended'; gone: Side }
  | { kind: 'removed'; gone: Side; evidence: Evidence; since: string }
  | { kind: 'unmapped' };

/** One line of the identity map. A record has at most one. */
export interface Pair {
  remoteId: string;
  /** The card it was made with; a merge of cards leads on from there. */
  cardId: string;
  origin: Origin;
  state: PairState;
  /** By path; a field without one has never been agreed on. */
  base: Record<Path, Agreed>;
  /** How many complete readings in a row were without the record. */
  absences: number;
}

/** A relation that both sides last had, by the pairs' remote keys. */
export interface AgreedLink {
  relationType: string;
  /** Remote keys of the records at the relation's source and target as the inventory sees them. */
  source: string;
  target: string;
  /** The remote's key of the relation itself, where it has told one; it tells no two relations apart. */
  relationId?: string;
}

/** What the engine remembers of a mapping between runs. */
export interface Book {
  pairs: Map<string, Pair>;
  links: Map<string, AgreedLink>;
  /** Records to read again though they have not changed: a row about them is open, stale or failed. */
  again: Set<string>;
  /** Up to where the remote has been read, by its own clock; RFC 3339. */
  watermark: string | null;
}

/** One thing that happens to the book; what a row changes is stored with the row's outcome, in one transaction. */
export type BookChange =
  | { op: 'pair'; pair: Pair }
  | { op: 'drop'; remoteId: string }
  | { op: 'base'; remoteId: string; base: Record<Path, Agreed | null> }
  | { op: 'state'; remoteId: string; state: PairState }
  | { op: 'absences'; remoteId: string; absences: number }
  | { op: 'link'; link: AgreedLink }
  | { op: 'unlink'; link: AgreedLink }
  | { op: 'again'; remoteIds: string[] }
  | { op: 'watermark'; watermark: string | null };
