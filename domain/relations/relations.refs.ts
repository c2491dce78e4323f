import type { Sql } from '../../platform/database.ts';
import { visibleCards } from '../cards/cards.visible.ts';
import type { Ctx } from '../context.ts';

/** How a bulk row names a card: by `id`, by `type` and `external_id`, or by `type`, `name` and its path. */
export interface CardRef {
  id?: string | null;
  type?: string | null;
  external_id?: string | null;
  /** The names of all ancestors, the root first; absent: wherever a card of the name lies. */
  parent_path?: string[] | null;
  name?: string | null;
}

/** What a reference leads to. */
export type ResolvedRef = { id: string } | { fault: 'incomplete' | 'missing' | 'ambiguous' };

/** Says what is wrong with a reference that leads nowhere. */
export const refFaults = {
  incomplete: 'needs an id, a type and an external_id, or a type and a name',
  missing: 'leads to no card',
  ambiguous: 'leads to several cards',
} as const;

/**
 * Finds the cards that references name, all in one statement, among those that the caller sees. Names match
 * trimmed and whatever their case, among active cards. The answers stand in the order of the references.
 */
export async function resolveRefs(sql: Sql, ctx: Ctx, refs: CardRef[]): Promise<ResolvedRef[]> {
  const wanted = new Map<string, { n: number; ref: CardRef }>();
  const keys = refs.map((ref) => {
    const key = JSON.stringify([ref.id, ref.type, ref.external_id, ref.parent_path, ref.name]);
    if (!wanted.has(key)) wanted.set(key, { n: wanted.size, ref });
    return key;
  });
  const visible = visibleCards(ctx);
  const { rows } = await sql.raw(
    `with recursive q as (
       select * from jsonb_to_recordset(?::jsonb)
         as q(n int, kind text, id uuid, type text, external_id text, name text, path text[])
     ), hit as (
       select q.n, c.id from q join cards c on c.id = q.id where q.kind = 'id' and (${visible.sql})
       union all
       select q.n, c.id from q join cards c on c.type = q.type and c.external_id = q.external_id
       where q.kind = 'external_id' and (${visible.sql})
       union all
       select q.n, c.id from q join cards c on c.type = q.type and lower(c.name) = lower(q.name)
       where q.kind = 'name' and c.status = 'ACTIVE' and (${visible.sql})
     ), up as (
       select h.n, h.id, c.parent_id, array[]::text[] as path
       from hit h join q on q.n = h.n and q.path is not null join cards c on c.id = h.id
       union all
       select up.n, up.id, p.parent_id, lower(p.name) || up.path from up join cards p on p.id = up.parent_id
     )
     select h.n, count(*) as hits, min(h.id::text) as id
     from hit h join q on q.n = h.n
     where q.path is null or exists (
       select from up where up.n = h.n and up.id = h.id and up.parent_id is null
         and up.path = array(select lower(step) from unnest(q.path) with ordinality as p(step, i) order by i))
     group by h.n`,
    [
      JSON.stringify([...wanted.values()].map(({ n, ref }) => queryOf(n, ref))),
      ...visible.bindings,
      ...visible.bindings,
      ...visible.bindings,
    ] as never,
  );
  const found = new Map<number, { hits: number; id: string }>(
    rows.map((row: { n: number; hits: number; id: string }) => [row.n, row]),
  );
  return keys.map((key) => {
    const { n, ref } = wanted.get(key)!;
    if (kindOf(ref) === null) return { fault: 'incomplete' };
    const hit = found.get(n);
    if (!hit) return { fault: 'missing' };
    return hit.hits > 1 ? { fault: 'ambiguous' } : { id: hit.id };
  });
}

function kindOf(ref: CardRef): 'id' | 'external_id' | 'name' | null {
  if (ref.id) return 'id';
  if (ref.type && ref.external_id) return 'external_id';
  return ref.type && ref.name ? 'name' : null;
}

function queryOf(n: number, ref: CardRef): Record<string, unknown> {
  const kind = kindOf(ref);
  return {
    n,
    kind,
    id: kind === 'id' ? ref.id : null,
    type: ref.type ?? null,
    external_id: ref.external_id?.trim() ?? null,
    name: ref.name?.trim() ?? null,
    path: kind === 'name' && ref.parent_path ? ref.parent_path.map((step) => step.trim()) : null,
  };
}
