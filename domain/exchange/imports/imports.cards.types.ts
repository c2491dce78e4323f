import type { FieldError } from '../../../platform/errors.ts';
import type { ApprovalStatus, CardInput, CardStatus } from '../../inventory/cards/rules/diff.ts';

/** A user with a role on a card. */
export interface StagedHolder {
  user_id: string;
  role: string;
}

/** A tag that is created with the row that names it. */
export interface NewTag {
  group_id: string;
  group: string;
  name: string;
}

/** The values that a row writes to its card, except its parent. */
export interface CardPayload {
  /** Cleaned and valid for the type; without parent and capability level. */
  input: CardInput;
  status?: CardStatus;
  /** Only used for a new card: afterwards an approval needs its own operation. */
  approval_status?: ApprovalStatus;
  /** Ids of all tags of the card that exist. */
  tags?: string[];
  /** Its tags that are created with the row. */
  new_tags?: NewTag[];
  /** All stakeholders of the card. */
  holders?: StagedHolder[];
  /**
   * Tags and stakeholders are added to the existing ones; in a group that allows one tag the new tag replaces the old
   * one.
   */
  additive?: boolean;
}

/** What is probably wrong in a row that can be written. */
export interface RowWarning {
  field: string;
  code: 'similar_tag';
  message: string;
  value: string;
  nearest: string;
}

/** The columns of `import_card_rows` that parsing determines. */
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
  /** Errors that only apply if the row creates a card. */
  new_errors: FieldError[] | null;
  bytes: number;
  /** Null for a row that has failed. */
  payload: CardPayload | null;
  /** Warnings of a valid row; stored apart from it. */
  warnings?: RowWarning[];
}
