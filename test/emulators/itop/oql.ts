import { model } from './model.ts';

/** What a query asks of one object; values are compared as the database does it, texts without regard to case. */
type Condition = (read: (field: string) => string | number) => boolean;

export type Query = { class: string; fits: Condition };

type Expression = (read: (field: string) => string | number) => unknown;

const token = /\s+|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|NOT\s+(?:IN|LIKE)\b|[A-Za-z_]\w*|\d+|[!<>]=|./gis;

/** Reads `SELECT class [AS alias] [WHERE condition]`. @throws Error in the words of the product. */
export function parseOql(oql: string, isField: (className: string, field: string) => boolean): Query {
  const tokens = (oql.match(token) ?? []).map((part) => part.trim()).filter((part) => part !== '');
  let at = 0;
  const peek = (): string => (tokens[at] ?? '').toUpperCase().replace(/\s+/, ' ');
  const take = (wanted?: string): string => {
    const part = tokens[at];
    if (part === undefined || (wanted !== undefined && peek() !== wanted))
      throw new Error(`Unexpected token ${part ?? 'end of query'}, found '${part ?? ''}' in ${oql}`);
    at += 1;
    return part;
  };

  take('SELECT');
  const className = take();
  if (!model[className]) throw new Error(`Unknown class '${className}' in ${oql}`);
  let alias = className;
  if (peek() === 'AS') {
    take();
    alias = take();
  }

  const basic = (): Expression => {
    const part = take();
    if (part === '(') {
      const inner = either();
      take(')');
      return inner;
    }
    if (/^\d+$/.test(part)) return () => Number(part);
    if (/^['"]/.test(part)) {
      const value = part.slice(1, -1).replace(/\\(.)/gs, '$1');
      return () => value;
    }
    let field = part;
    if (peek() === '.') {
      take('.');
      if (part !== alias) throw new Error(`Unknown class or alias '${part}' in ${oql}`);
      field = take();
    }
    if (field !== 'id' && !isField(className, field))
      throw new Error(`Unknown filter code '${field}' for class ${className} in ${oql}`);
    return (read) => read(field);
  };

  const listed = (left: Expression, wanted: boolean): Expression => {
    take('(');
    const items = [basic()];
    while (peek() === ',') {
      take(',');
      items.push(basic());
    }
    take(')');
    return (read) => items.some((item) => compare(left(read), item(read)) === 0) === wanted;
  };

  const compared = (): Expression => {
    const left = basic();
    const operator = peek();
    if (operator === 'IN' || operator === 'NOT IN') {
      take();
      return listed(left, operator === 'IN');
    }
    const holds = comparisons[operator];
    if (!holds) return left;
    take();
    const right = basic();
    return (read) => holds(left(read), right(read));
  };

  const chain = (word: string, next: () => Expression, all: boolean): Expression => {
    const parts = [next()];
    while (peek() === word) {
      take();
      parts.push(next());
    }
    if (parts.length === 1) return parts[0]!;
    return (read) => (all ? parts.every((one) => one(read)) : parts.some((one) => one(read)));
  };
  const either = (): Expression => chain('OR', () => chain('AND', compared, true), false);

  let fits: Expression = () => true;
  if (peek() === 'WHERE') {
    take();
    fits = either();
  }
  if (at < tokens.length) take('');
  return { class: className, fits: (read) => Boolean(fits(read)) };
}

function compare(left: unknown, right: unknown): number {
  const numbers = [left, right].map((value) => (value === '' ? Number.NaN : Number(value)));
  const [a, b] = numbers.some(Number.isNaN)
    ? [left, right].map((value) => String(value).toLowerCase())
    : numbers;
  return a! < b! ? -1 : a! > b! ? 1 : 0;
}

const like = (value: unknown, pattern: unknown): boolean => {
  const parts = String(pattern)
    .split('%')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('_', '.'));
  return new RegExp(`^${parts.join('.*')}$`, 'is').test(String(value));
};

const comparisons: Record<string, (left: unknown, right: unknown) => boolean> = {
  '=': (a, b) => compare(a, b) === 0,
  '!=': (a, b) => compare(a, b) !== 0,
  '<': (a, b) => compare(a, b) < 0,
  '<=': (a, b) => compare(a, b) <= 0,
  '>': (a, b) => compare(a, b) > 0,
  '>=': (a, b) => compare(a, b) >= 0,
  LIKE: like,
  'NOT LIKE': (a, b) => !like(a, b),
};
