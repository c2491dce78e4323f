import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { Fragment } from '../../kernel/lists/lists.types.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { visibleCards } from './cards.projection.ts';
import {
  capabilityTooDeep,
  hasLevels,
  LEVEL_FIELD,
  levelAt,
  MACRO,
  maxDepth,
  type Place,
} from './rules/capability.ts';

/** The maximum depth of a hierarchy: a walk from a card to its root takes no more steps than this. */
export const MAX_DEPTH = 100;

/** The maximum number of descendants that archiving, deleting or moving a card may include. */
const MAX_DESCENDANTS = 10_000;

/**
 * The ids of all descendants of the given cards, without duplicates; `active` skips archived cards and their
 * descendants.
 * @throws EstateError `too_many_descendants`.
 */
export async function idsBelow(sql: Sql, roots: string[], active: boolean): Promise<string[]> {
  const status = active ? "and c.status = 'ACTIVE'" : '';
  const cards = await limitedBelow<{ id: string }>(
    sql,
    fragment`select c.id from cards c where c.parent_id = any(${roots}::uuid[]) ${embed(status)}
     union
     select c.id from below join cards c on c.parent_id = below.id ${embed(status)}`,
  );
  return cards.map((card) => card.id);
}

/**
 * Runs a recursive query downwards; `below` refers to itself by this name.
 * @throws EstateError `too_many_descendants`.
 */
async function limitedBelow<T>(sql: Sql, below: Fragment): Promise<T[]> {
  const rows = await query(sql).rows<T>`with recursive below as (${embed(below)})
    select * from below limit ${embed(MAX_DESCENDANTS + 1)}`;
  if (rows.length > MAX_DESCENDANTS) {
    const detail = `More than ${MAX_DESCENDANTS.toLocaleString('en')} cards lie below; take them in parts.`;
    throw new EstateError('too_many_descendants', detail);
  }
  return rows;
}

/** The error for a card that would be, or would move other cards, below the deepest level. */
export const hierarchyTooDeep = (): EstateError =>
  invalidField('parent_id', 'too_deep', `would lead below level ${MAX_DEPTH}`);

/** The error for a card that would be its own ancestor. */
function parentCycle(): EstateError {
  const message = 'is the card itself or one of its descendants';
  return new EstateError('parent_cycle', 'A card cannot lie below itself.', {
    errors: [{ field: 'parent_id', code: 'parent_cycle', message }],
  });
}

/** The ids of all ancestors of each card, its parent first. */
export async function ancestorsOf(sql: Sql, ids: string[]): Promise<Map<string, string[]>> {
  const rows = await query(sql).rows<{ id: string; ancestors: string[] }>`with recursive up as (
       select c.id as start, c.parent_id as at, 1 as distance from cards c where c.id = any(${ids}::uuid[])
       union all
       select up.start, c.parent_id, up.distance + 1 from up join cards c on c.id = up.at
     ) select start as id, coalesce(array_agg(at order by distance) filter (where at is not null),
     '{}') as ancestors
     from up group by start`;
  return new Map(rows.map((row) => [row.id, row.ancestors]));
}

/** A parent with the place that its children have. */
export interface ParentCard {
  id: string;
  type: string;
  status: 'ACTIVE' | 'ARCHIVED';
  place: Place;
}

/** Parents by id; those that do not exist are omitted. */
export async function readParents(sql: Sql, ids: string[]): Promise<Map<string, ParentCard>> {
  if (ids.length === 0) return new Map();
  // LATERAL looks up one row at a time: the planner would otherwise join whole tables for a few steps upwards.
  const rows = await query(sql).rows<
    Omit<ParentCard, 'place'> & { depth: number; top: string | null }
  >`with recursive up as (
       select p.id as start, p.type, p.status, p.parent_id as at, p.level as top, 1 as depth
       from unnest(${ids}::uuid[]) q(id) cross join lateral (
         select c.id, c.type, c.status, c.parent_id, c.attributes ->> '${embed(LEVEL_FIELD)}' as level
         from cards c
         where c.id = q.id limit 1) p
       union all
       select u.start, u.type, u.status, p.parent_id, p.level, u.depth + 1
       from up u cross join lateral (
         select c.parent_id, c.attributes ->> '${embed(LEVEL_FIELD)}' as level from cards c where c.id = u.at
         limit 1) p
       where u.depth <= ${embed(MAX_DEPTH)}
     ) select start as id, type, status, depth, top from up where at is null`;
  return new Map(
    rows.map(({ depth, top, ...parent }) => [
      parent.id,
      { ...parent, place: { depth: depth + 1, underMacro: top === MACRO } },
    ]),
  );
}

/**
 * Checks that a card of the type may be below the parent, which is undefined if it does not exist.
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
 * Checks that a card of the type may be below the parent: the parent must be visible to the caller, active and of the
 * same type, and the type must be hierarchical. {@link levelsAfter} checks for cycles.
 * @returns the place of the card.
 * @throws EstateError naming `parent_id`.
 */
export async function requireParent(
  { sql }: Pick<Work, 'sql'>,
  ctx: Ctx,
  type: CardType,
  parentId: string | null,
): Promise<Place> {
  if (parentId === null) return { depth: 1, underMacro: false };
  const seen = await query(sql).column<string>`select c.id from cards c
    where c.id = ${parentId}::uuid and (${embed(visibleCards(ctx))})`;
  const parent = (await readParents(sql, seen)).get(parentId);
  requireFittingParent(type, parent);
  return parent!.place;
}

/** The changes that a command makes to the hierarchy. */
interface TreeChange {
  /** The new parents of cards that move. */
  moved: ReadonlyMap<string, string | null>;
  /** Cards that are deleted or archived. */
  gone?: ReadonlySet<string>;
  /** Cards whose level is set to Macro, or from Macro to another level. */
  macros?: ReadonlyMap<string, boolean>;
}

interface Node {
  id: string;
  parent_id: string | null;
  type: string;
  /** The stored capability level. */
  level: string | null;
}

/**
 * The capability levels that change with the hierarchy: of the changed cards and of all their descendants. Call it
 * under the exclusive hierarchy lock.
 * @returns the new levels by card id.
 * @throws EstateError `parent_cycle`, `capability_too_deep`, `too_many_descendants`, `validation_failed` below the
 * deepest level.
 */
export async function levelsAfter(
  { sql, metamodel }: Pick<Work, 'sql' | 'metamodel'>,
  { moved, gone = new Set(), macros = new Map() }: TreeChange,
): Promise<Map<string, string>> {
  const changing = [...new Set([...moved.keys(), ...macros.keys()])];
  if (changing.length === 0) return new Map();
  const leveled = new Set([...metamodel.cardTypes.values()].filter(hasLevels).map((type) => type.key));
  const tree = await withAncestors(sql, [...changing, ...[...moved.values()].filter((id) => id !== null)]);
  const following = new Set(changing);
  for (const card of await below(sql, changing, [...leveled])) {
    tree.set(card.id, card);
    following.add(card.id);
  }
  const before = new Map(tree);
  for (const [id, parent] of moved) {
    const card = tree.get(id);
    if (card) tree.set(id, { ...card, parent_id: parent });
  }

  const placeOf = placesIn(tree, macros);
  const formerPlaceOf = placesIn(before, macros);
  const depthOf = (place: Place | undefined) => place?.depth ?? 0;
  // A card that moves up or stays on its level moves nothing below the deepest level.
  const sinking = [...moved.keys()].filter((id) => {
    const [former, card] = [before.get(id), tree.get(id)];
    return former && card && depthOf(placeOf(card)) > depthOf(formerPlaceOf(former));
  });
  const heights = await heightsOf(sql, sinking);
  const levels = new Map<string, string>();
  for (const id of following) {
    const card = tree.get(id);
    if (!card || gone.has(id)) continue;
    const place = placeOf(card);
    if (place === undefined) throw parentCycle();
    if (place.depth + (heights.get(id) ?? 0) > MAX_DEPTH) throw hierarchyTooDeep();
    if (!leveled.has(card.type)) continue;
    if (place.depth > maxDepth(place.underMacro)) throw capabilityTooDeep(place.underMacro);
    const level = levelAt(place);
    if (level !== card.level) levels.set(id, level);
  }
  return levels;
}

/** The place of a card of the tree; undefined if it is in a cycle. */
function placesIn(
  tree: ReadonlyMap<string, Node>,
  macros: ReadonlyMap<string, boolean>,
): (card: Node) => Place | undefined {
  const known = new Map<string, Place>();
  return (card) => {
    const chain: Node[] = [];
    const seen = new Set<string>();
    let at: Node | undefined = card;
    while (at && !known.has(at.id)) {
      if (seen.has(at.id)) return undefined;
      seen.add(at.id);
      chain.push(at);
      at = at.parent_id === null ? undefined : tree.get(at.parent_id);
    }
    let place = at && known.get(at.id);
    for (const node of chain.toReversed()) {
      place = place
        ? { depth: place.depth + 1, underMacro: place.underMacro }
        : { depth: 1, underMacro: macros.get(node.id) ?? node.level === MACRO };
      known.set(node.id, place);
    }
    return place;
  };
}

/** Cards with all their ancestors, by id. */
async function withAncestors(sql: Sql, ids: string[]): Promise<Map<string, Node>> {
  const rows = await query(sql).rows<Node>`with recursive up as (
       select id, parent_id, type, attributes ->> '${embed(LEVEL_FIELD)}' as level from cards
       where id = any(${ids}::uuid[])
       union
       select c.id, c.parent_id, c.type, c.attributes ->> '${embed(LEVEL_FIELD)}' from up
       join cards c on c.id = up.parent_id
     ) select * from up`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** All descendants of leveled types, without duplicates. */
async function below(sql: Sql, ids: string[], leveled: string[]): Promise<Node[]> {
  if (leveled.length === 0) return [];
  return await limitedBelow(
    sql,
    fragment`select id, parent_id, type, attributes ->> '${embed(LEVEL_FIELD)}' as level from cards
     where parent_id = any(${ids}::uuid[]) and type = any(${leveled}::text[])
     union
     select c.id, c.parent_id, c.type, c.attributes ->> '${embed(LEVEL_FIELD)}' from below
     join cards c on c.parent_id = below.id`,
  );
}

/** How many levels of descendants each card has, as stored. */
async function heightsOf(sql: Sql, ids: string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await query(sql).rows<{ start: string; height: number }>`with recursive below as (
       select q.id as start, q.id, 0 as height from unnest(${ids}::uuid[]) q(id)
       union all
       select b.start, c.id, b.height + 1 from below b join cards c on c.parent_id = b.id
       where b.height < ${embed(MAX_DEPTH)}
     ) select start, max(height) as height from below group by start`;
  return new Map(rows.map(({ start, height }) => [start, height]));
}

/** @returns the ids of the moved cards that are now in a cycle or below the maximum depth. */
export async function findCyclicMoves(sql: Sql, moved: string[]): Promise<Set<string>> {
  const ids = await query(sql).column<string>`with recursive up as (
       select q.id as start, q.id as at, 0 as depth from unnest(${moved}::uuid[]) q(id)
       union all
       select u.start, p.parent_id, u.depth + 1
       from up u cross join lateral (select c.parent_id from cards c where c.id = u.at limit 1) p
       where p.parent_id is not null and (u.depth = 0 or u.at <> u.start) and u.depth < ${embed(MAX_DEPTH)}
     ) select distinct start as id from up where depth > 0 and (at = start or depth = ${embed(MAX_DEPTH)})`;
  return new Set(ids);
}

/**
 * Checks the depth of cards that are outside of cycles, and of their descendants.
 * @throws EstateError `validation_failed` if one lies below the deepest level.
 */
export async function requireDepths(sql: Sql, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  const [ancestors, heights] = [await ancestorsOf(sql, ids), await heightsOf(sql, ids)];
  for (const [id, { length }] of ancestors) {
    if (length + 1 + (heights.get(id) ?? 0) > MAX_DEPTH) throw hierarchyTooDeep();
  }
}
