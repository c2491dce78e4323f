/** A value of a field, as JSON. */
type BookValue = null | string | number | boolean | BookValue[] | { [key: string]: BookValue };

/** What both sides last agreed on about a field, each as its own side holds it. */
interface StoredAgreed {
  local: BookValue;
  remote: BookValue;
}

/** How a pair stands; what is gone, how that is known and since when go with some states only. */
export interface StoredPairState {
  state: 'linked' | 'quarantined' | 'ended' | 'unmapped' | 'removed';
  gone: 'local' | 'remote' | null;
  evidence: 'tombstone' | 'look' | 'readings' | 'inventory' | null;
  /** RFC 3339. */
  since: string | null;
}

/** A line of a mapping's identity map. */
export interface StoredPair extends StoredPairState {
  remote_id: string;
  /** The card it was made with; merges of cards lead on from there. */
  card_id: string;
  origin: 'pulled' | 'pushed' | 'linked';
  /** By the card's field. */
  base: Record<string, StoredAgreed>;
  absences: number;
}

/** A relation that both sides last had, by the records at its ends. */
export interface StoredLink {
  relation_type: string;
  source: string;
  target: string;
  /** The remote's key of the relation, where it has told one. */
  remote_relation_id: string | null;
}

/** What a mapping remembers beside its pairs. */
export interface StoredBook {
  /** Up to where records and relations were read outside, by the remote's clock; RFC 3339. */
  watermark: string | null;
  links_watermark: string | null;
  /** Up to where changes were read here, by the feed. */
  local_position: string | null;
  again: string[];
  complete_read_at: string | null;
  /** The same of runs that go one of the mapping's two ways, as far as these have read for themselves. */
  pulled_read_at: string | null;
  pushed_read_at: string | null;
  pulled_position: string | null;
  pushed_watermark: string | null;
}

/** What changes of a pair that stays. */
export interface PairAmendment {
  remote_id: string;
  base: Record<string, StoredAgreed>;
  /** Fields on which nothing is agreed any more. */
  forgets: string[];
  state: StoredPairState | null;
  absences: number | null;
}

/** What a transaction changes in the book; a record stands in one of the first three at most. */
export interface BookWrites {
  pairs: StoredPair[];
  drops: string[];
  amendments: PairAmendment[];
  links: StoredLink[];
  unlinks: StoredLink[];
  /** Takes the place of what stood there. */
  again?: string[];
  watermark?: string | null;
}
