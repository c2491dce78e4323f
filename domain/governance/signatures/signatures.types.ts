import Type from 'typebox';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { EventDraft, StoredRow } from '../../kernel/events/row-changes.ts';
import type { ListSpec } from '../../kernel/lists/lists.types.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import type { RowModel } from '../../kernel/resources/rows.ts';
import { Nullable, OpenObject, type StaticOf, Timestamp, Uuid } from '../../kernel/shapes.ts';

/** The states of a document with signatures; only statements of architecture work become `approved`. */
export const signedStatuses = ['draft', 'in_review', 'approved', 'signed'] as const;
export type SignedStatus = (typeof signedStatuses)[number];

/** A user who was asked to sign, as stored. */
export interface Signatory {
  user_id: string;
  status: 'pending' | 'signed';
  /** RFC 3339 */
  signed_at: string | null;
  /** SHA-256 of the content that was signed. */
  content_hash: string | null;
}

/** Why a document was returned to draft, as stored. */
interface Rejection {
  user_id: string;
  comment: string;
  /** RFC 3339 */
  rejected_at: string;
}

/** The columns that documents with signatures have in common. */
export const signedColumns = {
  revision_number: Type.Integer({ minimum: 1 }),
  parent_id: Nullable(Uuid),
  series_id: Uuid,
  signatories: Type.Unsafe<Signatory[]>(Type.Array(OpenObject)),
  rejection: Nullable(Type.Unsafe<Rejection>(OpenObject)),
  signed_at: Nullable(Timestamp),
  content_hash: Nullable(Type.String({ pattern: '^[0-9a-f]{64}$' })),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
  updated_at: Timestamp,
};
export type SignedRow = StaticOf<typeof signedColumns> & { id: string; status: SignedStatus };

/** The steps of the signing process, as event types name them. */
export type SigningEvent =
  | 'signatures_requested'
  | 'signatory_replaced'
  | 'signed'
  | 'signatures_recalled'
  | 'rejected';

/** A kind of document with signatures: what the signing process needs to know about it. */
export interface SignedKind<Row extends SignedRow = SignedRow> {
  /** The first part of its event types, of its to-dos' topic and of its notifications. */
  key: 'adr' | 'soaw';
  /** The name of one document in errors. */
  entity: string;
  model: RowModel;
  /** The page of the application that shows one document. */
  page: string;
  rights: { view: AppPermission; manage: AppPermission; sign: AppPermission };
  /** The name of the document in messages. */
  nameOf(row: Row): string;
  /**
   * The signed content: without the state of the document and without columns that other operations change. It consists
   * of strings, integers, booleans, null, arrays and objects.
   */
  contentOf(row: Row): Record<string, unknown>;
  /** The columns that a revision copies. */
  copied(row: Row): StoredRow;
  /** Copies what is linked to a document to its revision. */
  copyLinked?(work: Work, ctx: Ctx, from: Row, to: Row): Promise<void>;
  /** The input of a user as it is stored. @throws EstateError `validation_failed` naming all errors. */
  checked(input: object): StoredRow;
  /** Locks and checks the cards to which the values refer. @throws EstateError `validation_failed`. */
  lockReferences?(work: Work, ctx: Ctx, values: StoredRow): Promise<void>;
  /** The statuses that a user can set; the others are set by operations. */
  settable: readonly SignedStatus[];
  event(
    before: Row | null,
    after: Row | null,
    type?: EventType,
    more?: Record<string, unknown>,
  ): EventDraft | Promise<EventDraft>;
  /** The visible documents. @param isWhole with the members that lists omit. */
  list(ctx: Ctx, isWhole: boolean): ListSpec;
}
