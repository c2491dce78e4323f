import { queryRows, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { visibleCards } from './cards.visible.ts';
import { LEVEL_FIELD, levelAt, MACRO, maxDepth, type Place, tooDeep } from './rules/capability.ts';

/** How many cards below one may be taken along by archiving, deleting or moving it. */
const MAX_DESCENDANTS = 10_000;

export interface TreeCard {
  id: string;
  /** 1 for the children of the roots that were asked for. */
  distance: number;
  parent: string;
  /** Which of the roots it lies below. */
  root: string;
  /** The capability level, where it has one. */
  level: string | null;
}

/** All cards below the given ones, archived ones included. @throws EstateError `too_many_descendants`. */
export async function descendantsOf(sql: Sql, roots: string[]): Promise<TreeCard[]> {
  return await limitedBelow(
    sql,
    `select c.id, 1 as distance, c.parent_id as parent, c.parent_id as root, c.attributes ->> '${LEVEL_FIELD}' as level
     from cards c where c.parent_id = any(?::uuid[])
     union all
     select c.id, below.distance + 1, c.parent_id, below.root, c.attributes ->> '${LEVEL_FIELD}'
     from below join cards c on c.parent_id = below.id`,
    [roots],
  );
}

/**
 * The ids of all cards below the given ones, each once; `active` passes over archived ones and what lies below them.
 * @throws EstateError `too_many_descendants`.
 */
export async function idsBelow(sql: Sql, roots: string[], active: boolean): Promise<string[]> {
  const status = active ? "and c.status = 'ACTIVE'" : '';
  const cards = await limitedBelow<{ id: string }>(
    sql,
    `select c.id from cards c where c.parent_id = any(?::uuid[]) ${status}
     union
     select c.id from below join cards c on c.parent_id = below.id ${status}`,
    [roots],
  );
  return cards.map((card) => card.id);
}

/**
 * Runs a walk downwards, `query` being what defines `below` from itself.
 * @throws EstateError `too_many_descendants`.
 */
export async function limitedBelow<T>(sql: Sql, query: string, bindings: unknown[]): Promise<T[]> {
  const rows = await queryRows<T>(
    sql,
    `with recursive below as (${query}) select * from below limit ${MAX_DESCENDANTS + 1}`,
    bindings,
  );
  if (rows.length > MAX_DESCENDANTS) {
    throw new EstateError(
      'too_many_descendants',
      `More than ${MAX_DESCENDANTS.toLocaleString('en')} cards lie below; take them in parts.`,
    );
  }
  return rows;
}

/** The refusal of a hierarchy that would go round in a circle. */
export function parentCycle(): EstateError {
  const message = 'is the card itself or lies below it';
  return new EstateError('parent_cycle', 'A card cannot lie below itself.', {
    errors: [{ field: 'parent_id', code: 'parent_cycle', message }],
  });
}

/** Where a card would stand below a parent. */
export interface ParentPlace {
  /** Ids from the parent up to the root; empty for a root. */
  ancestors: string[];
  /** The depth that a child has there, and the kind of its root. */
  place: Place;
}

/** The ids of all that lies above each card, its parent first. */
export async function ancestorsOf(sql: Sql, ids: string[]): Promise<Map<string, string[]>> {
  const { rows } = await sql.raw(
    `with recursive up as (
       select c.id as start, c.parent_id as at, 1 as distance from cards c where c.id = any(?::uuid[])
       union all
       select up.start, c.parent_id, up.distance + 1 from up join cards c on c.id = up.at
     ) select start as id, coalesce(array_agg(at order by distance) filter (where at is not null), '{}') as ancestors
     from up group by start`,
    [ids],
  );
  return new Map(rows.map((row: { id: string; ancestors: string[] }) => [row.id, row.ancestors]));
}

/** Where a card stands that has the given parent. */
export async function placeBelow(sql: Sql, parentId: string | null): Promise<ParentPlace> {
  if (parentId === null) return { ancestors: [], place: { depth: 1, underMacro: false } };
  const { rows } = await sql.raw(
    `with recursive up as (
       select c.id, c.parent_id, 1 as distance, c.attributes ->> '${LEVEL_FIELD}' as level
       from cards c where c.id = ?::uuid
       union all
       select c.id, c.parent_id, up.distance + 1, c.attributes ->> '${LEVEL_FIELD}'
       from up join cards c on c.id = up.parent_id where up.distance < ${MAX_DESCENDANTS}
     ) select id, level from up order by distance`,
    [parentId],
  );
  return {
    ancestors: rows.map((row: { id: string }) => row.id),
    place: { depth: rows.length + 1, underMacro: rows.at(-1)?.level === MACRO },
  };
}

/** Where a parent stands, as its children need it. */
export interface StandingParent {
  id: string;
  type: string;
  status: 'ACTIVE' | 'ARCHIVED';
  /** The place of its children. */
  place: Place;
}

/** Parents as the inventory has them now; those that are gone are left out. */
export async function readParents(sql: Sql, ids: string[]): Promise<Map<string, StandingParent>> {
  if (ids.length === 0) return new Map();
  // one row is looked up at a time: what the planner takes for a join of whole tables is a few steps upwards
  const { rows } = await sql.raw(
    `with recursive up as (
       select p.id as start, p.type, p.status, p.parent_id as at, p.level as top, 1 as depth
       from unnest(?::uuid[]) q(id) cross join lateral (
         select c.id, c.type, c.status, c.parent_id, c.attributes ->> '${LEVEL_FIELD}' as level from cards c
         where c.id = q.id limit 1) p
       union all
       select u.start, u.type, u.status, p.parent_id, p.level, u.depth + 1
       from up u cross join lateral (
         select c.parent_id, c.attributes ->> '${LEVEL_FIELD}' as level from cards c where c.id = u.at limit 1) p
       where u.depth < ${MAX_DESCENDANTS}
     ) select start as id, type, status, depth, top from up where at is null`,
    [ids],
  );
  return new Map(
    rows.map(
      ({ depth, top, ...parent }: Omit<StandingParent, 'place'> & { depth: number; top: string | null }) => [
        parent.id,
        { ...parent, place: { depth: depth + 1, underMacro: top === MACRO } },
      ],
    ),
  );
}

/**
 * Checks that a card of the type may lie below the parent, which is undefined where there is no such card.
 * @throws EstateError naming `parent_id`.
 */
export function requireFittingParent(
  type: CardType,
  parent: { type: string; status: string } | undefined,
): void {
  if (!parent) throw invalidField('parent_id', 'unknown_parent', 'is no card');
  if (parent.type !== type.key || !type.has_hierarchy) {
    const message = type.has_hierarchy
      ? `must be a card of the type ${type.key}`
      : `cannot be set: cards of the type ${type.key} form no hierarchy`;
    throw invalidField('parent_id', 'parent_type', message);
  }
  if (parent.status !== 'ACTIVE') throw invalidField('parent_id', 'parent_archived', 'is archived');
}

/**
 * Checks that a card of the type may lie below the parent, and finds the place: the parent exists and is active,
 * is of the same type, whose cards form a hierarchy, and is not the card itself or below it.
 * @throws EstateError naming `parent_id`.
 */
export async function requireParent(
  { sql }: Pick<Work, 'sql'>,
  ctx: Ctx,
  type: CardType,
  parentId: string | null,
  cardId: string | null,
): Promise<ParentPlace> {
  if (parentId === null) return await placeBelow(sql, null);
  const visible = visibleCards(ctx);
  const rows = await queryRows<{ type: string; status: string }>(
    sql,
    `select c.type, c.status from cards c where c.id = ?::uuid and (${visible.sql})`,
    [parentId, ...visible.bindings],
  );
  const [parent] = rows;
  requireFittingParent(type, parent);
  const found = await placeBelow(sql, parentId);
  if (cardId !== null && found.ancestors.includes(cardId)) {
    throw parentCycle();
  }
  return found;
}

/**
 * The levels that capabilities below a card at `place` must have, as far as they differ from what they have.
 * @throws EstateError `capability_too_deep` when one of them would lie too deep.
 */
export function levelsBelow(place: Place, below: TreeCard[]): Map<string, string> {
  const changed = new Map<string, string>();
  for (const card of below) {
    const own: Place = { depth: place.depth + card.distance, underMacro: place.underMacro };
    if (own.depth > maxDepth(own.underMacro)) throw tooDeep(own.underMacro);
    const level = levelAt(own);
    if (card.level !== level) changed.set(card.id, level);
  }
  return changed;
}
