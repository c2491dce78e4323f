import { query, type Sql } from '../../../platform/database.ts';
import { editDistance } from '../../../platform/edit-distance.ts';
import { prepared } from '../../../platform/prepared.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';
import { type Spellings, spellingsOf, withoutUmlauts } from './cards.spellings.ts';
import { cardNumberKey } from './rules/numbers.ts';

/** The maximum number of cards that each query of a search, and the search as a whole, returns. */
const MOST_FOUND = 1000;
/** If fewer cards match as typed, misspelt words are searched for. */
const ENOUGH = 10;

const WORDS = "search_words(c.name_key, c.alias, c.external_id, c.description) @@ to_tsquery('simple', ?)";
const TEXT = 'search_text(c.name_key, c.alias, c.external_id) like ?';
/** A character that sorts after all others. */
const LAST_CHARACTER = '\u{10FFFF}';

interface CardSearch {
  sql: Sql;
  /** Further conditions on the cards. */
  where: Condition[];
  /** Whether `where` is one of few texts, so that the queries are worth preparing. */
  plain: boolean;
  text: string;
}

interface Found {
  /** Ordered by relevance. */
  ids: string[];
  /** Whether more cards matched than were checked. */
  more: boolean;
}

/**
 * The visible cards that match a search text and the conditions. A number finds its card. Words are searched for in name, alias, external id and
 * description, as complete words and as prefixes, with umlauts in both spellings; if that finds few cards, misspelt words in name, alias and
 * external id are searched for as well.
 */
export async function searchCards({ sql, where, plain, text }: CardSearch): Promise<Found> {
  const folded = (await foldText(sql, text)).trim();
  const words = queryWords(folded);
  const spelt = await readSpellings(sql, text, folded);
  const gathered = gather(sql, where, plain);
  const key = cardNumberKey(folded);
  // A card whose number is the text comes first.
  if (key) await gathered.add('card_number_key(c.number) = ?', [key], true);
  const [numbered] = gathered.candidates.keys();
  if (words.length === 0)
    return folded === '' ? { ids: [], more: false } : await searchSigns(gathered, folded);
  const rank = () => rankCandidates(folded, words, [...gathered.candidates.values()], spelt);

  await gathered.add(WORDS, [allWords(words, spelt)], true);
  let ranked: Candidate[] | undefined;
  if (gathered.more) {
    // Too many to check all: cards with the words in their names come first.
    await gathered.add('c.name_key = ?', [folded], true);
    await gathered.add('c.name_key >= ? and c.name_key < ?', [folded, folded + LAST_CHARACTER], true);
    const patterns = words.map((word) => spelt(word).map(beginningPattern));
    await gathered.add(patterns.map(anyText).join(' and '), patterns.flat(), true);
  } else if (gathered.candidates.size < ENOUGH) {
    ranked = rank();
    if (ranked[0]?.name !== folded) ranked = await searchMisspelt(gathered, words, spelt, rank);
  }
  ranked ??= rank();
  const found = ranked.map(({ id }) => id).filter((id) => id !== numbered);
  const ids = [...(numbered ? [numbered] : []), ...found].slice(0, MOST_FOUND);
  return { ids, more: gathered.more || ranked.length > MOST_FOUND };
}

/** A text without letters or digits has no words: names that contain it are searched for. */
async function searchSigns(gathered: Gathered, folded: string): Promise<Found> {
  await gathered.add('c.name_key like ?', [`%${folded.replace(/[\\%_]/g, '\\$&')}%`], true);
  const found = [...gathered.candidates.values()].sort((a, b) =>
    a.name < b.name ? -1 : a.name > b.name ? 1 : 0,
  );
  return { ids: found.slice(0, MOST_FOUND).map(({ id }) => id), more: gathered.more };
}

/** Texts that one of the patterns fits. */
const anyText = (patterns: readonly string[]): string => `(${patterns.map(() => TEXT).join(' or ')})`;

/** The spellings of the words of a query. */
async function readSpellings(sql: Sql, text: string, folded: string): Promise<Spellings> {
  const plain = withoutUmlauts(text);
  const own = plain === text ? folded : await foldText(sql, plain);
  return spellingsOf(wordsOf(folded), wordsOf(own));
}

async function searchMisspelt(
  gathered: Gathered,
  words: string[],
  spelt: Spellings,
  rank: () => Candidate[],
): Promise<Candidate[]> {
  const telling = selectiveWords(words);
  if (telling.length > 1) {
    // One word may be misspelt; the others find the card.
    await gathered.add(WORDS, [allWordsButOne(telling, spelt)], false);
    const ranked = rank();
    if (ranked.length > 0 && !gathered.more) return ranked;
  }
  // There are no other words, or they are common, or several words are misspelt.
  gathered.more = false;
  let ranked: Candidate[] = [];
  for (const wanted of telling.length < words.length ? [words, telling] : [words]) {
    const patterns = wanted.map((word) => [...spelt(word).map(beginningPattern), ...typoPatterns(word)]);
    await gathered.add(patterns.map(anyText).join(' and '), patterns.flat(), false);
    ranked = rank();
    if (ranked.length > 0) break;
  }
  return ranked;
}

/** Candidates from several queries, without duplicates. */
interface Gathered {
  candidates: Map<string, Candidate>;
  /** Whether a query would have returned more than its limit. */
  more: boolean;
  /** Adds what `match` finds; `complete` says whether all words must match. */
  add(match: string, bindings: unknown[], complete: boolean): Promise<void>;
}

function gather(sql: Sql, where: Condition[], plain: boolean): Gathered {
  // IS TRUE prevents the planner from using a filter's index instead of the search index.
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

/** Only this many words of a query are searched for. */
const MOST_WORDS = 8;
const LONGEST_WORD = 60;
/** Shorter words are not corrected: too many words differ in one letter. */
const SHORTEST_FUZZY = 4;
const SHORTEST_PREFIX = 3;

const WORD = /[\p{L}\p{N}]+/gu;

/** The words of a folded text. */
export const wordsOf = (folded: string): string[] => folded.match(WORD) ?? [];

/** The text folded as PostgreSQL does it: lower case without accents. */
export async function foldText(sql: Sql, text: string): Promise<string> {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of ASCII
  if (/^[\u0001-\u007f]*$/.test(text)) return text.toLowerCase();
  return await query(sql).value<string>`select fold(${text.replaceAll('\0', ' ')})`;
}

/** The distinct words of a query that are searched for. */
export function queryWords(folded: string): string[] {
  return [...new Set(wordsOf(folded).map((word) => word.slice(0, LONGEST_WORD)))].slice(0, MOST_WORDS);
}

/** The words that are long enough to be selective, if there are two; otherwise all. */
export function selectiveWords(words: string[]): string[] {
  for (const length of [SHORTEST_FUZZY, SHORTEST_PREFIX]) {
    const long = words.filter((word) => word.length >= length);
    if (long.length > 1) return long;
  }
  return words;
}

/** How many typos a word may have; none in numbers and in names with digits. */
export function typosAllowed(word: string): number {
  if (word.length < SHORTEST_FUZZY || /\p{N}/u.test(word)) return 0;
  return word.length < 8 ? 1 : 2;
}

/**
 * The words as terms of a text search query. A word also matches words that begin with it, unless it is so short that a
 * large part of all words would match; the last one may be incomplete.
 */
function terms(words: string[], spelt: Spellings): string[] {
  return words.map((word, n) => {
    const shortest = n === words.length - 1 ? SHORTEST_PREFIX : SHORTEST_PREFIX + 1;
    const all = spelt(word).map((one) => (one.length >= shortest ? `'${one}':*` : `'${one}'`));
    return all.length === 1 ? all[0]! : `(${all.join(' | ')})`;
  });
}

/** A text search query for all of the words. */
const allWords = (words: string[], spelt: Spellings): string => terms(words, spelt).join(' & ');

/** A text search query for all words but any one; there must be at least two. */
function allWordsButOne(words: string[], spelt: Spellings): string {
  const all = terms(words, spelt);
  return all.map((_, left) => `(${all.filter((_term, n) => n !== left).join(' & ')})`).join(' | ');
}

/** LIKE patterns; each word that is one typo away from `word` matches at least one of them. */
export function typoPatterns(word: string): string[] {
  if (typosAllowed(word) === 0) return [];
  const middle = word.length >> 1;
  // One typo leaves the first or the second half intact; a swap at the border also changes the first letter of the
  // second half.
  const second = word.slice(word.length > SHORTEST_FUZZY ? middle + 1 : middle);
  return [`% ${word.slice(0, middle)}%`, `%${second} %`];
}

/** The LIKE pattern of texts that contain a word which begins with `word`. */
const beginningPattern = (word: string): string => `% ${word}%`;

/** A candidate, with folded texts. */
export interface Candidate {
  id: string;
  name: string;
  alias: string | null;
  externalId: string | null;
  /** Whether it was found by all words of the query, some of them maybe in the description only. */
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

/** The distance of a word of the query from a word of a card: 0 if equal; undefined if it does not match. */
function wordCost(query: string, word: string): number | undefined {
  if (word === query) return 0;
  if (word.startsWith(query)) return PREFIX_COST * (2 - query.length / word.length);
  if (query.length >= SHORTEST_INFIX && word.includes(query)) return INFIX_COST;
  const most = typosAllowed(query);
  if (most === 0) return undefined;
  const typos = editDistance(query, word, most);
  return typos > most ? undefined : TYPO_COST + FURTHER_TYPO_COST * (typos - 1);
}

/** The least distance of a word of the query, in any of its spellings, from words of a card. */
function bestCost(spellings: readonly string[], words: string[]): number | undefined {
  let best: number | undefined;
  for (const query of spellings) {
    for (const word of words) {
      const cost = wordCost(query, word);
      if (cost !== undefined && (best === undefined || cost < best)) best = cost;
      if (best === 0) return best;
    }
  }
  return best;
}

interface Query {
  folded: string;
  words: string[];
  spelt: Spellings;
  /** All letters and digits without the spaces between them. */
  joined: string;
  digits: string;
}

const digits = (text: string) => text.replace(/\P{N}/gu, '');

interface Score {
  /** A rank; lower is more relevant. */
  value: number;
  /** Words of the query that the card does not contain. */
  missing: number;
}

/** The rank of a card for a query; undefined if it does not match. */
function score(query: Query, card: Candidate): Score | undefined {
  if (card.name === query.folded) return { value: -3, missing: 0 };
  if (card.externalId === query.folded || card.alias === query.folded) return { value: -2, missing: 0 };
  const nameWords = wordsOf(card.name);
  const otherWords = wordsOf(`${card.alias ?? ''} ${card.externalId ?? ''}`);
  let sum = 0;
  let missing = 0;
  for (const word of query.words) {
    const spellings = query.spelt(word);
    const inName = bestCost(spellings, nameWords);
    const elsewhere = inName === 0 ? undefined : bestCost(spellings, otherWords);
    const cost = Math.min(inName ?? Infinity, (elsewhere ?? Infinity) + ELSEWHERE_COST);
    if (cost !== Infinity) sum += cost;
    else if (card.complete) sum += DESCRIPTION_COST;
    else missing += 1;
  }
  // A space too many or too few yields other words of the same letters.
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
 * The candidates that match a query, ordered by relevance: the exact name, the exact alias or external id, names that
 * begin with the query, names with its words, with words that begin so, with misspelt words; words found only in the
 * description rank last. Cards that lack a word match only if no card has all words.
 */
export function rankCandidates(
  folded: string,
  words: string[],
  candidates: Candidate[],
  spelt: Spellings = (word) => [word],
): Candidate[] {
  const joined = wordsOf(folded).join('');
  const query: Query = { folded: folded.trim(), words, spelt, joined, digits: digits(joined) };
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
