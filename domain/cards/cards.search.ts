import type { Sql } from '../../platform/database.ts';
import type { Condition } from '../lists/lists.types.ts';
import { type Candidate, rankCandidates } from './cards.search.rank.ts';
import {
  allWords,
  allWordsButOne,
  beginningPattern,
  foldText,
  queryWords,
  typoPatterns,
} from './cards.search.words.ts';

/** A search looks at, and shows, no more cards than these. */
export const MOST_FOUND = 1000;
/** With fewer cards that match as typed, misspelt words are looked for. */
const ENOUGH = 10;
/** Misspelt words are looked for in one place after the other; each yields so many cards at most. */
const PER_PATTERN = 300;

const WORDS = 'search_words(c.name_key, c.alias, c.external_id, c.description)';
const TEXT = 'search_text(c.name_key, c.alias, c.external_id)';
/** Sorts behind every character. */
const LAST_CHARACTER = '\u{10FFFF}';

export interface Found {
  /** The likeliest first. */
  ids: string[];
  /** Whether more cards matched than were looked at. */
  more: boolean;
}

/**
 * The cards that a search text may mean, among those that the conditions let through. Words are looked for in
 * name, alias, external id and description, as they are and as beginnings; when that finds few cards, misspelt
 * words in name, alias and external id as well.
 */
export async function searchCards(sql: Sql, where: Condition[], text: string): Promise<Found> {
  const folded = await foldText(sql, text);
  const words = queryWords(folded);
  if (words.length === 0) return { ids: [], more: false };
  const search = new Search(sql, where);
  await search.add(`${WORDS} @@ to_tsquery('simple', ?)`, [allWords(words)], true);
  if (search.more) {
    // too many to look at them all: those with the text as their name or in it come first
    const name = folded.trim();
    await search.add('c.name_key >= ? and c.name_key < ?', [name, name + LAST_CHARACTER], true);
    await search.add(words.map(() => `${TEXT} like ?`).join(' and '), words.map(beginningPattern), true);
  } else if (search.size < ENOUGH) {
    await searchMisspelt(search, words);
  }
  const ranked = rankCandidates(folded, words, search.candidates());
  return {
    ids: ranked.slice(0, MOST_FOUND).map(({ id }) => id),
    more: search.more || ranked.length > MOST_FOUND,
  };
}

async function searchMisspelt(search: Search, words: string[]): Promise<void> {
  if (words.length > 1) {
    // whatever is wrong with one word, the others lead to the card, unless they are everyday words
    await search.add(`${WORDS} @@ to_tsquery('simple', ?)`, [allWordsButOne(words)], false);
    if (!search.more) return;
  }
  search.more = false;
  for (const [at, word] of words.entries()) {
    const others = words.filter((_, n) => n !== at).map(beginningPattern);
    for (const pattern of typoPatterns(word)) {
      const patterns = [...others, pattern];
      await search.add(patterns.map(() => `${TEXT} like ?`).join(' and '), patterns, false, PER_PATTERN);
    }
  }
}

/** Gathers candidates, each once. */
class Search {
  /** Whether a query has found more cards than it was allowed to yield. */
  more = false;
  readonly #sql: Sql;
  readonly #filter: Condition;
  readonly #found = new Map<string, Candidate>();

  constructor(sql: Sql, where: Condition[]) {
    this.#sql = sql;
    // IS TRUE keeps the planner from taking a filter's index instead of the search's
    this.#filter = {
      sql: where.map((condition) => ` and ((${condition.sql}) is true)`).join(''),
      bindings: where.flatMap((condition) => condition.bindings),
    };
  }

  get size(): number {
    return this.#found.size;
  }

  candidates(): Candidate[] {
    return [...this.#found.values()];
  }

  async add(match: string, bindings: unknown[], complete: boolean, limit = MOST_FOUND): Promise<void> {
    const { rows } = await this.#sql.raw(
      `select c.id, c.name_key as name, fold(c.alias) as alias, lower(c.external_id) as "externalId" from cards c
       where ${match}${this.#filter.sql} limit ?`,
      [...bindings, ...this.#filter.bindings, limit + 1] as never,
    );
    if (rows.length > limit) this.more = true;
    for (const row of rows as Omit<Candidate, 'complete'>[]) {
      if (!this.#found.has(row.id)) this.#found.set(row.id, { ...row, complete });
    }
  }
}
