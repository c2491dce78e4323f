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

/** How a field's value is told on the other side. */
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
