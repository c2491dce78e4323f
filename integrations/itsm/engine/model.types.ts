import type { RemoteRecord, RemoteTombstone } from '../remote.types.ts';
import type { Value } from './values.ts';

/**
 * Where a card holds a value: `name`, `description`, `parent_id`, `lifecycle.<phase>`, `attributes.<key>`; or the card at the
 * other end of its relations of a type, several as a list: `relations.<key>`, `reverse_relations.<key>`.
 */
export type Path = string;

/** One of the two sides: the inventory, or the database outside. */
export type Side = 'local' | 'remote';

/** Which sides the engine may write on. */
export type SyncDirection = 'pull' | 'push' | 'bidirectional';

/**
 * Who is right about a field that was moved on both sides to different values. A field that was moved on one side
 * alone goes to the other, whatever stands here, as far as the mapping's direction lets it.
 */
export type FieldRule = 'remote_leads' | 'local_leads' | 'newest_wins' | 'manual';

/** How a field's value is converted between the sides. */
export type Transform =
  | { kind: 'direct' }
  /** A local number, which the remote may tell as text. */
  | { kind: 'number' }
  /** Pairs of remote and local value. The first pair that has a value is taken, so that several may share one. */
  | { kind: 'value_map'; pairs: { remote: Value; local: Value }[] }
  /** A remote date or date and time (UTC), and a local `YYYY-MM-DD`. */
  | { kind: 'date'; remote: 'date' | 'datetime' }
  /** Which remote values mean yes and no; the first of each list is written. */
  | { kind: 'boolean'; yes: Value[]; no: Value[] }
  /** A remote key and the card that it is mapped to. */
  | { kind: 'reference' }
  /** Formulas, run by what the caller passes in; without `toRemote` the field is never written outside. */
  | { kind: 'expression'; toLocal: string; toRemote?: string };

export interface FieldMapping {
  path: Path;
  /** The column outside. */
  remote: string;
  rule: FieldRule;
  transform: Transform;
  /** Takes part in telling which record is which card. */
  identity: boolean;
}

/** A relation type, and the kind of relation outside. */
interface RelationMapping {
  relationType: string;
  remoteType: string;
  /** The remote tells it from the target's side. */
  reversed: boolean;
}

/** What the engine may remove, and when it takes fright. */
interface DeletionPolicy {
  /** `additive` removes nothing, `conservative` only what the engine itself has made, `strict` all that is mapped. */
  mode: 'additive' | 'conservative' | 'strict';
  /** How many may go in one run. */
  maxCount: number;
  /** Which part of all mapped pairs may go in one run, 0 to 1. */
  maxRatio: number;
  /** How long something gone waits until its counterpart is removed, in milliseconds. */
  quarantineMs: number;
  /** After how many complete readings without it a record counts as gone; 0: never by that alone. */
  completeReads: number;
  /** Columns are kept from the account: what was changed in them is not known, and nothing is removed meanwhile. */
  held?: true;
}

/** What ties a card type to a table outside. */
export interface Mapping {
  id: string;
  cardType: string;
  table: string;
  direction: SyncDirection;
  fields: FieldMapping[];
  relations: RelationMapping[];
  /** What new cards and records hold beside the mapped values. */
  defaults: { local: Record<Path, Value>; remote: Record<string, Value> };
  /** Whether only a part of the table is read, so that a record which is missing may be one that no longer fits. */
  filtered: boolean;
  deletion: DeletionPolicy;
}

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
  /** What the next reading goes on from; RFC 3339, by the remote's clock. */
  watermark: string | null;
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
