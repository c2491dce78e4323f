import type { FilterCondition, FilterNode, FilterOperator, FilterWord } from './filters.types.ts';
import { filterError, listed } from './filters.types.ts';

/** How deep `not` and parentheses may be nested. */
const FILTER_DEPTH = 32;
/** How many conditions a filter may hold, each value of a list counting as one. */
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
 * Reads a filter's text. Null for a blank one, which selects everything.
 * @throws EstateError `filter_syntax`, `filter_limit`.
 */
export function parseFilter(source: string): FilterNode | null {
  const parser = createParser(readTokens(source));
  return parser.isAtEnd() ? null : parser.readAll();
}

/**
 * Reads the path of one field, such as `relation.relAppToITC.target.name`.
 * @throws EstateError `filter_syntax`.
 */
export function parsePath(source: string): FilterWord[] {
  return createParser(readTokens(source)).readField();
}

function createParser(tokens: FilterToken[]) {
  let at = 0;
  let conditions = 0;

  const token = (): FilterToken => tokens[at]!;
  const isKeyword = (word: string, { kind, text } = token()) =>
    kind === 'word' && text.toLowerCase() === word;
  const isSymbol = (symbol: string) => token().kind === 'symbol' && token().text === symbol;

  function next(): FilterToken {
    const taken = token();
    if (taken.kind !== 'end') at += 1;
    return taken;
  }

  function accept(fits: boolean): boolean {
    if (fits) next();
    return fits;
  }

  function fail(expected: string[]): never {
    const { kind, text, position } = token();
    const found = kind === 'end' ? 'the end' : kind === 'text' ? 'text in quotes' : `"${text}"`;
    throw filterError('filter_syntax', `expected ${listed(expected)} but found ${found}`, position, expected);
  }

  function failNull({ position }: FilterToken): never {
    throw filterError('filter_syntax', 'null is no value: write "is empty" or "is not empty"', position, [
      'is empty',
      'is not empty',
    ]);
  }

  function readAll(): FilterNode {
    const node = readOr(0);
    if (token().kind !== 'end') fail(['and', 'or', 'the end']);
    return node;
  }

  function readOr(depth: number): FilterNode {
    const items = [readAnd(depth)];
    while (accept(isKeyword('or'))) items.push(readAnd(depth));
    return group('or', items);
  }

  function readAnd(depth: number): FilterNode {
    const items = [readNot(depth)];
    while (accept(isKeyword('and'))) items.push(readNot(depth));
    return group('and', items);
  }

  function readNot(depth: number): FilterNode {
    if (isKeyword('not')) {
      deepen(depth);
      next();
      return { kind: 'not', item: readNot(depth + 1) };
    }
    if (isSymbol('(')) {
      deepen(depth);
      next();
      const node = readOr(depth + 1);
      if (!accept(isSymbol(')'))) fail(['and', 'or', ')']);
      return node;
    }
    return readCondition();
  }

  function deepen(depth: number): void {
    if (depth >= FILTER_DEPTH) {
      throw filterError('filter_limit', `nested deeper than ${FILTER_DEPTH} levels`, token().position);
    }
  }

  function readCondition(): FilterCondition {
    count();
    const path = readPath();
    const { position } = token();
    const { operator, values } = readTest();
    return { kind: 'condition', path, operator, position, values };
  }

  function readPath(): FilterWord[] {
    const first = token();
    if (first.kind !== 'word' || RESERVED.has(first.text.toLowerCase())) fail(['a field', 'not', '(']);
    const path = [readWord('a field')];
    while (accept(isSymbol('.'))) path.push(readWord('a name'));
    return path;
  }

  function readField(): FilterWord[] {
    const path = readPath();
    if (token().kind !== 'end') fail(['.', 'the end']);
    return path;
  }

  function readTest(): { operator: FilterOperator; values: FilterWord[] } {
    if (token().kind === 'symbol' && COMPARISONS.has(token().text)) {
      return { operator: next().text as FilterOperator, values: [readValue()] };
    }
    if (accept(isKeyword('in'))) return { operator: 'in', values: readList() };
    if (accept(isKeyword('not'))) {
      if (!accept(isKeyword('in'))) fail(['in']);
      return { operator: 'not in', values: readList() };
    }
    if (accept(isKeyword('between'))) {
      const lower = readValue();
      if (!accept(isKeyword('and'))) fail(['and']);
      return { operator: 'between', values: [lower, readValue()] };
    }
    if (accept(isKeyword('starts'))) {
      if (!accept(isKeyword('with'))) fail(['with']);
      return { operator: 'starts with', values: [readValue()] };
    }
    if (accept(isKeyword('exists'))) return { operator: 'is not empty', values: [] };
    if (accept(isKeyword('is'))) {
      const operator = accept(isKeyword('not')) ? 'is not empty' : 'is empty';
      if (isKeyword('null')) failNull(token());
      if (!accept(isKeyword('empty'))) fail(operator === 'is empty' ? ['empty', 'not empty'] : ['empty']);
      return { operator, values: [] };
    }
    return fail(OPERATORS);
  }

  function readList(): FilterWord[] {
    if (!accept(isSymbol('('))) fail(['(']);
    const values = [readValue()];
    while (accept(isSymbol(','))) {
      count();
      values.push(readValue());
    }
    if (!accept(isSymbol(')'))) fail([',', ')']);
    return values;
  }

  function count(): void {
    conditions += 1;
    if (conditions > FILTER_CONDITIONS) {
      throw filterError('filter_limit', `more than ${FILTER_CONDITIONS} conditions`, token().position);
    }
  }

  function readValue(): FilterWord {
    if (isKeyword('null')) failNull(token());
    if (token().kind === 'word' && RESERVED.has(token().text.toLowerCase())) fail(['a value']);
    return readWord('a value');
  }

  function readWord(expected: string): FilterWord {
    const { kind, text, position } = token();
    if (kind !== 'word' && kind !== 'text') fail([expected]);
    next();
    return { text, quoted: kind === 'text', position };
  }

  return { readAll, readField, isAtEnd: () => token().kind === 'end' };
}

/** One node of several, with those of its own kind taken in. */
function group(kind: 'and' | 'or', nodes: FilterNode[]): FilterNode {
  const items = nodes.flatMap((node) => (node.kind === kind ? node.items : [node]));
  return items.length === 1 ? items[0]! : { kind, items };
}

interface FilterToken {
  kind: 'word' | 'text' | 'symbol' | 'end';
  /** The word or symbol; of a text, what stands between its quotes, unescaped. */
  text: string;
  /** Counted in characters from 1. */
  position: number;
}

/** Longest filter, in characters. */
const FILTER_LENGTH = 4_000;

const BLANK = /\s+/uy;
// A number, date or timestamp keeps its dots, colons and signs; an id may begin with a digit as well.
const FIGURE = /[+-]?[0-9][\p{L}\p{N}_.:+-]*/uy;
const WORD = /[\p{L}\p{N}_][\p{L}\p{M}\p{N}_-]*/uy;
const SYMBOL = /!=|<=|>=|[=<>~().,]/uy;
// The database takes neither of these as text.
const UNSTORABLE = /[\0\p{Cs}]/u;

const QUOTING = 'text other than a plain word stands in double quotes';

/** Cuts a filter into tokens; the last one is `end`. @throws EstateError `filter_syntax`, `filter_limit`. */
function readTokens(source: string): FilterToken[] {
  const tokens: FilterToken[] = [];
  let index = 0;
  let position = 1;

  const length = countCharacters(source);
  if (length > FILTER_LENGTH) {
    throw filterError('filter_limit', `longer than ${FILTER_LENGTH} characters`, FILTER_LENGTH + 1);
  }
  const unstorable = source.search(UNSTORABLE);
  if (unstorable >= 0) {
    throw filterError(
      'filter_syntax',
      'a character that cannot be stored',
      countCharacters(source.slice(0, unstorable)) + 1,
    );
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
    // after a dot stands a name, also one that begins with a digit
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
