import type { FieldSchema } from './schema.ts';

/** One condition of an encoded query. */
interface Condition {
  field: string;
  operator: string;
  value: string;
}

export interface ParsedQuery {
  /** Groups joined by ^NQ, of which one must hold; in a group all must hold, each an OR chain. */
  groups: Condition[][][];
  order: { field: string; descending: boolean }[];
}

const operators = [
  'ISNOTEMPTY',
  'ISEMPTY',
  'NOT IN',
  'NOT LIKE',
  'NOTLIKE',
  'STARTSWITH',
  'ENDSWITH',
  'CONTAINS',
  'INSTANCEOF',
  'BETWEEN',
  'ANYTHING',
  'LIKE',
  'IN',
  '!=',
  '>=',
  '<=',
  '>',
  '<',
  '=',
];
const form = new RegExp(`^([a-z0-9_.]+)(${operators.join('|')})(.*)$`, 's');

/** Reads an encoded query; `^^` stands for a caret in a value. A part that is no condition is passed over, as there. */
export function parseQuery(text: string): ParsedQuery {
  const parsed: ParsedQuery = { groups: [[]], order: [] };
  const parts = text.replaceAll('^^', '\u0000').split('^');
  for (const part of parts) {
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

/** What a query is held against. */
export interface QueryScope<Row> {
  field(name: string): FieldSchema | undefined;
  value(row: Row, name: string): string;
  instanceOf(className: string, table: string): boolean;
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
  const of = (row: Row) => scope.value(row, field);
  const compare = comparer(schema);
  const wanted = value.toLowerCase();
  const list = () => new Set(wanted.split(',').map((one) => one.trim()));
  const empty = value === '' || value === 'NULL';
  switch (operator) {
    case 'ISEMPTY':
      return (row) => of(row) === '';
    case 'ISNOTEMPTY':
      return (row) => of(row) !== '';
    case 'ANYTHING':
      return () => true;
    case '=':
      return empty ? (row) => of(row) === '' : (row) => compare(of(row), value) === 0;
    case '!=':
      return empty ? (row) => of(row) !== '' : (row) => compare(of(row), value) !== 0;
    case 'IN': {
      const set = list();
      return (row) => set.has(of(row).toLowerCase());
    }
    case 'NOT IN': {
      const set = list();
      return (row) => !set.has(of(row).toLowerCase());
    }
    case 'STARTSWITH':
      return (row) => of(row).toLowerCase().startsWith(wanted);
    case 'ENDSWITH':
      return (row) => of(row).toLowerCase().endsWith(wanted);
    case 'LIKE':
    case 'CONTAINS':
      return (row) => of(row).toLowerCase().includes(wanted);
    case 'NOT LIKE':
    case 'NOTLIKE':
      return (row) => !of(row).toLowerCase().includes(wanted);
    case 'INSTANCEOF':
      return (row) => scope.instanceOf(of(row), value);
    case 'BETWEEN': {
      const [from = '', to = ''] = value.split('@');
      return (row) => of(row) !== '' && compare(of(row), from) >= 0 && compare(of(row), to) <= 0;
    }
    default: {
      const holds = {
        '>': (n: number) => n > 0,
        '>=': (n: number) => n >= 0,
        '<': (n: number) => n < 0,
        '<=': (n: number) => n <= 0,
      }[operator]!;
      return (row) => {
        const found = of(row);
        return found !== '' && holds(compare(found, value));
      };
    }
  }
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
