import { invalidQuery, notOffered } from '../odata.errors.ts';
import { type Token, tokensOf } from './query.lexer.ts';
import type { BinaryOperator, Expr, OrderItem, PathStep } from './query.types.ts';

/** How deep expressions may be nested, and of how many parts they may consist. */
const DEEPEST = 40;
const MOST_PARTS = 500;
const MOST_ORDERS = 8;

/** From the loosest to the tightest. */
const levels: BinaryOperator[][] = [
  ['or'],
  ['and'],
  ['eq', 'ne'],
  ['gt', 'ge', 'lt', 'le'],
  ['add', 'sub'],
  ['mul', 'div', 'divby', 'mod'],
];

/** What an expression may refer to besides its own text. */
export interface Aliases {
  /** The texts of parameter aliases by name with `@`. */
  texts: ReadonlyMap<string, string>;
}

/** A whole expression, as in `$filter`. @throws EstateError that says where the text cannot be read. */
export function parseFilter(text: string, option: string, aliases: Aliases): Expr {
  const reader = createReader(text, option, aliases, { depth: 0, parts: 0 });
  const expr = reader.expression();
  reader.end();
  return expr;
}

/** The items of `$orderby`. */
export function parseOrderBy(text: string, option: string, aliases: Aliases): OrderItem[] {
  const reader = createReader(text, option, aliases, { depth: 0, parts: 0 });
  const items: OrderItem[] = [];
  do {
    const expr = reader.expression();
    const descending = reader.takeWord('desc');
    if (!descending) reader.takeWord('asc');
    items.push({ expr, descending });
  } while (reader.takeMark(','));
  reader.end();
  if (items.length > MOST_ORDERS) throw invalidQuery(option, `takes at most ${MOST_ORDERS} items`);
  return items;
}

interface Spent {
  depth: number;
  parts: number;
}

function createReader(text: string, option: string, aliases: Aliases, spent: Spent) {
  const tokens = tokensOf(text, option);
  let place = 0;
  const next = () => tokens[place]!;
  const after = () => tokens[place + 1] ?? tokens.at(-1)!;
  const take = () => {
    const token = tokens[place]!;
    place += 1;
    return token;
  };
  const isWord = (token: Token, word: string) => token.kind === 'name' && token.text.toLowerCase() === word;
  const isMark = (token: Token, mark: string) => token.kind === 'mark' && token.text === mark;
  const fail = (wanted: string, token = next()): Error =>
    invalidQuery(
      option,
      `${wanted} was expected${token.kind === 'end' ? ' at the end' : ` in place of "${token.text}"`}`,
      token.at,
    );

  function takeMark(mark: string): boolean {
    if (!isMark(next(), mark)) return false;
    place += 1;
    return true;
  }
  function needMark(mark: string): void {
    if (!takeMark(mark)) throw fail(`"${mark}"`);
  }
  function takeWord(word: string): boolean {
    if (!isWord(next(), word)) return false;
    place += 1;
    return true;
  }
  function end(): void {
    if (next().kind !== 'end') throw fail('the end');
  }

  function deeper<T>(work: () => T): T {
    spent.depth += 1;
    if (spent.depth > DEEPEST) throw invalidQuery(option, 'is nested too deeply', next().at);
    const result = work();
    spent.depth -= 1;
    return result;
  }
  function counted(expr: Expr): Expr {
    spent.parts += 1;
    if (spent.parts > MOST_PARTS) throw invalidQuery(option, 'has too many parts', expr.at);
    return expr;
  }

  const expression = (): Expr => deeper(() => level(0));

  function level(n: number): Expr {
    const operators = levels[n];
    if (!operators) return unary();
    let left = level(n + 1);
    for (;;) {
      const token = next();
      const operator = operators.find((word) => isWord(token, word));
      if (!operator) return left;
      place += 1;
      left = counted({ kind: 'binary', operator, left, right: level(n + 1), at: token.at });
    }
  }

  function unary(): Expr {
    const token = next();
    if (isWord(token, 'not') && !isMark(after(), '/')) {
      place += 1;
      return counted({ kind: 'not', operand: deeper(unary), at: token.at });
    }
    if (isMark(token, '-')) {
      place += 1;
      return counted({ kind: 'negative', operand: deeper(unary), at: token.at });
    }
    const left = primary();
    if (takeWord('in')) return counted({ kind: 'in', left, items: list(), at: token.at });
    if (isWord(next(), 'has'))
      throw notOffered(option, 'has is not offered: no property is of an enumeration', next().at);
    return left;
  }

  function list(): Expr[] {
    needMark('(');
    const items: Expr[] = [];
    if (takeMark(')')) return items;
    do items.push(expression());
    while (takeMark(','));
    needMark(')');
    return items;
  }

  function primary(): Expr {
    const token = take();
    const { text: word, at } = token;
    switch (token.kind) {
      case 'string':
        return counted({
          kind: 'literal',
          type: 'string',
          value: word.slice(1, -1).replaceAll("''", "'"),
          at,
        });
      case 'guid':
      case 'moment':
      case 'date':
      case 'integer':
      case 'decimal':
        return counted({ kind: 'literal', type: token.kind, value: word, at });
      case 'alias':
        return alias(word, at);
      case 'system':
        if (word.toLowerCase() === '$it') return itself(at);
        throw notOffered(option, `${word} is not offered here`, at);
      case 'mark':
        if (word === '(') {
          const inner = expression();
          needMark(')');
          return inner;
        }
        throw fail('an expression', token);
      case 'name':
        return named(token);
      default:
        throw fail('an expression', token);
    }
  }

  function alias(name: string, at: number): Expr {
    const given = aliases.texts.get(name);
    // an alias that is given no value is null (OData URL conventions, 5.3)
    if (given === undefined) return counted({ kind: 'literal', type: 'null', value: null, at });
    return deeper(() => {
      const reader = createReader(given, name, aliases, spent);
      const expr = reader.expression();
      reader.end();
      return expr;
    });
  }

  function itself(at: number): Expr {
    needMark('/');
    const token = take();
    if (token.kind !== 'name') throw fail('a name', token);
    return path([{ name: token.text, at }]);
  }

  function named(token: Token): Expr {
    const { text: word, at } = token;
    const lower = word.toLowerCase();
    if (isMark(next(), '(')) {
      if (word.includes('.')) throw notOffered(option, `the function ${word} is not offered`, at);
      return lower === 'cast' || lower === 'isof'
        ? cast(lower, at)
        : counted({ kind: 'call', name: lower, args: list(), at });
    }
    if (!isMark(next(), '/')) {
      if (lower === 'null') return counted({ kind: 'literal', type: 'null', value: null, at });
      if (lower === 'true' || lower === 'false') {
        return counted({ kind: 'literal', type: 'boolean', value: lower === 'true', at });
      }
      if (word === 'NaN' || word === 'INF') throw notOffered(option, `${word} is not offered`, at);
    }
    return path([{ name: word, at }]);
  }

  function cast(name: string, at: number): Expr {
    if (name === 'isof') throw notOffered(option, 'isof is not offered: no type is derived from another', at);
    needMark('(');
    const operand = expression();
    needMark(',');
    const type = take();
    if (type.kind !== 'name') throw fail('a type', type);
    needMark(')');
    return counted({ kind: 'cast', operand, type: type.text, at });
  }

  function path(steps: PathStep[]): Expr {
    const { at } = steps[0]!;
    while (takeMark('/')) {
      const token = take();
      if (token.kind === 'system' && token.text.toLowerCase() === '$count') return count(steps, at);
      if (token.kind !== 'name') throw fail('a name', token);
      const lower = token.text.toLowerCase();
      if ((lower === 'any' || lower === 'all') && isMark(next(), '(')) return lambda(lower, steps, at);
      if (token.text.includes('.'))
        throw notOffered(option, 'casts in paths are not offered: no type is derived', token.at);
      steps.push({ name: token.text, at: token.at });
    }
    return counted({ kind: 'path', steps, at });
  }

  function lambda(quantifier: 'any' | 'all', steps: PathStep[], at: number): Expr {
    needMark('(');
    if (takeMark(')')) {
      if (quantifier === 'all') throw invalidQuery(option, 'all needs a condition', at);
      return counted({ kind: 'lambda', quantifier, steps, variable: undefined, predicate: undefined, at });
    }
    const variable = take();
    if (variable.kind !== 'name' || variable.text.includes('.')) throw fail('a variable', variable);
    needMark(':');
    const predicate = expression();
    needMark(')');
    return counted({ kind: 'lambda', quantifier, steps, variable: variable.text, predicate, at });
  }

  function count(steps: PathStep[], at: number): Expr {
    let filter: Expr | undefined;
    if (takeMark('(')) {
      const token = take();
      if (!/^\$?filter$/i.test(token.text)) throw notOffered(option, `$count takes $filter alone`, token.at);
      needMark('=');
      filter = expression();
      needMark(')');
    }
    return counted({ kind: 'count', steps, filter, at });
  }

  return { expression, end, takeMark, takeWord };
}
