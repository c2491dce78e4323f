import type { TSchema } from 'typebox';
import type { FieldError } from '../../../platform/errors.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import { shapeErrors } from './workspace.shapes.ts';

/** What may be nested in a column. */
export interface NestedRule {
  schema: TSchema;
  /** Characters of JSON, at most. */
  most?: number;
  /** What a schema cannot say; asked of what has the shape. Paths begin with the column. */
  faults?(value: never): FieldError[];
}

/** What is wrong with what is nested in a row, by the rules of its columns. Empty ones were looked at before. */
export function nestedErrors(rules: Readonly<Record<string, NestedRule>>, row: StoredRow): FieldError[] {
  return Object.entries(rules).flatMap(([column, { schema, most, faults }]) => {
    const value = row[column] ?? null;
    if (value === null) return [];
    const wrong = shapeErrors(schema, value, column);
    if (wrong.length > 0) return wrong;
    if (most !== undefined && JSON.stringify(value).length > most) {
      return [{ field: column, code: 'too_long', message: `has more than ${most} characters of JSON` }];
    }
    return faults?.(value as never) ?? [];
  });
}
