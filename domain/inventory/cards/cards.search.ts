import type { Sql } from '../../../platform/database.ts';
import { prepared } from '../../../platform/prepared.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';
import { type Candidate, rankCandidates } from './cards.search.rank.ts';
import {
  allWords,
  allWordsButOne,
  beginningPattern,
  foldText,
  queryWords,
  tellingWords,
  typoPatterns,
} from './cards.search.words.ts';

/** How many cards each query of a search yields at most, and the search as a whole. */
const MOST_FOUND = 1000;
/** With fewer cards that match as typed, misspelt words are looked for. */
const ENOUGH = 10;

const WORDS = "search_words(c.name_key, c.alias, c.external_id, c.description) @@ to_tsquery('simple', ?)";
const TEXT = 'search_text(c.name_key, c.alias, c.external_id) like ?';
/** Sorts behind every character. */
const LAST_CHARACTER = '\u{10FFFF}';

export interface CardSearch {
  sql: Sql;
  /** What the cards must fulfil besides. */
  where: Condition[];
  /** Whether `where` is one of few texts, for which the queries are worth being prepared. */
  plain: boolean;
  text: string;
}

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
      const { rows } = plain ? await prepared(sql, text, values) : await sql.raw(text, values as never);
      if (rows.length > MOST_FOUND) gathered.more = true;
      for (const row of rows as Omit<Candidate, 'complete'>[]) {
        if (!gathered.candidates.has(row.id)) gathered.candidates.set(row.id, { ...row, complete });
      }
    },
  };
  return gathered;
}
