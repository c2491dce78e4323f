import { queryRows, type Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { visibleCards } from '../cards/cards.visible.ts';
import { isStorable } from '../cards/rules/text.ts';

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
  if (refs.length === 0) return [];
  const ids = refs.flatMap(({ id }) => id ?? []);
  if (ids.length === refs.length) return await resolveIds(sql, ctx, ids);
  const wanted = new Map<string, { n: number; ref: CardRef }>();
  const keys = refs.map((ref) => {
    const key = JSON.stringify([ref.id, ref.type, ref.external_id, ref.parent_path, ref.name]);
    if (!wanted.has(key)) wanted.set(key, { n: wanted.size, ref });
    return key;
  });
  const visible = visibleCards(ctx);
  const queries = [...wanted.values()].map(({ n, ref }) => queryOf(n, ref));
  const column = (name: keyof Query) => queries.map((query) => query[name]);
  // arrays rather than JSON, for their length tells the planner how many cards to expect
  const rows = await queryRows<{ n: number; hits: number; id: string }>(
    sql,
    `with recursive q as (
       select n, kind, id, type, external_id, name, lower(path)::jsonb as path
       from unnest(?::int[], ?::text[], ?::uuid[], ?::text[], ?::text[], ?::text[], ?::text[])
         as q(n, kind, id, type, external_id, name, path)
     ), hit as (
       select q.n, q.path, c.id, c.parent_id from q join cards c on c.id = q.id
       where q.kind = 'id' and (${visible.sql})
       union all
       select q.n, q.path, c.id, c.parent_id from q join cards c on c.type = q.type and c.external_id = q.external_id
       where q.kind = 'external_id' and (${visible.sql})
       union all
       select q.n, q.path, c.id, c.parent_id from q join cards c on c.name_key = fold(q.name)
       where q.kind = 'name' and c.type = q.type and lower(c.name) = lower(q.name) and c.status = 'ACTIVE'
         and (${visible.sql})
     ), up as (
       select n, path, id, parent_id, '[]'::jsonb as trail from hit where path is not null
       union all
       select up.n, up.path, up.id, p.parent_id, jsonb_build_array(lower(p.name)) || up.trail
       from up join cards p on p.id = up.parent_id
     )
     select n, count(*) as hits, min(id::text) as id from (
       select n, id from hit where path is null
       union all select n, id from up where parent_id is null and trail = path
     ) found group by n`,
    [
      column('n'),
      column('kind'),
      column('id'),
      column('type'),
      column('external_id'),
      column('name'),
      column('path'),
      ...visible.bindings,
      ...visible.bindings,
      ...visible.bindings,
    ],
  );
  const found = new Map(rows.map((row) => [row.n, row]));
  return keys.map((key) => {
    const { n, ref } = wanted.get(key)!;
    if (kindOf(ref) === null) return { fault: 'incomplete' };
    const hit = found.get(n);
    if (!hit) return { fault: 'missing' };
    return hit.hits > 1 ? { fault: 'ambiguous' } : { id: hit.id };
  });
}

/** The same where all are named by their ids. */
async function resolveIds(sql: Sql, ctx: Ctx, ids: string[]): Promise<ResolvedRef[]> {
  const visible = visibleCards(ctx);
  const rows = await queryRows<{ id: string }>(
    sql,
    `select c.id from cards c where c.id = any(?::uuid[]) and (${visible.sql})`,
    [[...new Set(ids)], ...visible.bindings],
  );
  const seen = new Set(rows.map(({ id }) => id));
  return ids.map((text) => {
    const id = text.toLowerCase();
    return seen.has(id) ? { id } : { fault: 'missing' };
  });
}

function kindOf(ref: CardRef): Query['kind'] {
  if (ref.id) return 'id';
  if (ref.type && ref.external_id) return 'external_id';
  return ref.type && ref.name ? 'name' : null;
}

interface Query {
  n: number;
  kind: 'id' | 'external_id' | 'name' | null;
  id: string | null;
  type: string | null;
  external_id: string | null;
  name: string | null;
  /** The names of the ancestors as a JSON list. */
  path: string | null;
}

function queryOf(n: number, ref: CardRef): Query {
  // what no row can hold leads nowhere, and cannot even be asked for
  const texts = [ref.type, ref.external_id, ref.name, ...(ref.parent_path ?? [])];
  const kind = texts.every((text) => !text || isStorable(text)) ? kindOf(ref) : null;
  if (kind === null) return { n, kind, id: null, type: null, external_id: null, name: null, path: null };
  const path = kind === 'name' && ref.parent_path ? ref.parent_path.map((step) => step.trim()) : null;
  return {
    n,
    kind,
    id: kind === 'id' ? ref.id! : null,
    type: ref.type ?? null,
    external_id: ref.external_id?.trim() ?? null,
    name: ref.name?.trim() ?? null,
    path: path && JSON.stringify(path),
  };
}
