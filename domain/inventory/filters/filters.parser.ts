import { filterError, listed } from './filters.errors.ts';
import { type FilterToken, readTokens } from './filters.lexer.ts';
import type { FilterCondition, FilterNode, FilterOperator, FilterWord } from './filters.types.ts';

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
