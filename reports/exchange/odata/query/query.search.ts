import { invalidQuery } from '../odata.errors.ts';
import type { Search } from './query.types.ts';

const MOST_TERMS = 20;
const DEEPEST = 20;

/** The words of a text between all that is neither letter nor digit. */
const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];

/**
 * Reads a `$search` expression: words and quoted phrases, joined by AND, OR, NOT and brackets; side by side is AND.
 * @throws EstateError that says where the text cannot be read.
 */
export function parseSearch(text: string): Search {
  const tokens = [...text.matchAll(/"(?:[^"\\]|\\.)*"|[()]|[^\s()"]+|"/g)].map((found) => ({
    text: found[0],
    at: found.index,
  }));
  let place = 0;
  let terms = 0;
  const fail = (wanted: string) =>
    invalidQuery('$search', `${wanted} was expected`, tokens[place]?.at ?? text.length);

  function either(depth: number): Search {
    if (depth > DEEPEST) throw invalidQuery('$search', 'is nested too deeply', tokens[place]?.at);
    let left = both(depth);
    while (tokens[place]?.text === 'OR') {
      place += 1;
      left = { kind: 'or', left, right: both(depth) };
    }
    return left;
  }

  function both(depth: number): Search {
    let left = one(depth);
    for (;;) {
      const token = tokens[place]?.text;
      if (token === undefined || token === ')' || token === 'OR') return left;
      if (token === 'AND') place += 1;
      left = { kind: 'and', left, right: one(depth) };
    }
  }

  function one(depth: number): Search {
    const token = tokens[place];
    if (!token || [')', 'AND', 'OR', '"'].includes(token.text)) throw fail('a word');
    place += 1;
    if (token.text === 'NOT') {
      if (depth > DEEPEST) throw invalidQuery('$search', 'is nested too deeply', token.at);
      return { kind: 'not', operand: one(depth + 1) };
    }
    if (token.text === '(') {
      const inner = either(depth + 1);
      if (tokens[place]?.text !== ')') throw fail('")"');
      place += 1;
      return inner;
    }
    terms += 1;
    if (terms > MOST_TERMS) throw invalidQuery('$search', `takes at most ${MOST_TERMS} terms`, token.at);
    const words = wordsOf(token.text);
    if (words.length === 0)
      throw invalidQuery('$search', 'a term without a letter or digit finds nothing', token.at);
    return { kind: 'words', words, phrase: token.text.startsWith('"') };
  }

  const whole = either(0);
  if (place < tokens.length) throw fail('the end');
  return whole;
}
