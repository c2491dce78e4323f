import type { Sql } from '../../platform/database.ts';

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

/** How many typos a word may hold; numbers and names with digits mean what they say. */
export function typosAllowed(word: string): number {
  if (word.length < SHORTEST_FUZZY || /\p{N}/u.test(word)) return 0;
  return word.length < 8 ? 1 : 2;
}

/** A word as part of a text search query: itself or, from three letters on and at the end, as a beginning. */
function term(word: string, last: boolean): string {
  return word.length >= SHORTEST_PREFIX || last ? `'${word}':*` : `'${word}'`;
}

/** A text search query for all of the words. */
export function allWords(words: string[]): string {
  return words.map((word, n) => term(word, n === words.length - 1)).join(' & ');
}

/** A text search query for all of the words but any one; there must be two or more. */
export function allWordsButOne(words: string[]): string {
  return words.map((_, left) => `(${allWords(words.filter((_word, n) => n !== left))})`).join(' | ');
}

/** LIKE patterns of which a word that is one typo away from `word` fits at least one. */
export function typoPatterns(word: string): string[] {
  if (typosAllowed(word) === 0) return [];
  const middle = word.length >> 1;
  // a typo leaves the first or the second half intact; swapped letters at the border cost the second its first
  const second = word.slice(word.length > SHORTEST_FUZZY ? middle + 1 : middle);
  return [`% ${word.slice(0, middle)}%`, `%${second} %`];
}

/** The LIKE pattern of texts that hold a word which begins with `word`. */
export const beginningPattern = (word: string): string => `% ${word}%`;
