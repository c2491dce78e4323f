import type { LifecyclePhase } from '../../../kernel/metamodel/metamodel.types.ts';

export type CardStatus = 'ACTIVE' | 'ARCHIVED';
export type ApprovalStatus = 'DRAFT' | 'APPROVED' | 'REJECTED' | 'BROKEN';

/** ISO dates by phase; a phase that is not set is absent. */
export type Lifecycle = Partial<Record<LifecyclePhase, string>>;

/** What a client or an import row may set: an absent member leaves the value, `null` clears it. */
export interface CardInput {
  subtype?: string | null;
  name?: string | null;
  alias?: string | null;
  description?: string | null;
  parent_id?: string | null;
  lifecycle?: Record<string, unknown> | null;
  attributes?: Record<string, unknown> | null;
  external_id?: string | null;
}

/** The values of a card that are set from outside. */
export interface CardValues {
  subtype: string | null;
  name: string;
  alias: string | null;
  description: string | null;
  parent_id: string | null;
  /** Null when no phase is set. */
  lifecycle: Lifecycle | null;
  attributes: Record<string, unknown>;
  external_id: string | null;
}

/** A card as its row holds it, computed values included. */
export interface CardState extends CardValues {
  id: string;
  type: string;
  status: CardStatus;
  approval_status: ApprovalStatus;
  /** Percent, one decimal. */
  data_quality: number;
  /** RFC 3339 in UTC with milliseconds. */
  archived_at: string | null;
}
