import { EstateError } from '../../../platform/errors.ts';

/** A name in a field's path, or a value: quoted text, or a bare word that is interpreted by the type of the field. */
export interface FilterWord {
  text: string;
  quoted: boolean;
  /** Counted in characters from 1. */
  position: number;
}

export const rangeOperators = ['<', '<=', '>', '>=', 'between'] as const;
type RangeOperator = (typeof rangeOperators)[number];

/** `exists` is parsed as `is not empty`. */
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
  /** Two for `between`, none for the tests of emptiness, any number for lists, otherwise one. */
  values: FilterWord[];
}

/** A parsed filter before its fields are resolved. An `and` contains no `and`, an `or` no `or`. */
export type FilterNode =
  | { kind: 'and' | 'or'; items: FilterNode[] }
  | { kind: 'not'; item: FilterNode }
  | FilterCondition;

/** The code of the field error of an invalid filter. */
type FilterErrorCode =
  /** The text does not follow the grammar. */
  | 'filter_syntax'
  /** Too long, too deep, or too many conditions. */
  | 'filter_limit'
  /** Unknown field, attribute, relation type, stakeholder role or tag group. */
  | 'filter_unknown_field'
  /** The field does not support the operator. */
  | 'filter_operator'
  /** The value does not fit the type of the field, or is not one of its options. */
  | 'filter_value';

const EXPECTED_SHOWN = 20;

/**
 * The 422 for a filter: a field error with the location, and the members `position` (in characters, from 1) and
 * `expected` (valid continuations; at most 20, empty if they cannot be listed).
 */
export function filterError(
  error: FilterErrorCode,
  message: string,
  position: number,
  expected: Iterable<string> = [],
): EstateError {
  const text = `${message} at position ${position}`;
  return new EstateError('validation_failed', `filter: ${text}`, {
    errors: [{ field: 'filter', code: error, message: text }],
    extra: { position, expected: [...expected].slice(0, EXPECTED_SHOWN) },
  });
}

const LISTED = 6;

/** The words as a list in a sentence: `a, b or c`; a long list is truncated. */
export function joinWithOr(words: Iterable<string>): string {
  const all = [...words];
  const shown = all.slice(0, LISTED);
  if (all.length > LISTED) return `${shown.join(', ')} or ${all.length - LISTED} more`;
  const last = shown.pop();
  return shown.length > 0 ? `${shown.join(', ')} or ${last}` : (last ?? 'nothing');
}
