import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import { numbered } from './extraction.sql.ts';

/** What may look different. */
export interface Found {
  /** In their order. */
  ids: string[];
  /** The position of each. */
  positions: string[];
  /** Whether some of them are gone. */
  gone: boolean;
}

/** Ids and positions in the order of ids, each as one text with commas. */
interface FoundRow {
  count: number;
  ids: string | null;
  positions: string | null;
  gone: boolean;
}

/** More than so many are not kept in memory, but looked for and written by one statement. */
export const MOST_FOUND = 10_000;
/** So many are worth a connection of their own. */
const PART = 250;

/**
 * Looks for what may have changed.
 * @param gone the statement of what is gone, over `changed`; undefined where nothing is.
 * @returns undefined when it is too much to be kept.
 */
export async function findChanged(
  snapshot: Snapshot,
  changed: Fragment,
  gone: Fragment | undefined,
): Promise<Found | undefined> {
  const [found] = await snapshot.query<FoundRow>(
    numbered(
      `with changed as materialized (${changed.sql})
       select count(*)::int as count, string_agg(x.id::text, ',' order by x.id) as ids,
         string_agg(x.position::text, ',' order by x.id) as positions, ${gone ? `exists (${gone.sql})` : 'false'} as gone
       from (select id, position from changed limit ${MOST_FOUND + 1}) x`,
    ),
    [...changed.bindings, ...(gone?.bindings ?? [])],
  );
  const { count, ids, positions, gone: some } = found!;
  if (count > MOST_FOUND) return undefined;
  return { ids: ids?.split(',') ?? [], positions: positions?.split(',') ?? [], gone: some };
}

/** How many connections are worth it to write so many. */
export const worthwhile = (count: number): number => Math.ceil(count / PART);

/** A statement over `changed` for each of so many parts of what was found, which are as good as equal. */
export function overFound({ ids, positions }: Found, parts: number, { sql, bindings }: Fragment): Fragment[] {
  const each = Math.ceil(ids.length / parts);
  return Array.from({ length: parts }, (_, n) => {
    const part = (values: string[]): string => `{${values.slice(n * each, (n + 1) * each).join(',')}}`;
    return {
      sql: `with changed as materialized (select * from unnest(?::uuid[], ?::bigint[]) as x (id, position)) ${sql}`,
      bindings: [part(ids), part(positions), ...bindings],
    };
  });
}
