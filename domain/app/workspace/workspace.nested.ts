import type { TSchema } from 'typebox';
import type { FieldError } from '../../../platform/errors.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import { shapeErrors } from './workspace.shapes.ts';

/** The checks of nested values in a column. */
export interface NestedRule {
  schema: TSchema;
  /** Maximum characters of JSON. */
  most?: number;
  /** Checks that a schema cannot express, after the schema is valid. Paths begin with the column. */
  faults?(value: never): FieldError[];
}

/** The errors of nested values in a row. Empty values were checked before. */
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
