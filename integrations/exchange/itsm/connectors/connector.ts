import type { Limiter } from '../limiter/limiter.ts';
import type { RecordLookup, RemoteRecord, RemoteTombstone } from '../remote.ts';

/** A table of the remote. */
export interface RemoteTable {
  name: string;
  label: string;
  /** The table that it extends. */
  parent: string | null;
}

/** A column of a remote table. */
export interface RemoteColumn {
  name: string;
  label: string;
  kind: 'text' | 'integer' | 'decimal' | 'boolean' | 'date' | 'datetime' | 'reference' | 'other';
  /** The remote's own name of the kind. */
  remoteKind: string;
  /** The table that a reference leads to. */
  reference: string | null;
  /** The remote refuses or truncates longer texts. */
  maxLength: number | null;
  mandatory: boolean;
  /** The remote sets the value; it cannot be written. */
  readonly?: true;
  /** The allowed values with their labels; empty if any value is allowed. */
  choices: { value: string; label: string }[];
}

/** A relation type of the remote, with a label for each direction. */
export interface RemoteRelationType {
  id: string;
  name: string;
  forward: string;
  reverse: string;
}

export interface RemoteRelation {
  id: string;
  /** The id of its relation type. */
  type: string;
  from: string;
  to: string;
  updatedAt: string;
}

export interface ReadRequest {
  table: string;
  /** Columns to read, besides the key and the time of the last update. */
  fields: string[];
  /** In the remote's query language. */
  filter?: string;
  /** Maximum rows of a page; a slow remote returns fewer. */
  limit: number;
  /** `next` of the previous page; null for the first. */
  cursor: string | null;
}

export interface DeltaRequest extends ReadRequest {
  /** By the remote's clock, RFC 3339; null reads everything. */
  since: string | null;
  /** How long before `since` the read starts, for writes that became visible late; by default the connector's own overlap. */
  overlapMs?: number;
  /** The `deltaToken` of the last read; null: the read starts at `since`. */
  token?: string | null;
}

export interface Page {
  /** Each record once, even if the remote repeats it. */
  records: RemoteRecord[];
  /** Null after the last page. A page can be short or empty although more follow. */
  next: string | null;
  /** The remote hides rows of this page from the account: a missing record is not gone. */
  hasHiddenRows: boolean;
  /** Records that the remote reports as deleted on this page. A later page may contain one of them again. */
  removed?: RemoteTombstone[];
  /** On the last page: where the next delta starts, if the remote names it. */
  deltaToken?: string;
  /** Some rows are missing because the remote returned others twice. */
  hasRepeatedRows?: true;
}

/** Values to write, by column; null empties a column. */
export type RemoteValues = Record<string, string | number | boolean | null>;

export interface WriteResult {
  record: RemoteRecord;
  /** The response was lost, and a lookup found the write executed. */
  isRecovered: boolean;
  /** Of a create: whether the remote used an existing record instead; undefined if `wasAdopted` must be called. */
  adopted?: boolean;
  /** What users should know about the write. */
  notice?: string;
}

export type Right = 'read' | 'create' | 'update' | 'delete';

export interface RightResult {
  table: string;
  right: Right;
  /** Null if it cannot be determined without a write. */
  granted: boolean | null;
  /** How it was determined, or what to request from the remote's administrator. */
  how: string;
  /** Without this right every run fails. */
  blocksRuns?: true;
}

/**
 * Calls one remote. Calls wait for the remote's rate limit and are retried as long as that cannot execute a write twice.
 * All methods throw RemoteError.
 */
export interface Connector {
  /** The rate limiter of the account. */
  limiter: Limiter;
  /** The column that stores the correlation id of created records, if records can be read with it. */
  correlationColumn?: string;
  /** The remote omits hidden records without reporting it: full reads do not prove that a record is gone. */
  omitsHiddenRecords?: true;
  describeTables(search?: string): Promise<RemoteTable[]>;
  /**
   * Columns of a table, including inherited ones, by name.
   * @param whole fails with `forbidden` if the remote hides columns from the account; otherwise hidden columns are omitted.
   */
  describeFields(table: string, whole?: boolean): Promise<RemoteColumn[]>;
  describeRelationTypes(): Promise<RemoteRelationType[]>;
  /** Names in a filter that are no columns of the table; a remote may silently ignore such a condition. */
  findUnknownColumns(table: string, filter: string): Promise<string[]>;
  /** Those of the columns that have values but are returned empty to the account: their values are unknown. */
  findHiddenColumns(table: string, fields: string[]): Promise<string[]>;
  /** Reads a page in the order of keys: a record that exists throughout is returned exactly once. */
  readPage(request: ReadRequest): Promise<Page>;
  /**
   * Reads a page in the order of changes; a record that changes meanwhile may be returned twice.
   * @throws RemoteError `resync_needed` if the remote no longer knows the token.
   */
  readSince(request: DeltaRequest): Promise<Page>;
  /** Reads records by key, regardless of any filter. */
  readByIds(table: string, ids: string[], fields: string[]): Promise<Map<string, RecordLookup>>;
  /**
   * The current class of those of these records that have moved to another table under the same key. Undefined if records never
   * change their class.
   */
  findReclassified?(ids: string[]): Promise<Map<string, string>>;
  /**
   * As readPage and readSince, for relations of these types, all types if empty. `ends` restricts the result to relations with one
   * of these records at an end, if the remote supports that.
   */
  readRelations(request: {
    types: string[];
    ends?: string[];
    since: string | null;
    limit: number;
    cursor: string | null;
  }): Promise<{ relations: RemoteRelation[]; next: string | null; hasHiddenRows: boolean }>;
  /**
   * Why the account cannot read changes, and the consequences; null if it can. Runs then read everything. Undefined if every
   * account can.
   */
  explainMissingDelta?(): Promise<string | null>;
  /** Records of a table that were deleted since a time of the remote's clock. */
  readDeletions(table: string, since: string): Promise<RemoteTombstone[]>;
  readRelationDeletions(since: string): Promise<RemoteTombstone[]>;
  /**
   * Those of these deleted relations that exist again: a restored relation still has its tombstone. Undefined if no relation is
   * restored under its own key.
   */
  findExistingRelations?(ids: string[]): Promise<Set<string>>;
  /**
   * Creates a record with a correlation id, by which it is looked up before a retry if the response is lost. After a killed run,
   * call `findCreated` first.
   */
  create(table: string, values: RemoteValues, correlation: string): Promise<WriteResult>;
  /** The record that was created with a correlation id; null if there is none. */
  findCreated(table: string, correlation: string): Promise<RemoteRecord | null>;
  /** Whether the record that a create returned existed before. Undefined if the remote always creates a new one. */
  wasAdopted?(table: string, id: string): Promise<boolean>;
  /**
   * @param version the record is written only if it still has this version, if the remote supports that. If the remote only shows
   * afterwards that another user's change was overwritten, that change is restored.
   * @param seen the values that were read: a write whose response is lost is sent again only if they are unchanged.
   * @throws RemoteError `changed_concurrently` in all three cases.
   */
  update(
    table: string,
    id: string,
    values: RemoteValues,
    version?: string,
    seen?: RemoteRecord['fields'],
  ): Promise<WriteResult>;
  /** As update. @returns whether the record existed. */
  delete(table: string, id: string, version?: string, seen?: RemoteRecord['fields']): Promise<boolean>;
  /** Creates a relation; if the response is lost it is looked up by type and ends. @returns its id. */
  createRelation(type: string, from: string, to: string): Promise<string>;
  deleteRelation(id: string): Promise<boolean>;
  /** The id of the relation of a type between two records; null if there is none. Undefined if the remote cannot search for it. */
  findRelation?(type: string, from: string, to: string): Promise<string | null>;
  testRights(needs: { table: string; rights: Right[] }[]): Promise<RightResult[]>;
  /** How far the remote's clock is ahead of ours, in milliseconds with a precision of one second; null before the first response. */
  clockAheadMs(): number | null;
  /** Number of requests sent, including failed ones. */
  calls(): number;
  close(): Promise<void>;
}
