import type { StoredRow } from '../../kernel/events/row-changes.ts';
import type { FieldType } from '../../kernel/metamodel/metamodel.types.ts';

export type SurveyStatus = 'draft' | 'active' | 'closed';

/** Whether a value is to be kept up to date, or only confirmed; both take a new value. */
export type SurveyAction = 'maintain' | 'confirm';

/** A field that is asked for, as the card type declared it when the survey was written or sent. */
export interface SurveyField {
  key: string;
  label: string;
  type: FieldType;
  section: string;
  action: SurveyAction;
  options?: { key: string; label: string }[];
  translations?: Record<string, unknown>;
}

export type AttributeOperator =
  | 'eq'
  | 'ne'
  | 'gt'
  | 'gte'
  | 'lt'
  | 'lte'
  | 'contains'
  | 'is_empty'
  | 'is_not_empty';

export interface AttributeFilter {
  key: string;
  op: AttributeOperator;
  /** Absent for the tests of emptiness. */
  value?: string | number | boolean | null;
}

/** Which cards of the type are asked about; members that are absent or empty select all. */
export interface TargetFilters {
  card_ids?: string[];
  /** Cards with one of the tags. */
  tag_ids?: string[];
  /** Cards that have a relation to one of these. */
  related_ids?: string[];
  /** All of them must hold. */
  attribute_filters?: AttributeFilter[];
  /** In the filter language. */
  filter?: string;
}

/** A row of `surveys` as JSON. */
export interface SurveyRow extends StoredRow {
  id: string;
  name: string;
  description: string | null;
  message: string;
  status: SurveyStatus;
  target_type_key: string;
  target_filters: TargetFilters;
  target_roles: string[];
  fields: SurveyField[];
  created_by: string | null;
  sent_at: string | null;
  closed_at: string | null;
}

/** One answered field: what the card held, and what it is to hold. */
export interface Answer {
  current_value: unknown;
  new_value: unknown;
  /** The present value is right. */
  confirmed: boolean;
}

/** A row of `survey_responses` as JSON. */
export interface ResponseRow extends StoredRow {
  id: string;
  survey_id: string;
  card_id: string;
  user_id: string;
  status: 'pending' | 'completed';
  responses: Record<string, Answer>;
  cost_keys: string[];
  applied: boolean;
  responded_at: string | null;
  applied_at: string | null;
}
