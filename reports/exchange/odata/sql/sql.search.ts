import { type Fragment, raw, sql } from '../../../../domain/inventory/filters/filters.sql.ts';
import type { EntitySet } from '../model/model.types.ts';
import { notSupported } from '../odata.errors.ts';
import type { Search } from '../query/query.types.ts';

/** A word of at least this length also finds words that begin with it. */
const SHORTEST_PREFIX = 3;

/** The condition that name, alias, external id or description of a card contain the words. */
export function searchCondition(search: Search, set: EntitySet, alias: string): Fragment {
  if (set.kind !== 'card') throw notSupported('$search', 'relations cannot be searched');
  const words = raw(
    `search_words(${['name_key', 'alias', 'external_id', 'description'].map((name) => `${alias}.${name}`)})`,
  );
  return sql`${words} @@ ${query(search)}`;
}

function query(search: Search): Fragment {
  switch (search.kind) {
    case 'and':
      return sql`(${query(search.left)} && ${query(search.right)})`;
    case 'or':
      return sql`(${query(search.left)} || ${query(search.right)})`;
    case 'not':
      return sql`(!! ${query(search.operand)})`;
    case 'words': {
      const phrase = sql`phraseto_tsquery('pg_catalog.simple', fold(${search.words.join(' ')}::text))`;
      const last = search.words.at(-1)!;
      if (search.phrase || last.length < SHORTEST_PREFIX) return phrase;
      return sql`(nullif(${phrase}::text, '') || ':*')::tsquery`;
    }
  }
}
