import { filterError } from './filters.errors.ts';

export interface FilterToken {
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
export function readTokens(source: string): FilterToken[] {
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
