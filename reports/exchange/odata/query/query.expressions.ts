import { invalidQuery, notSupported } from '../odata.errors.ts';
import type { BinaryOperator, Expr, OrderItem, PathStep } from './query.types.ts';

interface Token {
  kind:
    | 'string'
    | 'guid'
    | 'moment'
    | 'date'
    | 'decimal'
    | 'integer'
    | 'name'
    | 'system'
    | 'alias'
    | 'mark'
    | 'end';
  text: string;
  at: number;
}

/** Patterns in the order in which they are tried; each must end at a word boundary. */
const patterns: [Token['kind'], RegExp][] = [
  ['string', /'(?:[^']|'')*'/y],
  ['guid', /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\w-])/iy],
  ['moment', /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,12})?)?(?:Z|[+-]\d\d:\d\d)(?!\w)/iy],
  ['date', /\d{4}-\d\d-\d\d(?![\w-])/y],
  ['decimal', /\d{1,30}(?:\.\d{1,30}(?:e[+-]?\d{1,3})?|e[+-]?\d{1,3})(?![\w.])/iy],
  ['integer', /\d{1,30}(?![\w.])/y],
  ['name', /[a-z_]\w{0,127}(?:\.[a-z_]\w{0,127})*/iy],
  ['system', /\$[a-z]+/iy],
  ['alias', /@[a-z_]\w{0,127}/iy],
  ['mark', /[(),/:=;*-]/y],
];

/** Literals of types that no property has. */
const otherLiterals = new Set(['duration', 'binary', 'geography', 'geometry', 'guid', 'datetime', 'time']);

/** Splits an expression into tokens. @throws EstateError for text that is no token. */
function tokensOf(text: string, option: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    while (text[at] === ' ' || text[at] === '\t') at += 1;
    if (at >= text.length) break;
    const token = tokenAt(text, at);
    if (!token) throw invalidQuery(option, `"${text.slice(at, at + 20)}" cannot be read`, at);
    if (token.kind === 'name' && text[at + token.text.length] === "'") {
      if (!otherLiterals.has(token.text.toLowerCase()) && !token.text.includes('.')) {
        throw invalidQuery(option, `a quote after "${token.text}" cannot be read`, at);
      }
      const message = `literals of the type ${token.text} are not supported: no property has this type`;
      throw notSupported(option, message, at);
    }
    tokens.push(token);
    at += token.text.length;
  }
  tokens.push({ kind: 'end', text: '', at: text.length });
  return tokens;
}

function tokenAt(text: string, at: number): Token | undefined {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) return { kind, text: found[0], at };
  }
  return undefined;
}

/** Maximum nesting and number of nodes of an expression. */
const MAX_DEPTH = 40;
const MAX_PARTS = 500;
const MAX_ORDER_ITEMS = 8;

/** In ascending order of precedence. */
const levels: BinaryOperator[][] = [
  ['or'],
  ['and'],
  ['eq', 'ne'],
  ['gt', 'ge', 'lt', 'le'],
  ['add', 'sub'],
  ['mul', 'div', 'divby', 'mod'],
];

/** The parameter aliases that an expression may refer to. */
export interface Aliases {
  /** The texts of parameter aliases by name with `@`. */
  texts: ReadonlyMap<string, string>;
}

/** Parses an expression such as `$filter`. @throws EstateError with the position of the syntax error. */
export function parseFilter(text: string, option: string, aliases: Aliases): Expr {
  const reader = new Parser(text, option, aliases);
  const expr = reader.expression();
  reader.end();
  return expr;
}

/** Parses the items of `$orderby`. */
export function parseOrderBy(text: string, option: string, aliases: Aliases): OrderItem[] {
  const reader = new Parser(text, option, aliases);
  const items: OrderItem[] = [];
  do {
    const expr = reader.expression();
    const descending = reader.takeWord('desc');
    if (!descending) reader.takeWord('asc');
    items.push({ expr, descending });
  } while (reader.takeMark(','));
  reader.end();
  if (items.length > MAX_ORDER_ITEMS) throw invalidQuery(option, `takes at most ${MAX_ORDER_ITEMS} items`);
  return items;
}

interface Spent {
  depth: number;
  parts: number;
}

const isWord = (token: Token, word: string) => token.kind === 'name' && token.text.toLowerCase() === word;
const isMark = (token: Token, mark: string) => token.kind === 'mark' && token.text === mark;

/** A recursive-descent parser; the methods are the rules of the grammar. */
class Parser {
  readonly #tokens: Token[];
  readonly #option: string;
  readonly #aliases: Aliases;
  readonly #used: Spent;
  #place = 0;

  constructor(text: string, option: string, aliases: Aliases, used: Spent = { depth: 0, parts: 0 }) {
    this.#tokens = tokensOf(text, option);
    this.#option = option;
    this.#aliases = aliases;
    this.#used = used;
  }

  get #next(): Token {
    return this.#tokens[this.#place]!;
  }
  #take(): Token {
    const token = this.#next;
    this.#place += 1;
    return token;
  }
  #fail(wanted: string, token = this.#next): Error {
    const found = token.kind === 'end' ? ' at the end' : ` instead of "${token.text}"`;
    return invalidQuery(this.#option, `${wanted} was expected${found}`, token.at);
  }

  takeMark(mark: string): boolean {
    if (!isMark(this.#next, mark)) return false;
    this.#place += 1;
    return true;
  }
  #needMark(mark: string): void {
    if (!this.takeMark(mark)) throw this.#fail(`"${mark}"`);
  }
  takeWord(word: string): boolean {
    if (!isWord(this.#next, word)) return false;
    this.#place += 1;
    return true;
  }
  end(): void {
    if (this.#next.kind !== 'end') throw this.#fail('the end');
  }

  #deeper<T>(work: () => T): T {
    this.#used.depth += 1;
    if (this.#used.depth > MAX_DEPTH) throw invalidQuery(this.#option, 'is nested too deeply', this.#next.at);
    const result = work();
    this.#used.depth -= 1;
    return result;
  }
  #counted(expr: Expr): Expr {
    this.#used.parts += 1;
    if (this.#used.parts > MAX_PARTS) throw invalidQuery(this.#option, 'has too many parts', expr.at);
    return expr;
  }

  expression(): Expr {
    return this.#deeper(() => this.#level(0));
  }

  #level(n: number): Expr {
    const operators = levels[n];
    if (!operators) return this.#unary();
    let left = this.#level(n + 1);
    for (;;) {
      const token = this.#next;
      const operator = operators.find((word) => isWord(token, word));
      if (!operator) return left;
      this.#place += 1;
      left = this.#counted({ kind: 'binary', operator, left, right: this.#level(n + 1), at: token.at });
    }
  }

  #unary(): Expr {
    const token = this.#next;
    if (isWord(token, 'not') && !isMark(this.#tokens[this.#place + 1] ?? token, '/')) {
      this.#place += 1;
      return this.#counted({ kind: 'not', operand: this.#deeper(() => this.#unary()), at: token.at });
    }
    if (isMark(token, '-')) {
      this.#place += 1;
      return this.#counted({ kind: 'negative', operand: this.#deeper(() => this.#unary()), at: token.at });
    }
    const left = this.#primary();
    if (this.takeWord('in')) return this.#counted({ kind: 'in', left, items: this.#list(), at: token.at });
    if (isWord(this.#next, 'has')) {
      const message = 'has is not supported: no property has an enumeration type';
      throw notSupported(this.#option, message, this.#next.at);
    }
    return left;
  }

  #list(): Expr[] {
    this.#needMark('(');
    const items: Expr[] = [];
    if (this.takeMark(')')) return items;
    do items.push(this.expression());
    while (this.takeMark(','));
    this.#needMark(')');
    return items;
  }

  #primary(): Expr {
    const token = this.#take();
    const { text: word, at } = token;
    switch (token.kind) {
      case 'string':
        return this.#counted({
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
        return this.#counted({ kind: 'literal', type: token.kind, value: word, at });
      case 'alias':
        return this.#alias(word, at);
      case 'system':
        if (word.toLowerCase() === '$it') return this.#itself(at);
        throw notSupported(this.#option, `${word} is not supported here`, at);
      case 'mark':
        if (word === '(') {
          const inner = this.expression();
          this.#needMark(')');
          return inner;
        }
        throw this.#fail('an expression', token);
      case 'name':
        return this.#named(token);
      default:
        throw this.#fail('an expression', token);
    }
  }

  #alias(name: string, at: number): Expr {
    const given = this.#aliases.texts.get(name);
    // an alias without a value is null (OData URL conventions, 5.3)
    if (given === undefined) return this.#counted({ kind: 'literal', type: 'null', value: null, at });
    return this.#deeper(() => {
      const reader = new Parser(given, name, this.#aliases, this.#used);
      const expr = reader.expression();
      reader.end();
      return expr;
    });
  }

  #itself(at: number): Expr {
    this.#needMark('/');
    const token = this.#take();
    if (token.kind !== 'name') throw this.#fail('a name', token);
    return this.#path([{ name: token.text, at }]);
  }

  #named(token: Token): Expr {
    const { text: word, at } = token;
    const lower = word.toLowerCase();
    if (isMark(this.#next, '(')) {
      if (word.includes('.')) throw notSupported(this.#option, `the function ${word} is not supported`, at);
      return lower === 'cast' || lower === 'isof'
        ? this.#cast(lower, at)
        : this.#counted({ kind: 'call', name: lower, args: this.#list(), at });
    }
    if (!isMark(this.#next, '/')) {
      if (lower === 'null') return this.#counted({ kind: 'literal', type: 'null', value: null, at });
      if (lower === 'true' || lower === 'false') {
        return this.#counted({ kind: 'literal', type: 'boolean', value: lower === 'true', at });
      }
      if (word === 'NaN' || word === 'INF') throw notSupported(this.#option, `${word} is not supported`, at);
    }
    return this.#path([{ name: word, at }]);
  }

  #cast(name: string, at: number): Expr {
    if (name === 'isof')
      throw notSupported(this.#option, 'isof is not supported: no type is derived from another', at);
    this.#needMark('(');
    const operand = this.expression();
    this.#needMark(',');
    const type = this.#take();
    if (type.kind !== 'name') throw this.#fail('a type', type);
    this.#needMark(')');
    return this.#counted({ kind: 'cast', operand, type: type.text, at });
  }

  #path(steps: PathStep[]): Expr {
    const { at } = steps[0]!;
    while (this.takeMark('/')) {
      const token = this.#take();
      if (token.kind === 'system' && token.text.toLowerCase() === '$count') return this.#count(steps, at);
      if (token.kind !== 'name') throw this.#fail('a name', token);
      const lower = token.text.toLowerCase();
      if ((lower === 'any' || lower === 'all') && isMark(this.#next, '('))
        return this.#lambda(lower, steps, at);
      if (token.text.includes('.')) {
        const message = 'casts in paths are not supported: no type is derived from another';
        throw notSupported(this.#option, message, token.at);
      }
      steps.push({ name: token.text, at: token.at });
    }
    return this.#counted({ kind: 'path', steps, at });
  }

  #lambda(quantifier: 'any' | 'all', steps: PathStep[], at: number): Expr {
    this.#needMark('(');
    if (this.takeMark(')')) {
      if (quantifier === 'all') throw invalidQuery(this.#option, 'all needs a condition', at);
      return this.#counted({
        kind: 'lambda',
        quantifier,
        steps,
        variable: undefined,
        predicate: undefined,
        at,
      });
    }
    const variable = this.#take();
    if (variable.kind !== 'name' || variable.text.includes('.')) throw this.#fail('a variable', variable);
    this.#needMark(':');
    const predicate = this.expression();
    this.#needMark(')');
    return this.#counted({ kind: 'lambda', quantifier, steps, variable: variable.text, predicate, at });
  }

  #count(steps: PathStep[], at: number): Expr {
    let filter: Expr | undefined;
    if (this.takeMark('(')) {
      const token = this.#take();
      if (!/^\$?filter$/i.test(token.text))
        throw notSupported(this.#option, `$count only takes $filter`, token.at);
      this.#needMark('=');
      filter = this.expression();
      this.#needMark(')');
    }
    return this.#counted({ kind: 'count', steps, filter, at });
  }
}
