import { type Fragment, raw, sql, total } from '../../../../domain/inventory/filters/filters.sql.ts';
import { isDay } from '../../../../domain/kernel/dates.ts';
import { isUuid } from '../../../../platform/uuid.ts';
import type { EdmType } from '../model/model.types.ts';
import { invalidQuery } from '../odata.errors.ts';
import type { BinaryOperator, Literal } from '../query/query.types.ts';

/** The type of a value in expressions. */
export type Kind = 'null' | 'boolean' | 'number' | 'string' | 'guid' | 'date' | 'moment' | 'entity';

/** An expression's value in SQL. */
export interface Value {
  kind: Kind;
  sql: Fragment;
  /** Whether it is an integer by its type, as literals and counts are. */
  whole?: boolean;
  /** Set for a literal of the query. */
  literal?: Literal;
  /** Whether it is a comparison or a test, whose NULL means false. */
  test?: boolean;
}

const kinds: Record<EdmType, Kind> = {
  'Edm.String': 'string',
  'Edm.Guid': 'guid',
  'Edm.Double': 'number',
  'Edm.Decimal': 'number',
  'Edm.Boolean': 'boolean',
  'Edm.Date': 'date',
  'Edm.DateTimeOffset': 'moment',
};
export const kindOf = (type: EdmType): Kind => kinds[type];

/** The SQL types of the kinds. */
export const sqlTypes: Record<Kind, string> = {
  null: 'text',
  boolean: 'boolean',
  number: 'numeric',
  string: 'text',
  guid: 'uuid',
  date: 'text',
  moment: 'timestamptz',
  entity: 'uuid',
};

const kindNames: Record<Kind, string> = {
  null: 'null',
  boolean: 'a boolean',
  number: 'a number',
  string: 'a text',
  guid: 'a GUID',
  date: 'a date',
  moment: 'a time',
  entity: 'an entity',
};
export const kindName = (kind: Kind): string => kindNames[kind];

const MOMENT = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,12})?)?(?:Z|[+-]\d\d:\d\d)$/i;

/** Whether the text can be parsed as a value of the kind. */
export function canParse(text: string, kind: Kind): boolean {
  switch (kind) {
    case 'string':
      return true;
    case 'guid':
      return isUuid(text);
    case 'date':
      return isDay(text);
    case 'moment': {
      const found = MOMENT.exec(text);
      return found !== null && isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text));
    }
    case 'number':
      return /^-?\d{1,30}(?:\.\d{1,30})?(?:e[+-]?\d{1,2})?$/i.test(text);
    case 'boolean':
      return text === 'true' || text === 'false';
    default:
      return false;
  }
}

/** SQL of a literal. @throws EstateError for a date or time that does not exist. */
export function literalValue(literal: Literal, option: string): Value {
  switch (literal.type) {
    case 'null':
      return { kind: 'null', sql: raw('null'), literal };
    case 'boolean':
      return { kind: 'boolean', sql: raw(String(literal.value)), literal };
    case 'integer':
    case 'decimal': {
      const whole = literal.type === 'integer';
      return { kind: 'number', sql: sql`${literal.value}::numeric`, whole, literal };
    }
    default: {
      if (!canParse(literal.value, literal.type)) {
        throw invalidQuery(option, `"${literal.value}" is not ${kindNames[literal.type]}`, literal.at);
      }
      return { kind: literal.type, sql: sql`${literal.value}::${raw(sqlTypes[literal.type])}`, literal };
    }
  }
}

/** Converts both sides to one kind: a string literal is parsed as the kind of the other side. */
function unifyKinds(left: Value, right: Value, option: string, at: number): [Value, Value] {
  const adapt = (value: Value, other: Value): Value => {
    const { literal } = value;
    if (literal?.type !== 'string' || other.kind === 'string' || other.kind === 'null') return value;
    if (!canParse(literal.value, other.kind)) return value;
    return { kind: other.kind, sql: sql`${literal.value}::${raw(sqlTypes[other.kind])}`, literal };
  };
  const pair: [Value, Value] = [adapt(left, right), adapt(right, left)];
  const [a, b] = pair;
  if (a.kind !== b.kind && a.kind !== 'null' && b.kind !== 'null') {
    throw invalidQuery(option, `${kindNames[a.kind]} cannot be compared with ${kindNames[b.kind]}`, at);
  }
  return pair;
}

const signs = { gt: '>', ge: '>=', lt: '<', le: '<=' } as const;
export type Comparison = 'eq' | 'ne' | keyof typeof signs;
export const isComparison = (operator: BinaryOperator): operator is Comparison =>
  operator === 'eq' || operator === 'ne' || Object.hasOwn(signs, operator);

/** Texts and dates are ordered by code points. PostgreSQL refuses a constant in ORDER BY unless it is cast. */
export const ordered = ({ kind, sql: value }: Value): Fragment => {
  if (kind === 'boolean') return sql`(${value})::boolean`;
  return kind === 'string' || kind === 'date' ? sql`(${value}) collate "C"` : value;
};

/** SQL of a comparison (URL conventions, 5.1.1.1): null only equals null, and is neither less nor greater than anything. */
export function compare(operator: Comparison, given: [Value, Value], option: string, at: number): Fragment {
  const [left, right] = unifyKinds(...given, option, at);
  const nulls = [left, right].filter((value) => value.kind === 'null').length;
  if (nulls > 0) {
    if (operator !== 'eq' && operator !== 'ne') return total(raw('false'));
    const same = operator === 'eq';
    if (nulls === 2) return total(raw(String(same)));
    const value = left.kind === 'null' ? right : left;
    return total(sql`(${value.sql}) is ${raw(same ? '' : 'not ')}null`);
  }
  if (left.kind === 'entity') throw invalidQuery(option, 'entities can only be compared with null', at);
  if (operator === 'eq') {
    // NULL counts as false; only two values that may both be NULL need `is not distinct from`
    const fixed = left.literal ?? right.literal;
    return fixed
      ? sql`(${left.sql}) = (${right.sql})`
      : total(sql`(${left.sql}) is not distinct from (${right.sql})`);
  }
  if (operator === 'ne') return total(sql`(${left.sql}) is distinct from (${right.sql})`);
  if (left.kind === 'boolean') throw invalidQuery(option, 'booleans have no order', at);
  return sql`${ordered(left)} ${raw(signs[operator])} ${ordered(right)}`;
}
