import { embed, fragment, query } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { visibleCards } from './cards.projection.ts';
import { foldText, queryWords, typoPatterns } from './cards.search.ts';

/** A card, or one that is going to be written, with its name. */
export interface NamedCard {
  id: string;
  name: string;
}

/** The number of cards that each of the searches by words and by letters finds, and of those that are returned. */
const MOST_FOUND = 500;
const MOST_SIMILAR = 20;
/** The time after which PostgreSQL ends the statement. */
const STATEMENT_MS = 100;

/**
 * The visible active cards of a type whose names are similar to that of a card, the most similar first: with the same name, with all
 * of its words but one, or, if it is one word, with one half of it.
 * @param spellings the name in other words; by default only as it is.
 * @throws Error if it takes too long.
 */
export async function similarNames(
  ctx: Ctx,
  { id, type, name }: NamedCard & { type: string },
  spellings: readonly string[] = [name],
): Promise<NamedCard[]> {
  // all at once: names have one line
  const folded = (await foldText(ctx.db, spellings.join('\n')))
    .split('\n')
    .map((spelling) => spelling.trim());
  const words = folded.map(queryWords);
  const queries = words.map(wordsButOne).filter((some) => some !== '');
  const halves = words.flatMap((some) => (some.length === 1 ? typoPatterns(some[0]!) : []));
  const lengths = folded.map(({ length }) => length);
  const visible = visibleCards(ctx);
  // IS TRUE prevents the planner from using other indexes than those for the search
  const others = embed({
    sql: `and ((c.type = ? and c.status = 'ACTIVE' and c.id <> ?::uuid and ${visible.sql}) is true)`,
    bindings: [type, id, ...visible.bindings],
  });
  const columns = embed('select c.id, c.name, c.name_key from cards c');
  const similar = fragment`select c.id, c.name from (
      (${columns} where ${embed(sameName(folded))} ${others} limit ${embed(MOST_SIMILAR)})
      union
      (${columns} where search_words(c.name_key, c.alias, c.external_id, c.description)
         @@ to_tsquery('simple', ${queries.join(' | ')}) ${others} limit ${embed(MOST_FOUND)})
      union
      (${columns} where search_text(c.name_key, c.alias, c.external_id) like any (${halves}::text[])
         and length(c.name_key) between ${Math.min(...lengths) - 2} and ${Math.max(...lengths) + 2} ${others}
       limit ${embed(MOST_FOUND)})
    ) c order by ${embed(similarityTo(folded))} desc, c.id limit ${embed(MOST_SIMILAR)}`;
  return await ctx.db.transaction(async (sql) => {
    await sql.raw(`set local statement_timeout = ${STATEMENT_MS}`);
    return await query(sql).rows<NamedCard>`${embed(similar)}`;
  });
}

/** Whether a card's name is one of the spellings, as SQL. */
const sameName = (spellings: readonly string[]) =>
  spellings.length === 1
    ? fragment`c.name_key = ${spellings[0]}`
    : fragment`c.name_key = any(${spellings}::text[])`;

/** The greatest similarity of a card's name to one of the spellings, as SQL. */
const similarityTo = ([first, ...others]: readonly string[]) =>
  others.length === 0
    ? fragment`similarity(c.name_key, ${first})`
    : fragment`(select max(similarity(c.name_key, s)) from unnest(${[first, ...others]}::text[]) s)`;

/** A text search query for all words but any one, and for all of them in one word. */
function wordsButOne(words: readonly string[]): string {
  const quoted = words.map((word) => `'${word}'`);
  if (quoted.length < 2) return quoted.join('');
  const parts = quoted.map((_, left) => `(${quoted.filter((_word, at) => at !== left).join(' & ')})`);
  return [...parts, `'${words.join('')}'`].join(' | ');
}
