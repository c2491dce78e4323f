import type { Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteRecord, RemoteTombstone } from '../remote.ts';

/**
 * Where a card holds a value: `name`, `description`, `parent_id`, `lifecycle.<phase>`, `attributes.<key>`; or the card at the
 * other end of its relations of a type, several as a list: `relations.<key>`, `reverse_relations.<key>`.
 */
export type Path = string;

/** One of the two sides: the inventory, or the database outside. */
export type Side = 'local' | 'remote';

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
export interface SyncState {
  pairs: Map<string, Pair>;
  links: Map<string, AgreedLink>;
  /** Records to read again though they have not changed: a row about them is open, stale or failed. */
  again: Set<string>;
  /** Up to where the remote has been read, by its own clock; RFC 3339. */
  watermark: string | null;
}

/** One thing that happens to the sync state; what a row changes is stored with the row's outcome, in one transaction. */
export type StateChange =
  | { op: 'pair'; pair: Pair }
  | { op: 'drop'; remoteId: string }
  | { op: 'base'; remoteId: string; base: Record<Path, Agreed | null> }
  | { op: 'state'; remoteId: string; state: PairState }
  | { op: 'absences'; remoteId: string; absences: number }
  | { op: 'link'; link: AgreedLink }
  | { op: 'unlink'; link: AgreedLink }
  | { op: 'again'; remoteIds: string[] }
  | { op: 'watermark'; watermark: string | null };

/** A card as the engine sees it. */
export interface LocalCard {
  id: string;
  type: string;
  /** An archived card counts as gone. */
  archived: boolean;
  /** By path, at least the mapped ones. */
  fields: Record<Path, Value>;
  /** Whether the card is in the part of the inventory that the mapping is for. */
  inFilter: boolean;
  /** When it was last changed; RFC 3339. */
  updatedAt: string;
  /** When single fields were, where that is known; RFC 3339. */
  changedAt?: Record<Path, string>;
}

/**
 * What a look at one record by its key has shown; `unknown` when the remote would not say. `reclassified`: it is gone from its
 * table, and is in the table of this class.
 */
export type Look =
  | { kind: 'gone'; reclassified?: string }
  | { kind: 'unknown' }
  | { kind: 'there'; record: RemoteRecord };

/** All that was read outside for one run. */
export interface RemoteReading {
  /**
   * `complete`: every record that fits the filter; `delta`: those changed since the watermark, and those asked for.
   */
  kind: 'complete' | 'delta';
  records: RemoteRecord[];
  tombstones: RemoteTombstone[];
  /** By key: records looked at one by one because a reading lacked them. */
  looks: Map<string, Look>;
  /** Keys that parts before this reading have shown: with it a run plans page by page, and in the end what is missing. */
  present?: ReadonlySet<string>;
  /** Where the next reading resumes; RFC 3339, by the remote's clock. */
  watermark: string | null;
  /** Mapped columns are hidden from the account: changes in them are unknown, and nothing is removed meanwhile. */
  hiddenColumns?: boolean;
}

/** What the inventory holds. Cards that pairs name are all here unless they are gone for good. */
interface LocalReading {
  cards: Map<string, LocalCard>;
  /** Merged cards: from the one that went to the one that stayed. */
  redirects: Map<string, string>;
}

/** Relations between mapped things as both sides have them; only a complete reading shows that one is gone. */
export interface LinkReading {
  /** Whether all relations of the mapped kinds were read outside. */
  complete: boolean;
  /** By cards, in the relation's own direction. */
  local: { relationType: string; source: string; target: string }[];
  /** By records, already turned into the relation's direction. */
  remote: AgreedLink[];
}

/** A person's word on a conflict; it holds only while both sides are as they were when it was given. */
export interface Resolution {
  remoteId: string;
  /** A field, or null for the question whether what is gone on one side goes on the other. */
  path: Path | null;
  winner: Side;
  seen: { local: Value; remote: Value };
}

/**
 * A value that a side has refused; it is not written again while both sides hold what they held then. `path: null`: a whole new
 * card, whose values by path are what the remote held.
 */
export interface Refusal {
  remoteId: string;
  path: Path | null;
  side: Side;
  seen: { local: Value; remote: Value };
  reason: string;
}

/** A value that an undo has written back, and that no run has replaced since: it is as old as it was before. */
interface PutBack {
  remoteId: string;
  path: Path;
  side: Side;
  value: Value;
}

/** A person's word on which card a record is; `card: null` says that it is a new one. */
export interface Decision {
  remoteId: string;
  cardId: string | null;
}

/** All that a plan is made from. */
export interface Observation {
  remote: RemoteReading;
  local: LocalReading;
  /** Undefined when the run is not about relations. */
  links?: LinkReading;
  resolutions: Resolution[];
  decisions: Decision[];
  refusals?: Refusal[];
  /** Of fields in which newer changes win. */
  putBack?: PutBack[];
  /** Records that carry the mark of a record which was made for a card: by key, that record and the card. */
  copies?: ReadonlyMap<string, { of: string; cardId: string }>;
  /** The moment of the run; RFC 3339. */
  now: string;
  /** How far the remote's clock is ahead of ours, in milliseconds. */
  remoteAheadMs: number;
}
