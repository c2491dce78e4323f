/** A name in a field's path, or a value: quoted text, or a bare word that the field's type gives a meaning. */
export interface FilterWord {
  text: string;
  quoted: boolean;
  /** Counted in characters from 1. */
  position: number;
}

export const rangeOperators = ['<', '<=', '>', '>=', 'between'] as const;
type RangeOperator = (typeof rangeOperators)[number];

/** `exists` is read as `is not empty`. */
export type FilterOperator =
  | '='
  | '!='
  | RangeOperator
  | 'in'
  | 'not in'
  | '~'
  | 'starts with'
  | 'is empty'
  | 'is not empty';

export interface FilterCondition {
  kind: 'condition';
  /** The field's path, such as `attributes`, `costTotalAnnual`; never empty. */
  path: FilterWord[];
  operator: FilterOperator;
  /** Position of the operator. */
  position: number;
  /** Two for `between`, none for the tests of emptiness, any number for lists, else one. */
  values: FilterWord[];
}

/** A filter as written, before anything is known of its fields. An `and` holds no `and`, an `or` no `or`. */
export type FilterNode =
  | { kind: 'and' | 'or'; items: FilterNode[] }
  | { kind: 'not'; item: FilterNode }
  | FilterCondition;
