import type { CardColumns } from '../cards.model.ts';

export type CardStatus = CardColumns['status'];
export type ApprovalStatus = CardColumns['approval_status'];
export type Lifecycle = NonNullable<CardColumns['lifecycle']>;

/** The columns of a card that clients set. */
export type CardValues = Pick<
  CardColumns,
  'subtype' | 'name' | 'alias' | 'description' | 'parent_id' | 'lifecycle' | 'attributes' | 'external_id'
>;

/** The members that a client or an import row sets: an absent member is not changed, `null` clears it. */
export type CardInput = Partial<
  Record<Exclude<keyof CardValues, 'lifecycle' | 'attributes'>, string | null>
> & {
  lifecycle?: Record<string, unknown> | null;
  attributes?: Record<string, unknown> | null;
};

/** The columns of a stored card, computed values included. */
export type CardState = Omit<CardColumns, 'archive_batch_id' | `${'created' | 'updated'}_${'by' | 'at'}`>;
