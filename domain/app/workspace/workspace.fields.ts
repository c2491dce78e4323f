import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import type { FieldError } from '../../../platform/errors.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import type { Resource } from '../../kernel/resources/resource.ts';
import { resources } from '../resources.ts';
import type { FieldRule } from './workspace.types.ts';

const compiled = new WeakMap<TSchema, ReturnType<typeof Compile>>();

/** Whether a value matches a schema, which is compiled once. */
function fits(schema: TSchema, value: unknown): boolean {
  let known = compiled.get(schema);
  if (!known) {
    known = Compile(schema);
    compiled.set(schema, known);
  }
  return known.Check(value);
}

/** Validates a value against a schema. @returns at most one error: the deepest one, by its path. */
export function shapeErrors(schema: TSchema, value: unknown, at = ''): FieldError[] {
  if (fits(schema, value)) return [];
  const depth = (path: string) => path.split('/').length;
  // the deepest error belongs to the alternative that the value was meant as; `schema is false` repeats another error
  const errors = Value.Errors(schema, value).filter(({ keyword }) => keyword !== 'boolean');
  const error = errors.reduce(
    (deepest, one) => (depth(one.instancePath) > depth(deepest.instancePath) ? one : deepest),
    errors[0] ?? { keyword: '', instancePath: '', message: 'does not fit', params: {} },
  );
  const path = [at, ...error.instancePath.split('/').slice(1)].filter(Boolean).join('.');
  if (error.keyword === 'additionalProperties') {
    const [name = ''] = (error.params as { additionalProperties?: string[] }).additionalProperties ?? [];
    const member = [path, name.slice(0, 100)].filter(Boolean).join('.');
    return [{ field: member, code: 'unknown_field', message: 'is not known' }];
  }
  return [{ field: path, code: 'wrong_type', message: error.message }];
}

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

/** The checks of nested values in a column. */
export interface NestedRule {
  schema: TSchema;
  /** Maximum characters of JSON. */
  most?: number;
  /** Checks that a schema cannot express, after the schema is valid. Paths begin with the column. */
  check?(value: never): FieldError[];
}

/** The errors of nested values in a row. Empty values were checked before. */
export function nestedErrors(rules: Readonly<Record<string, NestedRule>>, row: StoredRow): FieldError[] {
  return Object.entries(rules).flatMap(([column, { schema, most, check }]) => {
    const value = row[column] ?? null;
    if (value === null) return [];
    const wrong = shapeErrors(schema, value, column);
    if (wrong.length > 0) return wrong;
    if (most !== undefined && JSON.stringify(value).length > most) {
      return [{ field: column, code: 'too_long', message: `has more than ${most} characters of JSON` }];
    }
    return check?.(value as never) ?? [];
  });
}
