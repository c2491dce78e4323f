import { embed, query } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { joinPath, splitPath } from '../../kernel/transfer/csv-cells.ts';
import { visibleCards } from './cards.projection.ts';

/** A reference in a table cell: `Parent / Child / Name`, with `\/` and `\\` for those characters. */
interface PathRef {
  /** The caller's index of the reference, returned with the result. */
  row: number;
  column: string;
  type: string;
  ref: string;
}

interface ResolvedPath {
  row: number;
  column: string;
  status: 'resolved' | 'ambiguous' | 'missing';
  id: string | null;
  /** The first cards that match, with their complete paths. */
  candidates: { id: string; path: string }[] | null;
}

const MAX_CANDIDATES = 5;

/**
 * Finds the active, visible cards that paths name, case-insensitively and within a type, in one statement. A path may
 * omit ancestors at its beginning; a complete path always takes precedence. Results are in the order of the references.
 */
export async function resolvePaths(ctx: Ctx, refs: PathRef[]): Promise<ResolvedPath[]> {
  const wanted = new Map<string, { type: string; steps: string[] }>();
  const keys = refs.map(({ type, ref }) => {
    const steps = splitPath(ref);
    const key = JSON.stringify([type, steps]);
    if (steps.length > 0) wanted.set(key, { type, steps });
    return key;
  });
  const asked = [...wanted];
  const visible = visibleCards(ctx);
  const rows = await query(ctx.db).rows<{ n: number; id: string; trail: string[]; whole: boolean }>`
       with recursive q as (
       select n, type, name, array(select lower(step)
       from jsonb_array_elements_text(path::jsonb) as s(step)) as path
       from unnest(${asked.map((_, n) => n)}::int[], ${asked.map(([, { type }]) => type)}::text[],
       ${asked.map(([, { steps }]) => steps.at(-1)!)}::text[],
       ${asked.map(([, { steps }]) => JSON.stringify(steps))}::text[]) as q(n, type, name, path)
     ), hit as (
       select q.n, q.path, c.id, c.parent_id, c.name from q join cards c on c.name_key = fold(q.name)
       where c.type = q.type and lower(c.name) = lower(q.name) and c.status = 'ACTIVE' and (${embed(visible)})
     ), up as (
       select n, path, id, parent_id, array[name] as trail from hit
       union all
       select up.n, up.path, up.id, p.parent_id, p.name || up.trail from up
       join cards p on p.id = up.parent_id
     ), fitting as (
       select n, id, trail, cardinality(trail) = cardinality(path) as whole,
         row_number() over (partition by n order by cardinality(trail), id) as place
       from up
       where parent_id is null and cardinality(trail) >= cardinality(path)
         and array(select lower(step)
         from unnest(trail[cardinality(trail) - cardinality(path) + 1:]) as s(step)) = path
     ) select n, id, trail, whole from fitting where place <= ${embed(MAX_CANDIDATES)} order by n, place`;
  const found = Map.groupBy(rows, ({ n }) => asked[n]![0]);
  return refs.map(({ row, column }, at) => {
    const hits = found.get(keys[at]!) ?? [];
    const whole = hits.filter((hit) => hit.whole);
    const meant = whole.length === 1 ? whole : hits;
    if (meant.length === 0) return { row, column, status: 'missing', id: null, candidates: null };
    if (meant.length === 1) return { row, column, status: 'resolved', id: meant[0]!.id, candidates: null };
    const candidates = meant.map(({ id, trail }) => ({ id, path: joinPath(trail) }));
    return { row, column, status: 'ambiguous', id: null, candidates };
  });
}
