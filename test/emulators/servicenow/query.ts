import type { FieldSchema } from './schema.ts';

/** One condition of an encoded query. */
type Condition = { field: string; operator: string; value: string };

export interface ParsedQuery {
  /** Groups joined by ^NQ, of which one must hold; in a group all must hold, each an OR chain. */
  groups: Condition[][][];
  order: { field: string; descending: boolean }[];
}

/** A test of a value against the value of a condition. */
type Operator = (wanted: string, compare: (a: string, b: string) => number) => (value: string) => boolean;

const not =
  (operator: Operator): Operator =>
  (...given) => {
    const test = operator(...given);
    return (value) => !test(value);
  };
const isEmpty: Operator = () => (value) => value === '';
const isEqual: Operator = (wanted, compare) =>
  wanted === '' || wanted === 'NULL' ? isEmpty(wanted, compare) : (value) => compare(value, wanted) === 0;
const isAmong: Operator = (wanted) => {
  const all = new Set(wanted.split(',').map((one) => one.trim().toLowerCase()));
  return (value) => all.has(value.toLowerCase());
};
const inText =
  (finds: (text: string, part: string) => boolean): Operator =>
  (wanted) =>
  (value) =>
    finds(value.toLowerCase(), wanted.toLowerCase());
const ordered =
  (holds: (order: number) => boolean): Operator =>
  (wanted, compare) =>
  (value) =>
    value !== '' && holds(compare(value, wanted));

/** Longer names first, as they are looked for in this order. */
const operators: Record<string, Operator> = {
  ISNOTEMPTY: not(isEmpty),
  ISEMPTY: isEmpty,
  STARTSWITH: inText((text, part) => text.startsWith(part)),
  LIKE: inText((text, part) => text.includes(part)),
  IN: isAmong,
  '!=': not(isEqual),
  '>=': ordered((order) => order >= 0),
  '>': ordered((order) => order > 0),
  '=': isEqual,
};
const form = new RegExp(`^([a-z0-9_.]+)(${Object.keys(operators).join('|')})(.*)$`, 's');

/** Reads an encoded query; `^^` stands for a caret in a value. A part that is no condition is ignored, as there. */
export function parseQuery(text: string): ParsedQuery {
  const parsed: ParsedQuery = { groups: [[]], order: [] };
  for (const part of text.replaceAll('^^', '\u0000').split('^')) {
    let token = part.replaceAll('\u0000', '^');
    const order = /^ORDERBY(DESC)?([a-z0-9_.]+)$/.exec(token);
    if (order) {
      parsed.order.push({ field: order[2]!, descending: order[1] !== undefined });
      continue;
    }
    if (token.startsWith('NQ')) {
      parsed.groups.push([]);
      token = token.slice(2);
    }
    const group = parsed.groups.at(-1)!;
    const alternative = token.startsWith('OR');
    const read = form.exec(alternative ? token.slice(2) : token);
    if (!read) continue;
    const condition = { field: read[1]!, operator: read[2]!, value: read[3]! };
    // ^OR binds to the condition before it alone
    if (alternative && group.length > 0) group.at(-1)!.push(condition);
    else group.push([condition]);
  }
  return parsed;
}

/** What a query is evaluated on. */
export interface QueryScope<Row> {
  field(name: string): FieldSchema | undefined;
  value(row: Row, name: string): string;
}

type Test<Row> = (row: Row) => boolean;

const numeric = (type: string | undefined): boolean => type === 'integer' || type === 'decimal';

/** Compares as the database does: numbers as numbers, all else as text without regard to case. */
export function comparer(field: FieldSchema | undefined): (a: string, b: string) => number {
  if (numeric(field?.type)) return (a, b) => Number(a || 0) - Number(b || 0);
  return (a, b) => {
    const [x, y] = [a.toLowerCase(), b.toLowerCase()];
    return x < y ? -1 : x > y ? 1 : 0;
  };
}

function compileCondition<Row>(
  { field, operator, value }: Condition,
  scope: QueryScope<Row>,
): Test<Row> | undefined {
  const schema = scope.field(field);
  // a condition on a column that does not exist is dropped (glide.invalid_query.returns_no_rows is off by default)
  if (!schema) return undefined;
  const test = operators[operator]!(value, comparer(schema));
  return (row) => test(scope.value(row, field));
}

/** A test of rows by a parsed query. */
export function compileQuery<Row>(query: ParsedQuery, scope: QueryScope<Row>): Test<Row> {
  const groups = query.groups.map((group) =>
    group
      .map((chain) =>
        chain.map((condition) => compileCondition(condition, scope)).filter((test) => test !== undefined),
      )
      .filter((chain) => chain.length > 0),
  );
  return (row) => groups.some((group) => group.every((chain) => chain.some((test) => test(row))));
}

/** The ids beyond which alone a query can find rows, where it is one group with `sys_id>`. */
export function lowerBound(query: ParsedQuery): string | undefined {
  if (query.groups.length !== 1) return undefined;
  const bounds = query.groups[0]!.flatMap((chain) =>
    chain.length === 1 && chain[0]!.field === 'sys_id' && chain[0]!.operator === '>' ? [chain[0]!.value] : [],
  );
  return bounds.sort().at(-1);
}
