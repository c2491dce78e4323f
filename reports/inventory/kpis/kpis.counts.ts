import { phaseOn } from '../../../domain/inventory/cards/cards.phase.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import type { Cache } from '../../../platform/cache.ts';
import { embed, fragment, query, type Sql } from '../../../platform/database.ts';

/** Number of active cards of one type by approval, quarter of data quality and lifecycle phase. */
export interface CountedCards {
  approval: string;
  /** 0 for a data quality from 0 to below 25, and so on up to 3. */
  quarter: 0 | 1 | 2 | 3;
  phase: string;
  cards: number;
  /** Sum of the data qualities, in tenths of a percent. */
  qualityTenths: number;
}

/**
 * Counts the cards of the types in one pass. `today` is a date, YYYY-MM-DD.
 * @param narrowed an additional condition over the alias `c`.
 */
export async function countTypes(
  sql: Sql,
  types: string[],
  today: string,
  narrowed: Fragment = fragment`true`,
): Promise<Map<string, CountedCards[]>> {
  const counts = new Map<string, CountedCards[]>(types.map((type) => [type, []]));
  if (types.length === 0) return counts;
  const rows = await query(sql).rows`select c.type, c.approval_status as approval,
            width_bucket(c.data_quality, array[25, 50, 75]::numeric[]) as quarter,
            ${embed(phaseOn('c.lifecycle', today))} as phase, count(*)::int as cards,
            (sum(c.data_quality) * 10)::bigint as tenths
     from cards c where c.status = 'ACTIVE' and c.type = any(${types}::text[]) and ${embed(narrowed)}
     group by 1, 2, 3, 4`;
  for (const { type, approval, quarter, phase, cards, tenths } of rows) {
    counts.get(type)!.push({ approval, quarter, phase, cards, qualityTenths: tenths });
  }
  return counts;
}

const KEEP_SECONDS = 24 * 60 * 60;

/**
 * Like {@link countTypes}, with cached counts of types whose cards have not changed. The topic versions are read from the same
 * snapshot as the cards, so that the cached counts are exact.
 * @param sql a transaction with one snapshot.
 */
export async function countChangedTypes(
  sql: Sql,
  cache: Cache,
  types: string[],
  today: string,
): Promise<Map<string, CountedCards[]>> {
  const rows = await query(sql).rows`select t.type, coalesce(v.version, 0) as version
     from unnest(${types}::text[]) as t(type) left join topic_versions v on v.topic = 'cards:' || t.type`;
  // the version is part of the value, so that the next version replaces the entry
  const states = new Map<string, string>(
    rows.map(({ type, version }: { type: string; version: number }) => [type, `${version}:${today}`]),
  );
  const key = (type: string) => `counts:${type}`;
  const cached = await Promise.all(
    types.map(async (type): Promise<[string, CountedCards[]] | undefined> => {
      const text = await cache.get(key(type));
      const entry: { state?: string; cards?: CountedCards[] } = text === undefined ? {} : JSON.parse(text);
      return entry.cards && entry.state === states.get(type) ? [type, entry.cards] : undefined;
    }),
  );
  const counts = new Map(cached.filter((entry) => entry !== undefined));
  const changed = types.filter((type) => !counts.has(type));
  for (const [type, cards] of await countTypes(sql, changed, today)) {
    counts.set(type, cards);
    await cache.set(key(type), JSON.stringify({ state: states.get(type), cards }), KEEP_SECONDS);
  }
  // in the order of the types
  return new Map(types.map((type) => [type, counts.get(type)!]));
}
