import type { Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { EventDraft } from '../../kernel/events/events.types.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';

/** Where a document stands that people sign; only statements of architecture work are ever `approved`. */
export const signedStatuses = ['draft', 'in_review', 'approved', 'signed'] as const;
export type SignedStatus = (typeof signedStatuses)[number];

/** Somebody who was asked to sign, as stored. */
export interface Signatory {
  user_id: string;
  status: 'pending' | 'signed';
  /** RFC 3339 */
  signed_at: string | null;
  /** SHA-256 of the content that was signed. */
  content_hash: string | null;
}

/** Why a document became a draft again, as stored. */
interface Rejection {
  user_id: string;
  comment: string;
  /** RFC 3339 */
  rejected_at: string;
}

/** The columns that every document has which people sign. */
export interface SignedRow extends StoredRow {
  id: string;
  status: SignedStatus;
  revision_number: number;
  /** The revision before. */
  parent_id: string | null;
  /** The first revision. */
  series_id: string;
  signatories: Signatory[];
  rejection: Rejection | null;
  signed_at: string | null;
  content_hash: string | null;
  created_by: string | null;
}

/** What happens to a document on its way to its signatures, as its events call it. */
export type SigningEvent =
  | 'signatures_requested'
  | 'signatory_replaced'
  | 'signed'
  | 'signatures_recalled'
  | 'rejected';

/** A kind of document that people sign: all that the way to its signatures needs to know of it. */
export interface SignedKind<Row extends SignedRow = SignedRow> {
  /** The first part of its event types, of its to-dos' topic and of its notifications. */
  key: 'adr' | 'soaw';
  /** What one is called in a refusal. */
  entity: string;
  table: 'adrs' | 'soaws';
  /** The page of the application under which one is shown. */
  page: string;
  rights: { view: AppPermission; manage: AppPermission; sign: AppPermission };
  /** What people know it by. */
  nameOf(row: Row): string;
  /**
   * What is signed: the content without what the service keeps about it. Built of strings, whole numbers, booleans, null,
   * lists and objects alone. What other acts than writing the document change stands outside.
   */
  contentOf(row: Row): Record<string, unknown>;
  event(
    before: Row | null,
    after: Row | null,
    type?: EventType,
    more?: Record<string, unknown>,
  ): EventDraft | Promise<EventDraft>;
  /** One of them as the caller may see it, or undefined. */
  text(sql: Sql, ctx: Ctx, id: string): Promise<JsonText | undefined>;
}
