import type { Knex } from 'knex';

/** A walk to the top that takes more steps than this is taken for a loop. */
const MAX_STEPS = 10_000;

/** @returns the ids of those moved cards that are now descendants of themselves. */
export async function findLoops(sql: Knex.Transaction, moved: string[]): Promise<Set<string>> {
  const { rows } = await sql.raw(
    `with recursive up as (
       select q.id as start, q.id as at, 0 as depth from unnest(?::uuid[]) q(id)
       union all
       select u.start, p.parent_id, u.depth + 1
       from up u cross join lateral (select c.parent_id from cards c where c.id = u.at limit 1) p
       where p.parent_id is not null and (u.depth = 0 or u.at <> u.start) and u.depth < ${MAX_STEPS}
     ) select distinct start as id from up where depth > 0 and (at = start or depth = ${MAX_STEPS})`,
    [moved],
  );
  return new Set(rows.map((row: { id: string }) => row.id));
}
