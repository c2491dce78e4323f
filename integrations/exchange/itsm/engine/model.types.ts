import type { Value } from '../../../../domain/exchange/itsm/mappings.types.ts';
import type { RecordLookup, RemoteRecord, RemoteTombstone } from '../remote.ts';

/**
 * The path of a value in a card: `name`, `description`, `parent_id`, `lifecycle.<phase>`, `attributes.<key>`; or of the cards at
 * the other end of its relations of a type: `relations.<key>`, `reverse_relations.<key>` (one id, or a list of several).
 */
export type Path = string;

/** `local`: the inventory; `remote`: the ITSM system. */
export type Side = 'local' | 'remote';

/**
 * The base of one field: the value that both sides last agreed on, as each side stores it. Both forms are stored because a
 * transform is not always reversible, and a remote may store another value than it was sent.
 */
export interface Agreed {
  local: Value;
  remote: Value;
}

/** How a pair was created: the engine created the card (`pulled`) or the record (`pushed`), or both existed (`linked`). */
export type Origin = 'pulled' | 'pushed' | 'linked';

/** What proves that a side is gone: a tombstone, a lookup by key, full reads without the record, or the inventory. */
export type Evidence = 'tombstone' | 'look' | 'readings' | 'inventory';

/**
 * - `linked`: the pair is synchronised.
 * - `quarantined`: one side is gone; the other is removed after the quarantine.
 * - `ended`: one side is gone, the other is retained; neither is created again.
 * - `removed`: both sides are gone. If the record returns, its archived card is restored and the pair is linked again.
 *   `gone` is the side that was gone first.
 * - `unmapped`: a user has un-mapped the pair; neither side is linked or created again until a user maps it.
 */
export type PairState =
  | { kind: 'linked' }
  | { kind: 'quarantined'; gone: Side; evidence: Evidence; since: string }
  | { kind: 'ended'; gone: Side }
  | { kind: 'removed'; gone: Side; evidence: Evidence; since: string }
  | { kind: 'unmapped' };

/** A card and the record that it corresponds to. A record has at most one pair. */
export interface Pair {
  remoteId: string;
  /** The original card, which may have been merged into another one since. */
  cardId: string;
  origin: Origin;
  state: PairState;
  /** By path. A field without a base was never agreed on. */
  base: Record<Path, Agreed>;
  /** The number of consecutive full reads without the record. */
  absences: number;
}

/** A relation that both sides last had, by the remote ids of the pairs. */
export interface AgreedLink {
  relationType: string;
  /** Remote ids of the records at the source and target, in the direction of the inventory's relation. */
  source: string;
  target: string;
  /** The remote's own id of the relation, if it reports one; not part of the relation's identity. */
  relationId?: string;
}

/** What is stored for a mapping between runs. */
export interface SyncState {
  pairs: Map<string, Pair>;
  links: Map<string, AgreedLink>;
  /** Records that the next run reads even if unchanged, because a row about them is open, stale or refused. */
  again: Set<string>;
  /** The time up to which the remote was read, by its own clock; RFC 3339. */
  watermark: string | null;
}

/** One change of the sync state. The changes of a row are stored in one transaction with its outcome. */
export type StateChange =
  | { op: 'pair'; pair: Pair }
  | { op: 'drop'; remoteId: string }
  | { op: 'base'; remoteId: string; base: Record<Path, Agreed | null> }
  | { op: 'state'; remoteId: string; state: PairState }
  | { op: 'absences'; remoteId: string; absences: number }
  | { op: 'link'; link: AgreedLink }
  | { op: 'unlink'; link: AgreedLink };

/** A card with its mapped values. */
export interface LocalCard {
  id: string;
  type: string;
  /** An archived card counts as gone. */
  archived: boolean;
  /** By path, at least the mapped ones. */
  fields: Record<Path, Value>;
  /** Whether the card matches the mapping's card filter. */
  inFilter: boolean;
  /** The time of the last change; RFC 3339. */
  updatedAt: string;
  /** The time of the last change of each field, where known; RFC 3339. */
  changedAt?: Record<Path, string>;
}

/** What a run has read from the remote. */
export interface RemoteObservation {
  /** `complete`: all records that match the filter; `delta`: those changed since the watermark, and those read by key. */
  kind: 'complete' | 'delta';
  records: RemoteRecord[];
  tombstones: RemoteTombstone[];
  /** Results of reading single records by key, by remote id. */
  lookups: Map<string, RecordLookup>;
  /** Remote ids that the run has read in pages, including those that are not in `records`. */
  shownIds?: ReadonlySet<string>;
  /** The time from which the next run reads; RFC 3339, by the remote's clock. */
  watermark: string | null;
  /** Mapped columns are hidden from the account: their changes are unknown, so nothing is removed. */
  hiddenColumns?: boolean;
}

/** Cards of the inventory. Includes the card of each pair unless it was deleted. */
interface LocalObservation {
  cards: Map<string, LocalCard>;
  /** From the id of a merged card to that of the survivor. */
  redirects: Map<string, string>;
}

/** All mapped relations of both sides. */
export interface LinkObservation {
  /** By card ids. */
  local: { relationType: string; source: string; target: string }[];
  /** By remote ids, in the direction of the inventory's relation. */
  remote: AgreedLink[];
}

/** A user's decision on a conflict; valid while both values are those that were shown. */
export interface Resolution {
  remoteId: string;
  /** A field; null: whether the remaining side is removed. */
  path: Path | null;
  winner: Side;
  values: { local: Value; remote: Value };
}

/**
 * A value that a side has refused; it is not written again while both values are unchanged. `path: null`: a new card or record;
 * the remote value is an object with its values by path.
 */
export interface Refusal {
  /** Null for a new record. */
  remoteId: string | null;
  /** Null for a new card. */
  cardId: string | null;
  path: Path | null;
  side: Side;
  values: { local: Value; remote: Value };
  reason: string;
}

/** A value that an undo has restored and no later run has replaced: its change is as old as it was before. */
interface RestoredValue {
  remoteId: string;
  path: Path;
  side: Side;
  value: Value;
}

/** A user's decision on which card a record corresponds to; `cardId: null`: a new one. */
export interface Decision {
  remoteId: string;
  cardId: string | null;
}

/** The input of a plan. */
export interface Observation {
  remote: RemoteObservation;
  local: LocalObservation;
  /** Undefined if relations are not planned. */
  links?: LinkObservation;
  resolutions: Resolution[];
  decisions: Decision[];
  refusals?: Refusal[];
  /** Of fields with the rule `newest_wins`. */
  restoredValues?: RestoredValue[];
  /** Records with the correlation id of another record that was created for a card: by remote id, that record and the card. */
  duplicates?: ReadonlyMap<string, { of: string; cardId: string }>;
  /** The time of the run; RFC 3339. */
  now: string;
  /** How far the remote's clock is ahead of ours, in milliseconds. */
  remoteClockAheadMs: number;
}
