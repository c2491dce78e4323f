import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import type { FieldError } from '../../../platform/errors.ts';
import type { CardInput } from '../../inventory/cards/rules/diff.ts';
import { cleanCardInput, validateForType } from '../../inventory/cards/rules/values.ts';
import type { RelationInput } from '../../inventory/relations/relations.model.ts';
import { validateRelationInput } from '../../inventory/relations/relations.rules.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import type { CardType, RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
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

/** What a schema may declare of a single value. */
interface Declared extends TSchema {
  anyOf?: Declared[];
  type?: string;
  const?: unknown;
  format?: string;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
}

/** The alternatives of a schema. */
const alternatives = (schema: Declared): Declared[] => schema.anyOf?.flatMap(alternatives) ?? [schema];

/** The checks of a column, from its schema; undefined if there are none. Formats are checked as types of PostgreSQL. */
function fieldRule(schema: TSchema): FieldRule | undefined {
  const parts = alternatives(schema);
  const options = parts.flatMap((part) => (typeof part.const === 'string' ? [part.const] : []));
  if (options.length > 0) return { options };
  const [part] = parts.filter(({ type }) => type !== 'null');
  if (!part || part.format !== undefined) return undefined;
  const { minLength, maxLength, pattern, minimum, maximum } = part;
  const rule: FieldRule = {
    ...(maxLength === undefined ? {} : { max: maxLength }),
    ...(minLength ? { filled: true } : {}),
    ...(pattern === undefined ? {} : { pattern: new RegExp(pattern) }),
    ...(minimum === undefined ? {} : { least: minimum }),
    ...(maximum === undefined ? {} : { most: maximum }),
  };
  const scalar = part.type === 'string' || part.type === 'integer' || part.type === 'number';
  return scalar && Object.keys(rule).length > 0 ? rule : undefined;
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

function ofText(
  { max, filled, pattern, options }: FieldRule,
  value: string,
): Omit<FieldError, 'field'> | undefined {
  if (options?.includes(value) === false) {
    return { code: 'unknown_option', message: `is none of ${options.join(', ')}` };
  }
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
  if (!outside) return undefined;
  const range =
    least === undefined
      ? `must be at most ${most}`
      : most === undefined
        ? `must be at least ${least}`
        : `must lie between ${least} and ${most}`;
  return { code: 'out_of_range', message: range };
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

/** The errors of columns with JSON that are no objects. */
const notObjects = (row: StoredRow, ...fields: string[]): FieldError[] =>
  fields
    .filter((field) => typeof (row[field] ?? null) !== 'object' || Array.isArray(row[field]))
    .map((field) => ({ field, code: 'wrong_type', message: 'has the wrong type' }));

/**
 * The errors of a card of an archive, with the checks of single cards, except that values set by the service are
 * allowed.
 */
export function cardErrors(types: ReadonlyMap<string, CardType>, card: StoredRow): FieldError[] {
  const type = types.get(String(card.type));
  if (!type) return [{ field: 'type', code: 'unknown_type', message: 'is no card type' }];
  const wrong = notObjects(card, 'lifecycle', 'attributes');
  if (wrong.length > 0) return wrong;
  const input = cleanCardInput(card as CardInput);
  return validateForType(type, input, { creating: true, stored: input.attributes ?? {} });
}

/** The errors of a relation of an archive between cards of these types. */
export function relationErrors(
  types: ReadonlyMap<string, RelationType>,
  relation: StoredRow,
  ends: { source: string | null; target: string | null },
): FieldError[] {
  const type = types.get(String(relation.type));
  if (!type) return [{ field: 'type', code: 'unknown_type', message: 'is no relation type' }];
  const errors = (['source', 'target'] as const)
    .filter((end) => ends[end] !== type[`${end}_type_key`])
    .map((end) => {
      const message = `must be a card of the type ${type[`${end}_type_key`]}`;
      return { field: `${end}_id`, code: 'end_type', message };
    });
  if (relation.source_id === relation.target_id) {
    errors.push({ field: 'target_id', code: 'same_card', message: 'is the same card as source_id' });
  }
  const wrong = notObjects(relation, 'attributes');
  return [...errors, ...(wrong.length > 0 ? wrong : validateRelationInput(type, relation as RelationInput))];
}
