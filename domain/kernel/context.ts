import type { Knex } from 'knex';
import type { Db } from '../../platform/database.ts';
import type { Logger } from '../../platform/logging.ts';
import type { Passwords } from '../../platform/passwords.ts';
import type { EventDraft } from './events/events.types.ts';
import type { StoredRow } from './events/row-changes.ts';
import type { JobDefinition } from './jobs/jobs.define.ts';
import type { CardType, Metamodel } from './metamodel/metamodel.compile.ts';
import type { MetamodelStore } from './metamodel/metamodel.store.ts';
import type { AppPermission, TokenScope } from './permissions/permissions.data.ts';
import type { RowModel } from './resources/rows.ts';

/** Who acts, and with which application permissions. */
export interface Caller {
  /** Null for the service itself (schedules, clean-up). */
  userId: string | null;
  email: string | null;
  displayName: string;
  role: string;
  permissions: ReadonlySet<AppPermission> | '*';
  /** The scopes of the presented API token, which bound every other right of the caller; absent: unbounded. */
  scopes?: ReadonlySet<TokenScope>;
  /** The id of the presented token, to revoke it. */
  tokenId: string | null;
  /** When the presented token ends. */
  tokenExpiresAt: Date | null;
  /** The user's token version that the presented login was made under. */
  tokenVersion?: number;
  /** When the person logged in, in seconds since 1970; absent for whatever is no login. */
  loginAt?: number;
  /** The personal or service token that was shown instead of a login's. */
  apiTokenId?: string;
  /** The role as which an administrator reads the service; `role` and `permissions` are that role's. */
  impersonatedRole?: string;
  /** Whether the token only serves to set up the second factor. */
  setupOnly?: true;
}

/** One batch of writes, which is listed, inspected and undone as a whole. */
export interface BatchRef {
  id: string;
  /** What writes: `METHOD path`, a kind of job, or the name under which a batch was opened. */
  toolName: string;
  /** Set for an open batch that the request joins; `dryRun`: what joins it is tried and not written. */
  joined?: { dryRun: boolean };
  /** How many rows the writer has announced; counts with the batch's first write. */
  rowCount?: number;
}

/** What every command and query is called with: one per request or job. */
export interface Ctx {
  db: Db;
  log: Logger;
  caller: Caller;
  requestId: string;
  origin: 'api' | 'web' | 'mcp' | 'job' | 'system';
  jobId: string | null;
  /** The mutation batch that everything written through this context belongs to. */
  batch: BatchRef;
  passwords: Passwords;
  /** What the parts of the domain add to shared operations. */
  extensions: Extensions;
  metamodels: MetamodelStore;
  /** The metamodel as it was when the request or job began. */
  metamodel: Metamodel;
  /** The feed position of the last write made through this context. */
  position: number | undefined;
  /** ETags of an `If-Match` header; a command refuses with 412 when none fits. */
  ifMatch: string[] | undefined;
  /** The request's claim on its `Idempotency-Key`, under which its commands store their results. */
  claim: IdempotencyClaim | undefined;
}

/** A request's hold on its `Idempotency-Key`. */
export interface IdempotencyClaim {
  key: string;
  /** Changes when another request takes the key over. */
  id: string;
  /** Results of the commands that an earlier request with this key committed before it was lost, in order. */
  results: (Uint8Array | null)[];
  /** Encrypts results that hold secrets; absent for operations whose answers hold none. */
  seal: SealedResults | undefined;
}

/** How results of commands are encrypted and decrypted. */
export interface SealedResults {
  seal(plain: string): string;
  open(sealed: string): string;
}

/** What a command's body works with: one transaction, and the events and topics it leaves behind. */
export interface Work {
  sql: Knex.Transaction;
  /** The metamodel in force; nobody else changes it before the transaction ends. */
  metamodel: Metamodel;
  /** What the parts of the domain add to shared operations. */
  extensions: Extensions;
  /** Records an event, to be written as the transaction's last act. */
  emit(event: EventDraft): void;
  /** Records a topic whose version rises with the commit. */
  raise(topic: string): void;
}

/** A card as the extensions see it that act on its deletion. */
export interface DeletedCard {
  id: string;
  name: string;
  type: string;
}

/** A user as the extensions see it that act on its deletion. */
export interface DeletedUser {
  id: string;
  display_name: string;
}

/** Rows of one table that refer to a card by one column, and move to the surviving card of a merge. */
export interface CardReference {
  /** The kind of row, as events name it. */
  entity: string;
  /** The model of the rows, which have a column `id`, and its table. */
  model: RowModel;
  table: string;
  column: string;
  /** The column of the only user whom such a row concerns; other users get no event of it. */
  owner?: 'user_id';
  /** Set where a card has at most one row of its kind. */
  once?: {
    /** The columns that are equal in two rows of the same kind. */
    by: string[];
    /** SQL on `t`: the rows that a merge may drop; without it any. Other rows are kept, in preference to these. */
    only?: string;
    /** The event of a row that a merge drops (`gone`) or its undo restores; `user` is the display name of its user. */
    event(
      card: { id: string; name: string },
      type: CardType,
      row: StoredRow,
      user: string,
      gone: boolean,
    ): EventDraft;
  };
}

/** All extensions in the order in which they are called. */
export interface Extensions {
  jobs: readonly JobDefinition[];
  cardReferences: readonly CardReference[];
  deleteWithCards(work: Work, cards: readonly DeletedCard[]): Promise<void>;
  deleteWithUsers(work: Work, ctx: Ctx, users: readonly DeletedUser[]): Promise<void>;
  userRightsChanged(work: Work, ctx: Ctx, userIds: readonly string[]): Promise<void>;
  stakeholdersChanged(work: Work, cardType: string, cardIds?: readonly string[]): Promise<void>;
}

/** Anyone who has not logged in. */
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
