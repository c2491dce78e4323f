import type { RemoteRecord, RemoteTombstone } from '../remote.ts';

/** A table outside. */
export interface RemoteTable {
  name: string;
  label: string;
  /** The table whose columns and meaning it takes over. */
  parent: string | null;
}

/** A column outside. */
export interface RemoteColumn {
  name: string;
  label: string;
  kind: 'text' | 'integer' | 'decimal' | 'boolean' | 'date' | 'datetime' | 'reference' | 'other';
  /** What the remote itself calls the kind. */
  remoteKind: string;
  /** The table that a reference leads to. */
  reference: string | null;
  /** Longer texts are refused or truncated by the remote. */
  maxLength: number | null;
  mandatory: boolean;
  /** The remote fills it by itself, and takes nothing for it. */
  readonly?: true;
  /** Stored value and what people see of it, where the values are a list. */
  choices: { value: string; label: string }[];
}

/** A kind of relation outside, with both of its readings. */
export interface RemoteRelationType {
  id: string;
  name: string;
  forward: string;
  reverse: string;
}

export interface RemoteRelation {
  id: string;
  /** The id of its kind. */
  type: string;
  from: string;
  to: string;
  updatedAt: string;
}

export interface ReadRequest {
  table: string;
  /** Columns to read; the record's key and time of update come always. */
  fields: string[];
  /** In the remote's own language. */
  filter?: string;
  /** Rows of a page; fewer come where the remote is slow. */
  limit: number;
  /** `next` of the page before, or null for the first. */
  cursor: string | null;
  /** Whether to read what people see of values too; they are unless told otherwise. */
  display?: boolean;
}

export interface DeltaRequest extends ReadRequest {
  /** By the remote's clock, RFC 3339; null reads all. */
  since: string | null;
  /** How much before `since` the reading begins, for writes that became visible late; 60 s unless given. */
  overlapMs?: number;
}

export interface Page {
  /** Each record once, even where the remote repeated it. */
  records: RemoteRecord[];
  /** Null after the last page. A page may be short, even empty, though more follow. */
  next: string | null;
  /** The remote keeps rows of this stretch back: what is missing here is not gone. */
  withheld: boolean;
  /** Some of them are missing since other rows came twice in their place. */
  repeated?: true;
}

/** Columns of a table as a person may want to write them; null empties one. */
export type RemoteValues = Record<string, string | number | boolean | null>;

/** A direct look at one record. */
export type RemoteLook = { kind: 'there'; record: RemoteRecord } | { kind: 'gone' } | { kind: 'unknown' };

/** What came of a write that may have been done before. */
export interface Written {
  record: RemoteRecord;
  /** The answer had been lost, and the record was found as it should be. */
  recovered: boolean;
  /** Of a create: whether the remote took a record that it had before for the new one; missing where `adopted` is to be asked. */
  adopted?: boolean;
  /** What somebody should know about the write, though it was done. */
  notice?: string;
}

export type Right = 'read' | 'create' | 'update' | 'delete';

export interface RightFound {
  table: string;
  right: Right;
  /** Null when the remote does not let it be found out without a try. */
  granted: boolean | null;
  /** How that is known, or what to ask the remote's administrator for. */
  how: string;
  /** Runs fail while it is lacking, whatever else is granted. */
  blocks?: true;
}

/**
 * A remote database of configuration items. Calls wait for the remote's rate limits and are repeated as long as that is
 * safe. All of them throw RemoteError.
 */
export interface Connector {
  /** The column that holds the correlation id of records made here, where records can be read with it. */
  correlationColumn?: string;
  /** Complete readings do not prove that a record is gone, since the remote does not tell that it hides records. */
  absenceProvesNothing?: true;
  describeTables(search?: string): Promise<RemoteTable[]>;
  /**
   * Columns of a table, inherited ones included, by name.
   * @param whole fails with `forbidden` where the remote keeps columns from the account, rather than describing the others.
   */
  describeFields(table: string, whole?: boolean): Promise<RemoteColumn[]>;
  describeRelationTypes(): Promise<RemoteRelationType[]>;
  /** Names in a filter that the table does not have; a remote may pass over such a condition in silence. */
  unknownInFilter(table: string, filter: string): Promise<string[]>;
  /** Columns that are filled outside but shown empty to the account: their values are unknown, not empty. */
  withheldFields(table: string, fields: string[]): Promise<string[]>;
  /** When the table last changed, by the remote's clock; to be asked before a complete reading. */
  newestChange(table: string, filter?: string): Promise<string | null>;
  /** A page in the order of keys: a record that is there throughout is met exactly once, whatever comes and goes. */
  readPage(request: ReadRequest): Promise<Page>;
  /** A page in the order of change; records changed while it is read may be met twice. */
  readSince(request: DeltaRequest): Promise<Page>;
  /** Looks at records one by one, whatever filter they fit. */
  readByIds(table: string, ids: string[], fields: string[]): Promise<Map<string, RemoteLook>>;
  /**
   * The classes of those of these records that are no longer in the table they were read from, but in another one under the
   * same key. Missing where a record never changes its class.
   */
  reclassified?(ids: string[]): Promise<Map<string, string>>;
  /**
   * As readPage and readSince, of the relations of these kinds; of all when none is named. `ends`: only those with one of
   * these records at an end are asked for; a remote that cannot be asked so shows all.
   */
  readRelations(request: {
    types: string[];
    ends?: string[];
    since: string | null;
    limit: number;
    cursor: string | null;
  }): Promise<{ relations: RemoteRelation[]; next: string | null; withheld: boolean }>;
  /**
   * Why the account cannot read what has changed, and what that costs; null if it can. Runs then read everything. Missing if
   * every account can.
   */
  deltaUnavailable?(): Promise<string | null>;
  /** Records of a table, or relations, that were deleted since a moment of the remote's clock. */
  deletionsSince(table: string, since: string): Promise<RemoteTombstone[]>;
  relationDeletionsSince(since: string): Promise<RemoteTombstone[]>;
  /**
   * Those of these relations that are there, though they were deleted: a restored one keeps the tombstone of its deletion. Missing
   * where no relation comes back under its own key.
   */
  relationsThere?(ids: string[]): Promise<Set<string>>;
  /**
   * Makes a record under an id of our own, by which it is looked up when the answer is lost, before it is tried again.
   * After a run that was killed ask `findCreated` first.
   */
  create(table: string, values: RemoteValues, correlation: string): Promise<Written>;
  /** The record made under a correlation id, if it was. */
  findCreated(table: string, correlation: string): Promise<RemoteRecord | null>;
  /** Whether the record in which a create ended had been there before. Missing where the remote always makes one. */
  adopted?(table: string, id: string): Promise<boolean>;
  /**
   * @param version the record as it was looked at: where the remote can, it is written only while it still is that, and
   * is `changed_meanwhile` otherwise. Where it can only tell afterwards that somebody was between, what they had written is
   * put back, and that is `changed_meanwhile` too.
   * @param seen what it held then: a write whose answer was lost is only sent again while that still stands, and is
   * `changed_meanwhile` otherwise.
   */
  update(
    table: string,
    id: string,
    values: RemoteValues,
    version?: string,
    seen?: RemoteRecord['fields'],
  ): Promise<Written>;
  /** As update. @returns whether there was something to delete. */
  delete(table: string, id: string, version?: string, seen?: RemoteRecord['fields']): Promise<boolean>;
  /** Makes a relation; when the answer is lost it is looked up by its ends and kind first. @returns its id. */
  createRelation(type: string, from: string, to: string): Promise<string>;
  deleteRelation(id: string): Promise<boolean>;
  /** The id of the relation of a kind between two records, null where there is none; for remotes that tell such. */
  findRelation?(type: string, from: string, to: string): Promise<string | null>;
  testRights(needs: { table: string; rights: Right[] }[]): Promise<RightFound[]>;
  /** How far the remote's clock is ahead of ours in milliseconds, to a second; null before the first answer. */
  clockAheadMs(): number | null;
  /** Requests sent so far, failed ones too. */
  calls(): number;
  close(): Promise<void>;
}
