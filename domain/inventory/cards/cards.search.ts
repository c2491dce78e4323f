import { queryValue, type Sql } from '../../../platform/database.ts';
import { prepared } from '../../../platform/prepared.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';

/** How many cards each query of a search returns at most, and the search as a whole. */
const MOST_FOUND = 1000;
/** With fewer cards that match as typed, misspelt words are looked for. */
const ENOUGH = 10;

const WORDS = "search_words(c.name_key, c.alias, c.external_id, c.description) @@ to_tsquery('simple', ?)";
const TEXT = 'search_text(c.name_key, c.alias, c.external_id) like ?';
/** Sorts behind every character. */
const LAST_CHARACTER = '\u{10FFFF}';

interface CardSearch {
  sql: Sql;
  /** What the cards must fulfil besides. */
  where: Condition[];
  /** Whether `where` is one of few texts, for which the queries are worth being prepared. */
  plain: boolean;
  text: string;
}

interface Found {
  /** The likeliest first. */
  ids: string[];
  /** Whether more cards matched than were checked. */
  more: boolean;
}

/**
 * The cards that a search text may mean, among those that the conditions match. Words are looked for in
 * name, alias, external id and description, as they are and as beginnings; when that finds few cards, misspelt
 * words in name, alias and external id as well.
 */
export async function searchCards({ sql, where, plain, text }: CardSearch): Promise<Found> {
  const folded = (await foldText(sql, text)).trim();
  const words = queryWords(folded);
  const gathered = gather(sql, where, plain);
  if (words.length === 0)
    return folded === '' ? { ids: [], more: false } : await searchSigns(gathered, folded);
  const rank = () => rankCandidates(folded, words, [...gathered.candidates.values()]);

  await gathered.add(WORDS, [allWords(words)], true);
  let ranked: Candidate[] | undefined;
  if (gathered.more) {
    // too many to look at them all: those with the words in their names come first
    await gathered.add('c.name_key = ?', [folded], true);
    await gathered.add('c.name_key >= ? and c.name_key < ?', [folded, folded + LAST_CHARACTER], true);
    await gathered.add(words.map(() => TEXT).join(' and '), words.map(beginningPattern), true);
  } else if (gathered.candidates.size < ENOUGH) {
    ranked = rank();
    if (ranked[0]?.name !== folded) ranked = await searchMisspelt(gathered, words, rank);
  }
  ranked ??= rank();
  return {
    ids: ranked.slice(0, MOST_FOUND).map(({ id }) => id),
    more: gathered.more || ranked.length > MOST_FOUND,
  };
}

/** A text without a letter or digit has no words: it is looked for in names as it is. */
async function searchSigns(gathered: Gathered, folded: string): Promise<Found> {
  const pattern = `%${folded.replace(/[\\%_]/g, '\\$&')}%`;
  await gathered.add('c.name_key like ?', [pattern], true);
  const found = [...gathered.candidates.values()].sort((a, b) =>
    a.name < b.name ? -1 : a.name > b.name ? 1 : 0,
  );
  return { ids: found.slice(0, MOST_FOUND).map(({ id }) => id), more: gathered.more };
}

async function searchMisspelt(
  gathered: Gathered,
  words: string[],
  rank: () => Candidate[],
): Promise<Candidate[]> {
  const telling = tellingWords(words);
  if (telling.length > 1) {
    // whatever is wrong with one word, the others lead to the card
    await gathered.add(WORDS, [allWordsButOne(telling)], false);
    const ranked = rank();
    if (ranked.length > 0 && !gathered.more) return ranked;
  }
  // or there are no others, or they are everyday words, or several words are misspelt
  gathered.more = false;
  let ranked: Candidate[] = [];
  for (const wanted of telling.length < words.length ? [words, telling] : [words]) {
    const patterns = wanted.map((word) => [beginningPattern(word), ...typoPatterns(word)]);
    const all = patterns.map((each) => `(${each.map(() => TEXT).join(' or ')})`);
    await gathered.add(all.join(' and '), patterns.flat(), false);
    ranked = rank();
    if (ranked.length > 0) break;
  }
  return ranked;
}

/** Candidates from several queries, each once. */
interface Gathered {
  candidates: Map<string, Candidate>;
  /** Whether a query would have yielded more than it was allowed to. */
  more: boolean;
  /** Adds what `match` finds; `complete` says whether it asks for all words. */
  add(match: string, bindings: unknown[], complete: boolean): Promise<void>;
}

function gather(sql: Sql, where: Condition[], plain: boolean): Gathered {
  // IS TRUE keeps the planner from taking a filter's index instead of the search's
  const filter = where.map((condition) => ` and ((${condition.sql}) is true)`).join('');
  const filterBindings = where.flatMap((condition) => condition.bindings);
  const gathered: Gathered = {
    candidates: new Map(),
    more: false,
    async add(match, bindings, complete) {
      const text = `select c.id, c.name_key as name, fold(c.alias) as alias, lower(c.external_id) as "externalId"
        from cards c where ${match}${filter} limit ?`;
      const values = [...bindings, ...filterBindings, MOST_FOUND + 1];
      const { rows } = plain ? await prepared(sql, text, values) : await sql.raw(text, values);
      if (rows.length > MOST_FOUND) gathered.more = true;
      for (const row of rows as Omit<Candidate, 'complete'>[]) {
        if (!gathered.candidates.has(row.id)) gathered.candidates.set(row.id, { ...row, complete });
      }
    },
  };
  return gathered;
}

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
  return await queryValue<string>(sql, 'select fold(?)', [text.replaceAll('\0', ' ')]);
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
 * The words as terms of a text search query. A word also represents words that begin with it, unless it is so
 * short that a large part of all words does; the last one may just be about to be typed.
 */
function terms(words: string[]): string[] {
  return words.map((word, n) => {
    const shortest = n === words.length - 1 ? SHORTEST_PREFIX : SHORTEST_PREFIX + 1;
    return word.length >= shortest ? `'${word}':*` : `'${word}'`;
  });
}

/** A text search query for all of the words. */
function allWords(words: string[]): string {
  return terms(words).join(' & ');
}

/** A text search query for all of the words but any one; there must be two or more. */
function allWordsButOne(words: string[]): string {
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
const beginningPattern = (word: string): string => `% ${word}%`;

/** A card that may be meant, with folded texts. */
export interface Candidate {
  id: string;
  name: string;
  alias: string | null;
  externalId: string | null;
  /** Found by all words of the query, some of which may are in the description alone. */
  complete: boolean;
}

const PREFIX_COST = 0.15;
const INFIX_COST = 0.5;
const TYPO_COST = 0.6;
const FURTHER_TYPO_COST = 0.25;
const ELSEWHERE_COST = 0.35;
const UNASKED_COST = 0.3;
const DESCRIPTION_COST = 1.1;
const MISSING_COST = 1.3;
const SHORTEST_INFIX = 3;

/**
 * Edits that turn one text into the other, swapped neighbours being one (optimal string alignment); `most + 1`
 * when there are more than `most`.
 */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j += 1) {
      const changed = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + changed);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, beforeLast[j - 2]! + 1);
      }
      row.push(cost);
      if (cost < least) least = cost;
    }
    if (least > most) return most + 1;
    beforeLast = last;
    last = row;
  }
  return Math.min(last[b.length]!, most + 1);
}

/** How far a word of the query is from a word of a card: 0 for the same; undefined for another word. */
function wordCost(query: string, word: string): number | undefined {
  if (word === query) return 0;
  if (word.startsWith(query)) return PREFIX_COST * (2 - query.length / word.length);
  if (query.length >= SHORTEST_INFIX && word.includes(query)) return INFIX_COST;
  const most = typosAllowed(query);
  if (most === 0) return undefined;
  const typos = editDistance(query, word, most);
  return typos > most ? undefined : TYPO_COST + FURTHER_TYPO_COST * (typos - 1);
}

function bestCost(query: string, words: string[]): number | undefined {
  let best: number | undefined;
  for (const word of words) {
    const cost = wordCost(query, word);
    if (cost !== undefined && (best === undefined || cost < best)) best = cost;
    if (best === 0) break;
  }
  return best;
}

interface Query {
  folded: string;
  words: string[];
  /** All letters and digits without the blanks between them. */
  joined: string;
  digits: string;
}

const digits = (text: string) => text.replace(/\P{N}/gu, '');

interface Score {
  /** The lower the nearer. */
  value: number;
  /** Words of the query that the card has nowhere. */
  missing: number;
}

/** How near a card is to the query; undefined for one that is not meant. */
function score(query: Query, card: Candidate): Score | undefined {
  if (card.name === query.folded) return { value: -3, missing: 0 };
  if (card.externalId === query.folded || card.alias === query.folded) return { value: -2, missing: 0 };
  const nameWords = wordsOf(card.name);
  const otherWords = wordsOf(`${card.alias ?? ''} ${card.externalId ?? ''}`);
  let sum = 0;
  let missing = 0;
  for (const word of query.words) {
    const inName = bestCost(word, nameWords);
    const elsewhere = inName === 0 ? undefined : bestCost(word, otherWords);
    const cost = Math.min(inName ?? Infinity, (elsewhere ?? Infinity) + ELSEWHERE_COST);
    if (cost !== Infinity) sum += cost;
    else if (card.complete) sum += DESCRIPTION_COST;
    else missing += 1;
  }
  // a blank too many or too few makes other words of the same letters
  const joined = missing > 0 ? nameWords.join('') : '';
  const typos = missing > 0 && digits(joined) === query.digits ? editDistance(query.joined, joined, 2) : 3;
  if (typos <= 2) {
    sum = TYPO_COST + FURTHER_TYPO_COST * typos;
    missing = 0;
  } else {
    if (missing > 1 || (missing === 1 && query.words.length === 1)) return undefined;
    sum += MISSING_COST * missing;
  }
  const phrase = card.name.startsWith(query.folded) ? 1 : 0;
  const unasked = 1 - Math.min(1, query.words.length / Math.max(1, nameWords.length));
  return { value: sum / query.words.length - phrase + UNASKED_COST * unasked, missing };
}

/**
 * The candidates that a query may mean, the likeliest first: the exact name, then the exact alias or external id,
 * names that begin with the query, names with its words, with words that begin so, with misspelt words; words
 * found in the description alone count least. Cards that lack a word are meant only where none has them all.
 */
export function rankCandidates(folded: string, words: string[], candidates: Candidate[]): Candidate[] {
  const joined = wordsOf(folded).join('');
  const query: Query = { folded: folded.trim(), words, joined, digits: digits(joined) };
  const scored: (Score & { card: Candidate })[] = [];
  for (const card of candidates) {
    const found = score(query, card);
    if (found) scored.push({ ...found, card });
  }
  const least = Math.min(...scored.map(({ missing }) => missing));
  const meant = scored.filter(({ missing }) => missing === least);
  meant.sort(
    (a, b) =>
      a.value - b.value ||
      (a.card.name < b.card.name ? -1 : a.card.name > b.card.name ? 1 : a.card.id < b.card.id ? -1 : 1),
  );
  return meant.map(({ card }) => card);
}
