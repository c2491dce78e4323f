import type { FilterCondition, FilterNode, FilterOperator, FilterWord } from './filters.types.ts';
import { filterError, joinWithOr } from './filters.types.ts';

/** The maximum nesting of `not` and parentheses. */
const FILTER_DEPTH = 32;
/** The maximum number of conditions of a filter; each value of a list counts as one. */
const FILTER_CONDITIONS = 200;

const RESERVED = new Set(['and', 'or', 'not']);
const COMPARISONS: ReadonlySet<string> = new Set(['=', '!=', '<', '<=', '>', '>=', '~']);
const OPERATORS = [
  ...COMPARISONS,
  'in',
  'not in',
  'between',
  'starts with',
  'is empty',
  'is not empty',
  'exists',
];

/**
 * Parses the text of a filter. Null for a blank text, which selects everything.
 * @throws EstateError `filter_syntax`, `filter_limit`.
 */
export function parseFilter(source: string): FilterNode | null {
  const parser = new Parser(source);
  return parser.isAtEnd() ? null : parser.readAll();
}

/**
 * Parses the path of one field, such as `relation.relAppToITC.target.name`.
 * @throws EstateError `filter_syntax`.
 */
export const parsePath = (source: string): FilterWord[] => new Parser(source).readField();

class Parser {
  readonly #tokens: FilterToken[];
  #at = 0;
  #conditions = 0;

  constructor(source: string) {
    this.#tokens = readTokens(source);
  }

  get #token(): FilterToken {
    return this.#tokens[this.#at]!;
  }

  isAtEnd(): boolean {
    return this.#token.kind === 'end';
  }

  #isKeyword(word: string): boolean {
    return this.#token.kind === 'word' && this.#token.text.toLowerCase() === word;
  }

  #isSymbol(symbol: string): boolean {
    return this.#token.kind === 'symbol' && this.#token.text === symbol;
  }

  #next(): FilterToken {
    const taken = this.#token;
    if (taken.kind !== 'end') this.#at += 1;
    return taken;
  }

  #accept(fits: boolean): boolean {
    if (fits) this.#next();
    return fits;
  }

  #fail(expected: string[]): never {
    const { kind, text, position } = this.#token;
    const found = kind === 'end' ? 'the end' : kind === 'text' ? 'text in quotes' : `"${text}"`;
    const message = `expected ${joinWithOr(expected)} but found ${found}`;
    throw filterError('filter_syntax', message, position, expected);
  }

  #failNull({ position }: FilterToken): never {
    const message = 'null is no value: write "is empty" or "is not empty"';
    throw filterError('filter_syntax', message, position, ['is empty', 'is not empty']);
  }

  readAll(): FilterNode {
    const node = this.#readOr(0);
    if (this.#token.kind !== 'end') this.#fail(['and', 'or', 'the end']);
    return node;
  }

  #readOr(depth: number): FilterNode {
    const items = [this.#readAnd(depth)];
    while (this.#accept(this.#isKeyword('or'))) items.push(this.#readAnd(depth));
    return group('or', items);
  }

  #readAnd(depth: number): FilterNode {
    const items = [this.#readNot(depth)];
    while (this.#accept(this.#isKeyword('and'))) items.push(this.#readNot(depth));
    return group('and', items);
  }

  #readNot(depth: number): FilterNode {
    if (this.#isKeyword('not')) {
      this.#deepen(depth);
      this.#next();
      return { kind: 'not', item: this.#readNot(depth + 1) };
    }
    if (this.#isSymbol('(')) {
      this.#deepen(depth);
      this.#next();
      const node = this.#readOr(depth + 1);
      if (!this.#accept(this.#isSymbol(')'))) this.#fail(['and', 'or', ')']);
      return node;
    }
    return this.#readCondition();
  }

  #deepen(depth: number): void {
    if (depth >= FILTER_DEPTH) {
      throw filterError('filter_limit', `nested deeper than ${FILTER_DEPTH} levels`, this.#token.position);
    }
  }

  #readCondition(): FilterCondition {
    this.#count();
    const path = this.#readPath();
    const { position } = this.#token;
    const { operator, values } = this.#readTest();
    return { kind: 'condition', path, operator, position, values };
  }

  #readPath(): FilterWord[] {
    const first = this.#token;
    if (first.kind !== 'word' || RESERVED.has(first.text.toLowerCase())) this.#fail(['a field', 'not', '(']);
    const path = [this.#readWord('a field')];
    while (this.#accept(this.#isSymbol('.'))) path.push(this.#readWord('a name'));
    return path;
  }

  readField(): FilterWord[] {
    const path = this.#readPath();
    if (this.#token.kind !== 'end') this.#fail(['.', 'the end']);
    return path;
  }

  #readTest(): { operator: FilterOperator; values: FilterWord[] } {
    if (this.#token.kind === 'symbol' && COMPARISONS.has(this.#token.text)) {
      return { operator: this.#next().text as FilterOperator, values: [this.#readValue()] };
    }
    if (this.#accept(this.#isKeyword('in'))) return { operator: 'in', values: this.#readList() };
    if (this.#accept(this.#isKeyword('not'))) {
      if (!this.#accept(this.#isKeyword('in'))) this.#fail(['in']);
      return { operator: 'not in', values: this.#readList() };
    }
    if (this.#accept(this.#isKeyword('between'))) {
      const lower = this.#readValue();
      if (!this.#accept(this.#isKeyword('and'))) this.#fail(['and']);
      return { operator: 'between', values: [lower, this.#readValue()] };
    }
    if (this.#accept(this.#isKeyword('starts'))) {
      if (!this.#accept(this.#isKeyword('with'))) this.#fail(['with']);
      return { operator: 'starts with', values: [this.#readValue()] };
    }
    if (this.#accept(this.#isKeyword('exists'))) return { operator: 'is not empty', values: [] };
    if (this.#accept(this.#isKeyword('is'))) {
      const operator = this.#accept(this.#isKeyword('not')) ? 'is not empty' : 'is empty';
      if (this.#isKeyword('null')) this.#failNull(this.#token);
      if (!this.#accept(this.#isKeyword('empty')))
        this.#fail(operator === 'is empty' ? ['empty', 'not empty'] : ['empty']);
      return { operator, values: [] };
    }
    return this.#fail(OPERATORS);
  }

  #readList(): FilterWord[] {
    if (!this.#accept(this.#isSymbol('('))) this.#fail(['(']);
    const values = [this.#readValue()];
    while (this.#accept(this.#isSymbol(','))) {
      this.#count();
      values.push(this.#readValue());
    }
    if (!this.#accept(this.#isSymbol(')'))) this.#fail([',', ')']);
    return values;
  }

  #count(): void {
    this.#conditions += 1;
    if (this.#conditions > FILTER_CONDITIONS) {
      throw filterError('filter_limit', `more than ${FILTER_CONDITIONS} conditions`, this.#token.position);
    }
  }

  #readValue(): FilterWord {
    if (this.#isKeyword('null')) this.#failNull(this.#token);
    if (this.#token.kind === 'word' && RESERVED.has(this.#token.text.toLowerCase())) this.#fail(['a value']);
    return this.#readWord('a value');
  }

  #readWord(expected: string): FilterWord {
    const { kind, text, position } = this.#token;
    if (kind !== 'word' && kind !== 'text') this.#fail([expected]);
    this.#next();
    return { text, quoted: kind === 'text', position };
  }
}

/** One node for several; nodes of the same operator are flattened into it. */
function group(kind: 'and' | 'or', nodes: FilterNode[]): FilterNode {
  const items = nodes.flatMap((node) => (node.kind === kind ? node.items : [node]));
  return items.length === 1 ? items[0]! : { kind, items };
}

interface FilterToken {
  kind: 'word' | 'text' | 'symbol' | 'end';
  /** The word or symbol; for a quoted text its unescaped contents. */
  text: string;
  /** Counted in characters from 1. */
  position: number;
}

/** The maximum length of a filter, in characters. */
const FILTER_LENGTH = 4_000;

const BLANK = /\s+/uy;
// A number, date or timestamp includes its dots, colons and signs; an id may begin with a digit as well.
const FIGURE = /[+-]?[0-9][\p{L}\p{N}_.:+-]*/uy;
const WORD = /[\p{L}\p{N}_][\p{L}\p{M}\p{N}_-]*/uy;
const SYMBOL = /!=|<=|>=|[=<>~().,]/uy;
// PostgreSQL accepts neither of these in text.
const UNSTORABLE = /[\0\p{Cs}]/u;

const QUOTING = 'text other than a plain word stands in double quotes';

/** Cuts a filter into tokens; the last one is `end`. @throws EstateError `filter_syntax`, `filter_limit`. */
function readTokens(source: string): FilterToken[] {
  const tokens: FilterToken[] = [];
  let index = 0;
  let position = 1;

  if (countCharacters(source) > FILTER_LENGTH) {
    throw filterError('filter_limit', `longer than ${FILTER_LENGTH} characters`, FILTER_LENGTH + 1);
  }
  const unstorable = source.search(UNSTORABLE);
  if (unstorable >= 0) {
    const message = 'a character that cannot be stored';
    throw filterError('filter_syntax', message, countCharacters(source.slice(0, unstorable)) + 1);
  }

  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = index;
    return pattern.exec(source)?.[0];
  };
  const advance = (lexeme: string) => {
    index += lexeme.length;
    position += countCharacters(lexeme);
  };

  while (true) {
    const blank = take(BLANK);
    if (blank !== undefined) advance(blank);
    if (index >= source.length) break;
    const before = tokens.at(-1);
    // After a dot follows a name, which may begin with a digit.
    const named = before?.kind === 'symbol' && before.text === '.';
    const word = (named ? undefined : take(FIGURE)) ?? take(WORD);
    if (word !== undefined) {
      tokens.push({ kind: 'word', text: word, position });
      advance(word);
      continue;
    }
    const symbol = take(SYMBOL);
    if (symbol !== undefined) {
      tokens.push({ kind: 'symbol', text: symbol, position });
      advance(symbol);
      continue;
    }
    if (source[index] !== '"') {
      const character = String.fromCodePoint(source.codePointAt(index)!);
      throw filterError('filter_syntax', `unexpected "${character}" (${QUOTING})`, position);
    }
    const { lexeme, text } = readText(source, index, position);
    tokens.push({ kind: 'text', text, position });
    advance(lexeme);
  }
  tokens.push({ kind: 'end', text: '', position });
  return tokens;
}

function readText(source: string, start: number, position: number): { lexeme: string; text: string } {
  let text = '';
  for (let index = start + 1; index < source.length; index += 1) {
    const character = source[index]!;
    if (character === '"') return { lexeme: source.slice(start, index + 1), text };
    if (character !== '\\') {
      text += character;
      continue;
    }
    index += 1;
    const escaped = source[index];
    if (escaped !== '"' && escaped !== '\\') {
      throw filterError(
        'filter_syntax',
        'a backslash in text escapes a double quote or a backslash only',
        position + countCharacters(source.slice(start, index - 1)),
        ['\\"', '\\\\'],
      );
    }
    text += escaped;
  }
  throw filterError('filter_syntax', 'the text is not closed by a double quote', position, ['"']);
}

function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
