import type { Sql } from '../../../platform/database.ts';

/** A query of more words is searched by its first ones. */
const MOST_WORDS = 8;
const LONGEST_WORD = 60;
/** Shorter words are taken as they are: too many others are one letter away. */
const SHORTEST_FUZZY = 4;
const SHORTEST_PREFIX = 3;

const WORD = /[\p{L}\p{N}]+/gu;

/** The words of a folded text. */
export function wordsOf(folded: string): string[] {
  return folded.match(WORD) ?? [];
}

/** The text as the database folds it: lower case without accents. */
export async function foldText(sql: Sql, text: string): Promise<string> {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of ASCII
  if (/^[\u0001-\u007f]*$/.test(text)) return text.toLowerCase();
  const { rows } = await sql.raw('select fold(?) as folded', [text.replaceAll('\0', ' ')]);
  return rows[0].folded;
}

/** The distinct words that a query is searched by. */
export function queryWords(folded: string): string[] {
  return [...new Set(wordsOf(folded).map((word) => word.slice(0, LONGEST_WORD)))].slice(0, MOST_WORDS);
}

/** The words that are long enough to tell one card from others, as far as there are two; else all. */
export function tellingWords(words: string[]): string[] {
  for (const length of [SHORTEST_FUZZY, SHORTEST_PREFIX]) {
    const long = words.filter((word) => word.length >= length);
    if (long.length > 1) return long;
  }
  return words;
}

/** How many typos a word may hold; numbers and names with digits mean what they say. */
export function typosAllowed(word: string): number {
  if (word.length < SHORTEST_FUZZY || /\p{N}/u.test(word)) return 0;
  return word.length < 8 ? 1 : 2;
}

/**
 * The words as terms of a text search query. A word also stands for words that begin with it, unless it is so
 * short that a large part of all words does; the last one may just be about to be typed.
 */
function terms(words: string[]): string[] {
  return words.map((word, n) => {
    const shortest = n === words.length - 1 ? SHORTEST_PREFIX : SHORTEST_PREFIX + 1;
    return word.length >= shortest ? `'${word}':*` : `'${word}'`;
  });
}

/** A text search query for all of the words. */
export function allWords(words: string[]): string {
  return terms(words).join(' & ');
}

/** A text search query for all of the words but any one; there must be two or more. */
export function allWordsButOne(words: string[]): string {
  const all = terms(words);
  return all.map((_, left) => `(${all.filter((_term, n) => n !== left).join(' & ')})`).join(' | ');
}

/** LIKE patterns of which a word that is one typo away from `word` fits at least one. */
export function typoPatterns(word: string): string[] {
  if (typosAllowed(word) === 0) return [];
  const middle = word.length >> 1;
  // one typo leaves the first or the second half intact; swapped letters at the border cost the second its first
  const second = word.slice(word.length > SHORTEST_FUZZY ? middle + 1 : middle);
  return [`% ${word.slice(0, middle)}%`, `%${second} %`];
}

/** The LIKE pattern of texts that hold a word which begins with `word`. */
export const beginningPattern = (word: string): string => `% ${word}%`;
