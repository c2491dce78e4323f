import type { FieldError } from '../../../platform/errors.ts';
import type { ApprovalStatus, CardInput, CardStatus } from '../../inventory/cards/rules/card.types.ts';

/** Somebody in a role of a card. */
export interface StagedHolder {
  user_id: string;
  role: string;
}

/** What a row writes into its card, besides its place. */
export interface CardPayload {
  /** Cleaned and valid for the type; without parent and capability level. */
  input: CardInput;
  status?: CardStatus;
  /** Taken for a new card only: afterwards an approval is an act of its own. */
  approval_status?: ApprovalStatus;
  /** Ids of all tags that the card shall have. */
  tags?: string[];
  /** All who shall hold a role. */
  holders?: StagedHolder[];
  /** Tags and holders join those that are there, but for a tag of a group that allows one: it takes the other's place. */
  additive?: boolean;
}

/** A row of `import_card_rows`, as far as reading it decides. */
export interface StagedCard {
  line: number;
  type: string | null;
  id: string | null;
  external_id: string | null;
  name: string | null;
  status: CardStatus | null;
  parent_by: 'root' | 'id' | 'external_id' | 'path' | null;
  parent_id: string | null;
  parent_external_id: string | null;
  parent_path: string[] | null;
  level: string | null;
  errors: FieldError[] | null;
  /** Faults that only count when the row makes a new card. */
  new_errors: FieldError[] | null;
  bytes: number;
  /** Null for a row that has failed. */
  payload: CardPayload | null;
}
