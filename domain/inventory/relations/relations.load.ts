import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { cleanName } from '../../../platform/storable.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { Fragment } from '../../kernel/lists/lists.types.ts';
import type { RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { lockCards, mandatoryTypes } from '../cards/cards.load.ts';
import { invisibleCardError, visibleCards } from '../cards/cards.projection.ts';
import { isStorable } from '../cards/rules/values.ts';
import type { RelationEnd, StoredRelation } from './relations.model.ts';
import type { NamedEnd } from './relations.save.ts';

const COLUMNS = `r.id, r.type, r.source_id, r.target_id, r.attributes, r.description,
  case when exists (select from costs k where k.relation_id = r.id) then cost_sums(null, r.id) else '{}' end as sums`;

/**
 * Reads the visible cards that may be ends of relations; others are omitted. Relations of a card are only written with
 * the card's row locked (`lockCards`), so that cardinality is enforced under concurrency.
 */
export async function loadEnds(sql: Sql, ctx: Ctx, ids: Iterable<string>): Promise<Map<string, RelationEnd>> {
  const rows = await query(sql).rows<RelationEnd>`select c.id, c.type, c.name, c.status,
       array(select s.role from stakeholders s
       where s.card_id = c.id and s.user_id = ${ctx.caller.userId}::uuid) as "myRoles"
     from cards c where c.id = any(${[...ids]}::uuid[]) and (${embed(visibleCards(ctx))})`;
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Locks the cards at the ends of new relations of these types. If such a relation affects neither values nor
 * cardinality of a card, the lock is shared, so that others can create relations of the same cards concurrently.
 */
export async function lockNewEnds(
  work: Pick<Work, 'sql' | 'metamodel'>,
  ids: Iterable<string>,
  types: ReadonlySet<string>,
): Promise<void> {
  const { metamodel } = work;
  const slots = new Set([...mandatoryTypes(metamodel, 'source'), ...mandatoryTypes(metamodel, 'target')]);
  const { formulas } = metamodel.calculations;
  const free = [...types].every(
    (key) =>
      metamodel.relationTypes.get(key)?.cardinality === 'n:m' &&
      !slots.has(key) &&
      !formulas.some(({ reads }) => reads.relations.has(key) || reads.counts.has(key)),
  );
  await lockCards(work, ids, free ? 'share' : 'no key update');
}

/** The condition on the alias `t` that one of the cards is an end of the relation. */
export const hasEndIn = (cardIds: readonly string[]): Fragment => fragment`t.id in (select id from relations
  where source_id = any(${cardIds}::uuid[])
     union select id from relations where target_id = any(${cardIds}::uuid[]))`;

/**
 * Reads relations in the order of their ids, with the cards at their ends.
 * @param where a condition on the alias `t`.
 */
export async function loadRelations(
  sql: Sql,
  where: Fragment,
  limit?: number,
): Promise<{ relations: StoredRelation[]; ends: Map<string, NamedEnd> }> {
  const rows = await query(sql).rows<{ relation: StoredRelation; source: NamedEnd; target: NamedEnd }>`
       select jsonb_build_object('id', t.id, 'type', t.type, 'source_id', t.source_id, 'target_id', t.target_id,
         'attributes', t.attributes, 'description', t.description) as relation,
       jsonb_build_object('id', s.id, 'name', s.name, 'type', s.type) as source,
       jsonb_build_object('id', d.id, 'name', d.name, 'type', d.type) as target
     from relations t join cards s on s.id = t.source_id join cards d on d.id = t.target_id
     where ${embed(where)} order by t.id limit ${limit ?? null}`;
  const ends = rows.flatMap(({ source, target }) => [source, target]);
  return { relations: rows.map(({ relation }) => relation), ends: new Map(ends.map((end) => [end.id, end])) };
}

/** Relations by their ids, with the sums of their costs. */
export async function findRelations(sql: Sql, ids: Iterable<string>): Promise<StoredRelation[]> {
  return await query(sql).rows<StoredRelation>`select ${embed(COLUMNS)} from relations r
    where r.id = any(${[...ids]}::uuid[]) order by r.id`;
}

/** The ends and type of a relation to be written. */
export interface WantedRelation {
  type: RelationType;
  source_id: string;
  target_id: string;
}

/**
 * Reads the existing relations that may conflict with the wanted ones: those between the same cards and, if the type's
 * cardinality limits a side, all of that side's card.
 */
export async function loadCompeting(sql: Sql, wanted: WantedRelation[]): Promise<StoredRelation[]> {
  if (wanted.length === 0) return [];
  return await query(sql).rows<StoredRelation>`with q as (
       select * from unnest(${wanted.map((relation) => relation.type.key)}::text[],
       ${wanted.map((relation) => relation.source_id)}::uuid[],
       ${wanted.map((relation) => relation.target_id)}::uuid[],
       ${wanted.map((relation) => relation.type.cardinality)}::text[]) as q(type, source_id, target_id,
       cardinality)
     )
     select r.* from q cross join lateral (
       -- limited, so that each is looked up whole: a card may have thousands of relations
       select ${embed(COLUMNS)} from relations r
       where r.type = q.type and r.source_id = q.source_id and r.target_id = q.target_id limit 1) r
     union
     select ${embed(COLUMNS)} from q join relations r on r.type = q.type and r.target_id = q.target_id
     where q.cardinality <> 'n:m'
     union
     select ${embed(COLUMNS)} from q join relations r on r.type = q.type and r.source_id = q.source_id
     where q.cardinality = '1:1'`;
}

/**
 * One relation with its ends, all locked. @throws EstateError `not_found` also for a relation of a hidden type,
 * `forbidden` for cards that are not visible to the caller.
 */
export async function lockRelation(
  work: Work,
  ctx: Ctx,
  id: string,
): Promise<{ relation: StoredRelation; type: RelationType; source: RelationEnd; target: RelationEnd }> {
  const { sql, metamodel } = work;
  const found = await sql('relations').where({ id }).first('source_id', 'target_id');
  if (!found) throw notFound('relation', id);
  await lockCards(work, [found.source_id, found.target_id]);
  const relation = await query(sql).row<StoredRelation>`select ${embed(COLUMNS)} from relations r
    where r.id = ${id}::uuid for update`;
  const ends = await loadEnds(sql, ctx, [found.source_id, found.target_id]);
  const source = ends.get(found.source_id);
  const target = ends.get(found.target_id);
  const shown = relation && metamodel.visibleRelationTypes.includes(relation.type);
  if (!shown) throw notFound('relation', id);
  if (!source || !target) throw invisibleCardError(ctx, notFound('relation', id));
  return { relation, type: metamodel.relationTypes.get(relation.type)!, source, target };
}

/** How a bulk row names a card: by `id`, by `type` and `external_id`, or by `type`, `name` and its path. */
export interface CardRef {
  id?: string | null;
  type?: string | null;
  external_id?: string | null;
  /** The names of all ancestors, the root first; absent: the card may be at any place. */
  parent_path?: string[] | null;
  name?: string | null;
}

/** The card that a reference resolves to. */
export type ResolvedRef = { id: string } | { error: 'incomplete' | 'missing' | 'ambiguous' };

/** Errors of references that cannot be resolved. */
export const refErrors = {
  incomplete: 'needs an id, a type and an external_id, or a type and a name',
  missing: 'leads to no card',
  ambiguous: 'leads to several cards',
} as const;

/**
 * Finds the visible cards that references name, in one statement. Names match trimmed and case-insensitively, among
 * active cards. Results are in the order of the references.
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
  // Arrays instead of JSON: from their length the planner estimates the number of cards.
  const rows = await query(sql).rows<{ n: number; hits: number; id: string }>`with recursive q as (
       select n, kind, id, type, external_id, name, lower(path)::jsonb as path
       from unnest(${column('n')}::int[], ${column('kind')}::text[], ${column('id')}::uuid[],
       ${column('type')}::text[], ${column('external_id')}::text[], ${column('name')}::text[],
       ${column('path')}::text[])
         as q(n, kind, id, type, external_id, name, path)
     ), hit as (
       select q.n, q.path, c.id, c.parent_id from q join cards c on c.id = q.id
       where q.kind = 'id' and (${embed(visible)})
       union all
       select q.n, q.path, c.id, c.parent_id from q
       join cards c on c.type = q.type and c.external_id = q.external_id
       where q.kind = 'external_id' and (${embed(visible)})
       union all
       select q.n, q.path, c.id, c.parent_id from q join cards c on c.name_key = fold(q.name)
       where q.kind = 'name' and c.type = q.type and lower(c.name) = lower(q.name) and c.status = 'ACTIVE'
         and (${embed(visible)})
     ), up as (
       select n, path, id, parent_id, '[]'::jsonb as trail from hit where path is not null
       union all
       select up.n, up.path, up.id, p.parent_id, jsonb_build_array(lower(p.name)) || up.trail
       from up join cards p on p.id = up.parent_id
     )
     select n, count(*) as hits, min(id::text) as id from (
       select n, id from hit where path is null
       union all select n, id from up where parent_id is null and trail = path
     ) found group by n`;
  const found = new Map(rows.map((row) => [row.n, row]));
  return keys.map((key) => {
    const { n, ref } = wanted.get(key)!;
    if (kindOf(ref) === null) return { error: 'incomplete' };
    const hit = found.get(n);
    if (!hit) return { error: 'missing' };
    return hit.hits > 1 ? { error: 'ambiguous' } : { id: hit.id };
  });
}

/** {@link resolveRefs} for references that are all ids. */
async function resolveIds(sql: Sql, ctx: Ctx, ids: string[]): Promise<ResolvedRef[]> {
  const rows = await query(sql).column<string>`select c.id from cards c
    where c.id = any(${[...new Set(ids)]}::uuid[]) and (${embed(visibleCards(ctx))})`;
  const seen = new Set(rows);
  return ids.map((text) => {
    const id = text.toLowerCase();
    return seen.has(id) ? { id } : { error: 'missing' };
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

const nameOf = (text: string | null | undefined) => (text == null ? null : cleanName(text));

function queryOf(n: number, ref: CardRef): Query {
  // A name that cannot be stored matches nothing, and cannot be sent to PostgreSQL.
  const texts = [ref.type, ref.external_id, ref.name, ...(ref.parent_path ?? [])];
  const kind = texts.every((text) => !text || isStorable(text)) ? kindOf(ref) : null;
  if (kind === null) return { n, kind, id: null, type: null, external_id: null, name: null, path: null };
  const path = kind === 'name' && ref.parent_path ? ref.parent_path.map(cleanName) : null;
  return {
    n,
    kind,
    id: kind === 'id' ? ref.id! : null,
    type: ref.type ?? null,
    external_id: nameOf(ref.external_id),
    name: nameOf(ref.name),
    path: path && JSON.stringify(path),
  };
}
