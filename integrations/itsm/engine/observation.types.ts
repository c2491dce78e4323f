import type { RemoteRecord, RemoteTombstone } from '../remote.types.ts';
import type { AgreedLink } from './book.types.ts';
import type { Path, Side } from './mapping.types.ts';
import type { Value } from './values.ts';

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
