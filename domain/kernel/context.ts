import { createHash } from 'node:crypto';
import type { Db, Transaction } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logging.ts';
import type { Passwords } from '../../platform/passwords.ts';
import type { EventType } from './events/events.catalogue.ts';
import type { EventDraft, StoredRow } from './events/row-changes.ts';
import type { JobDefinition } from './jobs/jobs.define.ts';
import type { CardType, Metamodel } from './metamodel/metamodel.compile.ts';
import type { MetamodelStore } from './metamodel/metamodel.store.ts';
import type { AppPermission, TokenScope } from './permissions/permissions.data.ts';
import type { RowModel } from './resources/rows.ts';

/** The caller and their application permissions. */
export interface Caller {
  /** Null for the service itself (schedules, housekeeping). */
  userId: string | null;
  email: string | null;
  displayName: string;
  role: string;
  permissions: ReadonlySet<AppPermission> | '*';
  /** The scopes of the presented API token, which limit all rights of the caller; absent: unlimited. */
  scopes?: ReadonlySet<TokenScope>;
  /** The id of the presented token, needed to revoke it. */
  tokenId: string | null;
  /** When the presented token expires. */
  tokenExpiresAt: Date | null;
  /** The user's token version at the time of the presented login. */
  tokenVersion?: number;
  /** When the user logged in, in seconds since 1970; absent if the token is not from a login. */
  loginAt?: number;
  /** The personal or service token that was presented instead of an access token. */
  apiTokenId?: string;
  /** The role that an administrator impersonates; `role` and `permissions` are those of that role. */
  impersonatedRole?: string;
  /** Whether the token can only be used to set up the second factor. */
  setupOnly?: true;
  /** Whether the token is the cookie of a web session, whose id is `tokenId`. */
  isWebSession?: true;
}

/** A batch of writes, which can be listed, inspected and undone as one unit. */
export interface BatchRef {
  id: string;
  /** The source of the writes: `METHOD path`, a kind of job, or the name given when the batch was opened. */
  toolName: string;
  /** Set for an open batch that the request joins; `dryRun`: requests that join it are rolled back. */
  joined?: { dryRun: boolean };
  /** Set if the client has chosen the id, for all requests of one action of its user. */
  byClient?: true;
  /** Set when a write has stored the batch. */
  isStored?: true;
  /** The number of rows that the writer has announced; used by the first write of the batch. */
  rowCount?: number;
}

/** The context of every command and query: one for each request or job. */
export interface Ctx {
  db: Db;
  log: Logger;
  caller: Caller;
  requestId: string;
  origin: 'api' | 'web' | 'mcp' | 'job' | 'system';
  jobId: string | null;
  /** The mutation batch of all writes in this context. */
  batch: BatchRef;
  passwords: Passwords;
  /** The composed extensions, see {@link Extensions}. */
  extensions: Extensions;
  metamodels: MetamodelStore;
  /** The metamodel at the start of the request or job. */
  metamodel: Metamodel;
  /** The feed position of the last write in this context. */
  position: number | undefined;
  /** ETags of the `If-Match` header; a command refuses with 412 if none matches. */
  ifMatch: string[] | undefined;
  /** The request's claim of its `Idempotency-Key`, under which its commands store their results. */
  claim: IdempotencyClaim | undefined;
  /** Deprecated parts of the metamodel that the request uses, by path; see `noteParts`. */
  noted?: Set<string>;
}

/** A request's claim of its `Idempotency-Key`. */
export interface IdempotencyClaim {
  key: string;
  /** Changes when another request takes over the key. */
  id: string;
  /** Results of the commands that an earlier request with this key committed before its process crashed, in order. */
  results: (Uint8Array | null)[];
  /** Encrypts results that contain secrets; absent for operations without secrets in their responses. */
  seal: SealedResults | undefined;
}

/** How results of commands are encrypted and decrypted. */
export interface SealedResults {
  seal(plain: string): string;
  open(sealed: string): string;
}

/** The state of a running command: its transaction, and the events and topics to record. */
export interface Work {
  sql: Transaction;
  /** The current metamodel; it cannot change before the transaction ends. */
  metamodel: Metamodel;
  /** The composed extensions. */
  extensions: Extensions;
  /** Records an event, which is written at the end of the transaction. */
  emit(event: EventDraft): void;
  /** Records a topic whose version increases with the commit. */
  raise(topic: string): void;
}

/** A card that is going to be deleted, as passed to extensions. */
export interface DeletedCard {
  id: string;
  name: string;
  type: string;
}

/** A user who is going to be deleted, as passed to extensions. */
export interface DeletedUser {
  id: string;
  display_name: string;
}

/** Rows of one table that refer to a card by one column; a merge moves them to the surviving card. */
export interface CardReference {
  /** The kind of row, as in events. */
  entity: string;
  /** The model of the rows, which have a column `id`, and its table. */
  model: RowModel;
  table: string;
  column: string;
  /** The column of the only user whom such a row concerns; other users do not receive its events. */
  owner?: 'user_id';
  /** Set if a card has at most one row of the kind. */
  once?: {
    /** The columns that are equal in two rows of the same kind. */
    by: string[];
    /** SQL on `t`: the rows that a merge may delete; by default any. Other rows take precedence over them. */
    only?: string;
    /** The event of a row that a merge deletes; `user` is the display name of its user. */
    event(card: { id: string; name: string }, type: CardType, row: StoredRow, user: string): EventDraft;
  };
  /**
   * Columns that refer to rows which have the same card, in the same column. After the undo of a merge, rows follow those
   * to which they refer, if they meet the condition `only` on `t`.
   */
  follows?: readonly { column: string; table: string; only?: string }[];
  /** The undo of a merge leaves rows with such a later event, if they meet a condition on `t`. */
  fixed?: { by: EventType; only: string };
  /**
   * Called before a merge moves rows, with the ids of its cards, the survivor first.
   * @returns the number of rows that it has moved itself, with their events.
   */
  beforeMerge?(work: Work, cardIds: readonly string[]): Promise<number>;
}

/**
 * What a stored object needs of the metamodel: one of several parts, by their paths (`field:Application.costTotalAnnual`) with
 * the card types or relation types that have it.
 */
export type Reference = readonly string[];

/** A kind of stored objects that refer to the metamodel by keys: consumers, such as saved views. */
export interface ConsumerKind {
  /** The tables whose rows are read; a test finds tables that no kind reads. */
  tables: readonly string[];
  /**
   * A query of the objects with the columns `id`, `kind`, `name`, `owner_id`, `last_used_at`, `link`, `is_visible` (whether
   * the caller may read it) and `content` (jsonb: all that refers to the metamodel).
   */
  rows(ctx: Ctx): { sql: string; bindings: unknown[] };
  /** What the content of an object refers to. Keys of parts that were renamed are replaced by the present ones, in place. */
  references(content: unknown, metamodel: Metamodel): Iterable<Reference>;
  /** Stores content with present keys, with its event; absent: objects of the kind cannot follow a rename. */
  write?(work: Work, id: string, content: unknown): Promise<void>;
}

/** All extensions in the order in which they are called. */
export interface Extensions {
  jobs: readonly JobDefinition[];
  cardReferences: readonly CardReference[];
  consumers: readonly ConsumerKind[];
  deleteWithCards(work: Work, cards: readonly DeletedCard[]): Promise<void>;
  deleteWithUsers(work: Work, ctx: Ctx, users: readonly DeletedUser[]): Promise<void>;
  userRightsChanged(work: Work, ctx: Ctx, userIds: readonly string[]): Promise<void>;
  stakeholdersChanged(work: Work, cardType: string, cardIds?: readonly string[]): Promise<void>;
}

/** A caller who is not logged in. */
export const anonymousCaller: Caller = {
  userId: null,
  email: null,
  displayName: 'Anonymous',
  role: 'anonymous',
  permissions: new Set(),
  tokenId: null,
  tokenExpiresAt: null,
};

export const systemCaller: Caller = {
  userId: null,
  email: null,
  displayName: 'Estate',
  role: 'system',
  permissions: '*',
  tokenId: null,
  tokenExpiresAt: null,
};

/** The strong ETag of a representation, given as a whole or in chunks: a hash of its text. */
export function etagOf(text: string | Buffer[]): string {
  const hash = createHash('sha1');
  for (const part of typeof text === 'string' ? [text] : text) hash.update(part);
  return `"${hash.digest('base64url')}"`;
}

/** The tags of an `If-Match` or `If-None-Match` header; `*` stays as it is. */
export const parseEtags = (header: string): string[] => header.match(/\*|(?:W\/)?"[^"]*"/g) ?? [];

/** Weak comparison (RFC 9110, 8.8.3.2), so that a cache that weakens tags still gets its 304. */
export function matchesEtag(etag: string, given: string[]): boolean {
  const plain = (tag: string) => tag.replace(/^W\//, '');
  return given.some((tag) => tag === '*' || plain(tag) === plain(etag));
}

/**
 * Compares the request's `If-Match` with the representation read under the command's lock.
 * @throws EstateError `precondition_failed` if the resource has changed.
 */
export function checkIfMatch(ctx: Ctx, representation: string): void {
  if (!ctx.ifMatch) return;
  const etag = etagOf(representation);
  if (ctx.ifMatch.some((tag) => tag === '*' || tag === etag)) return;
  throw new EstateError('precondition_failed', 'The resource has changed since you read it; read it again.', {
    headers: { etag },
  });
}
