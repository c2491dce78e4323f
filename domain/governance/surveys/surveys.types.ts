import type { FieldType } from '../../kernel/metamodel/metamodel.types.ts';

export const surveyStatuses = ['draft', 'active', 'closed'] as const;
export const responseStatuses = ['pending', 'completed'] as const;

/** Whether the value is to be maintained or confirmed; both accept a new value. */
export type SurveyAction = 'maintain' | 'confirm';

/** A field of a survey, as the card type declared it when the survey was saved or sent. */
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
  /** Absent for `is_empty` and `is_not_empty`. */
  value?: string | number | boolean | null;
}

/** The cards of the type that a survey is about; absent and empty members do not filter. */
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

/** The answer about one field. */
export interface Answer {
  current_value: unknown;
  new_value: unknown;
  /** The present value is correct. */
  confirmed: boolean;
}
