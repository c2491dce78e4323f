import type { TSchema } from 'typebox';
import type { FieldError } from '../../../platform/errors.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import type { Resource } from '../../kernel/resources/resource.ts';
import { resources } from '../resources.ts';
import type { FieldRule } from './workspace.types.ts';

/** The checks of a column, from its schema; undefined if there are none. */
function fieldRule(schema: TSchema): FieldRule | undefined {
  const parts = ('anyOf' in schema ? schema.anyOf : [schema]) as Record<string, unknown>[];
  for (const { type, format, minLength, maxLength, pattern, minimum, maximum } of parts) {
    if (type === 'string' && format === undefined && (maxLength !== undefined || pattern !== undefined)) {
      return {
        ...(typeof maxLength === 'number' ? { max: maxLength } : {}),
        ...(minLength ? { filled: true } : {}),
        ...(typeof pattern === 'string' ? { pattern: new RegExp(pattern) } : {}),
      };
    }
    if (typeof minimum === 'number' && typeof maximum === 'number') return { least: minimum, most: maximum };
  }
  return undefined;
}

const fieldRulesOf = ({ model }: Resource): [string, Readonly<Record<string, FieldRule>>] => [
  model.tableName,
  Object.fromEntries(
    Object.entries(model.columns).flatMap(([column, schema]) => {
      const rule = fieldRule(schema);
      return rule ? [[column, rule]] : [];
    }),
  ),
];

/** The checks of single writes for columns, by table. */
export const fieldRules: Readonly<Record<string, Readonly<Record<string, FieldRule>>>> = Object.fromEntries(
  resources.map(fieldRulesOf),
);

/** The errors of a row from the checks of its columns. Types were checked before. */
export function fieldErrors(rules: Readonly<Record<string, FieldRule>>, row: StoredRow): FieldError[] {
  return Object.entries(rules).flatMap(([field, rule]) => {
    const value = row[field] ?? null;
    if (value === null) return [];
    const why = typeof value === 'number' ? ofNumber(rule, value) : ofText(rule, String(value));
    return why ? [{ field, ...why }] : [];
  });
}

function ofText({ max, filled, pattern }: FieldRule, value: string): Omit<FieldError, 'field'> | undefined {
  if (filled && value.trim() === '') return { code: 'required', message: 'must not be blank' };
  // Characters as code points, as in schemas.
  if (max !== undefined && value.length > max && [...value].length > max) {
    return { code: 'too_long', message: `has more than ${max} characters` };
  }
  return pattern?.test(value) === false
    ? { code: 'format', message: `must match ${pattern.source}` }
    : undefined;
}

function ofNumber({ least, most }: FieldRule, value: number): Omit<FieldError, 'field'> | undefined {
  const outside = (least !== undefined && value < least) || (most !== undefined && value > most);
  return outside ? { code: 'out_of_range', message: `must lie between ${least} and ${most}` } : undefined;
}
