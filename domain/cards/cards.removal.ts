import { EstateError, invalidFields } from '../../platform/errors.ts';
import type { Work } from '../command.ts';
import type { Ctx } from '../context.ts';
import { loadCards, lockCards, type StoredCard, typeOf } from './cards.load.ts';
import { type CardWrite, rescored, settled } from './cards.save.ts';
import { descendantsOf, levelsBelow, placeBelow, type TreeCard } from './cards.tree.ts';
import { visibleCards } from './cards.visible.ts';
import { hasLevels, LEVEL_FIELD, levelAt, type Place } from './rules/capability.ts';

/** What becomes of the children: they go too, lose their parent, or move to their grandparent. */
export type ChildStrategy = 'cascade' | 'disconnect' | 'reparent';

export interface RemovalRequest {
  child_strategy?: ChildStrategy | null;
  related_card_ids?: string[];
  cascade_all_related?: boolean;
}

/** What archiving or deleting one card does to others. */
export interface RemovalPlan {
  /** Ids of all that is archived or deleted: the card itself first. */
  removed: string[];
  /** Of these, the cards below it. */
  cascaded: string[];
  /** Of these, the related cards that were asked for. */
  related: string[];
  /** Cards that stay and get another parent. */
  moved: Map<string, string | null>;
  /** The new levels of capabilities that stay, by id. */
  levels: Map<string, string>;
}

type Act = 'archive' | 'delete';

/**
 * Decides what goes and what stays, under the exclusive hierarchy lock. Archiving looks at active cards only;
 * deleting takes archived children along with the strategy, or parts them from the card where none is given.
 * @throws EstateError `children_present`, `too_many_descendants`, `validation_failed`.
 */
export async function planRemoval(
  work: Work,
  ctx: Ctx,
  primary: StoredCard,
  request: RemovalRequest,
  act: Act,
): Promise<RemovalPlan> {
  const { sql } = work;
  const strategy = request.child_strategy ?? undefined;
  const children = await childrenOf(sql, [primary.id], act);
  const active = children.filter((child) => child.status === 'ACTIVE').length;
  if (active > 0 && strategy === undefined) {
    throw new EstateError(
      'children_present',
      `The card has ${active} ${active === 1 ? 'child' : 'children'}; choose a child_strategy.`,
      { extra: { child_count: active } },
    );
  }
  const cascaded =
    strategy === 'cascade' && children.length > 0
      ? (await descendantsOf(sql, [primary.id], { active: act === 'archive' })).map((card) => card.id)
      : [];
  const removed = new Set([primary.id, ...cascaded]);
  const related = (await relatedOf(work, ctx, primary, request, act)).filter((id) => !removed.has(id));
  for (const id of related) removed.add(id);

  const moved = new Map<string, string | null>();
  const parent = strategy === 'reparent' ? await stayingParent(sql, primary.parent_id, removed) : null;
  for (const child of children) if (!removed.has(child.id)) moved.set(child.id, parent);
  for (const child of await childrenOf(sql, related, act)) {
    if (!removed.has(child.id)) moved.set(child.id, null);
  }
  const plan = { removed: [...removed], cascaded, related, moved, levels: new Map() };
  await planLevels(work, plan, act);
  return plan;
}

async function childrenOf(
  sql: Work['sql'],
  parents: string[],
  act: Act,
): Promise<{ id: string; status: string }[]> {
  if (parents.length === 0) return [];
  const children = sql('cards').whereIn('parent_id', parents).select('id', 'status');
  return act === 'archive' ? await children.where({ status: 'ACTIVE' }) : await children;
}

/** The nearest ancestor that is not removed by the same act. */
async function stayingParent(
  sql: Work['sql'],
  parentId: string | null,
  removed: Set<string>,
): Promise<string | null> {
  const { ancestors } = await placeBelow(sql, parentId);
  return ancestors.find((id) => !removed.has(id)) ?? null;
}

/** The related cards that go too: the named ones, or every active one. */
async function relatedOf(
  { sql, metamodel }: Work,
  ctx: Ctx,
  primary: StoredCard,
  request: RemovalRequest,
  act: Act,
): Promise<string[]> {
  const named = (request.related_card_ids ?? []).map((id) => id.toLowerCase());
  if (named.length === 0 && !request.cascade_all_related) return [];
  const visible = visibleCards(ctx);
  const { rows } = await sql.raw(
    `select c.id, c.status from cards c
     where c.id <> ?::uuid and (${visible.sql}) and c.id in (
       select target_id from relations where source_id = ?::uuid and type = any(?::text[])
       union all select source_id from relations where target_id = ?::uuid and type = any(?::text[]))
     order by c.id`,
    [
      primary.id,
      ...visible.bindings,
      primary.id,
      metamodel.visibleRelationTypes,
      primary.id,
      metamodel.visibleRelationTypes,
    ] as never,
  );
  const peers = new Map(rows.map((row: { id: string; status: string }) => [row.id, row.status]));
  const faults = named.flatMap((id, index) => {
    const status = peers.get(id);
    if (status === 'ACTIVE' || (status !== undefined && act === 'delete')) return [];
    const message = status ? 'is archived already' : 'is no card related to this one';
    return { field: `related_card_ids.${index}`, code: 'not_related', message };
  });
  if (faults.length > 0) throw invalidFields(faults);
  const all = request.cascade_all_related
    ? [...peers].filter(([, status]) => status === 'ACTIVE').map(([id]) => id as string)
    : [];
  return [...new Set([...named, ...all])];
}

/** Finds the levels that capabilities get which stay and move, and those below them. */
async function planLevels({ sql, metamodel }: Work, plan: RemovalPlan, act: Act): Promise<void> {
  const leveled = [...metamodel.cardTypes.values()].filter(hasLevels).map((type) => type.key);
  if (plan.moved.size === 0 || leveled.length === 0) return;
  const rows: { id: string; level: string | null }[] = await sql('cards')
    .whereIn('id', [...plan.moved.keys()])
    .whereIn('type', leveled)
    .select('id', sql.raw(`attributes ->> '${LEVEL_FIELD}' as level`));
  if (rows.length === 0) return;
  const places = new Map<string | null, Place>();
  for (const parent of new Set(rows.map((row) => plan.moved.get(row.id)!))) {
    places.set(parent, await placeAfter(sql, plan, parent));
  }
  const gone = new Set(act === 'delete' ? plan.removed : []);
  const below = new Map<string, TreeCard[]>(rows.map((row) => [row.id, []]));
  const all = await descendantsOf(sql, [...below.keys()]);
  const cut = new Map(rows.map((row) => [row.id, new Set<string>()]));
  for (const card of all.sort((a, b) => a.distance - b.distance)) {
    const outside = cut.get(card.root)!;
    // what moves itself, or goes for good, is no longer below
    if (outside.has(card.parent) || plan.moved.has(card.id) || gone.has(card.id)) outside.add(card.id);
    else below.get(card.root)!.push(card);
  }
  for (const row of rows) {
    const place = places.get(plan.moved.get(row.id)!)!;
    if (row.level !== levelAt(place)) plan.levels.set(row.id, levelAt(place));
    for (const [id, level] of levelsBelow(place, below.get(row.id)!)) plan.levels.set(id, level);
  }
}

/** The place below a parent as the plan leaves it: an ancestor may itself have moved up. */
async function placeAfter(sql: Work['sql'], plan: RemovalPlan, parentId: string | null): Promise<Place> {
  const { ancestors, place } = await placeBelow(sql, parentId);
  const steps = ancestors.findIndex((id) => plan.moved.has(id));
  if (steps === -1) return place;
  const above = await placeAfter(sql, plan, plan.moved.get(ancestors[steps]!)!);
  return { depth: above.depth + steps + 1, underMacro: above.underMacro };
}

/** The card with the level that the plan gives it, if any. */
export function withLevel(plan: RemovalPlan, card: StoredCard): StoredCard {
  const level = plan.levels.get(card.id);
  return level === undefined ? card : { ...card, attributes: { ...card.attributes, [LEVEL_FIELD]: level } };
}

/** Locks and loads every card of the plan. */
export async function lockRemoval(
  work: Work,
  ctx: Ctx,
  plan: RemovalPlan,
  act: Act,
): Promise<Map<string, StoredCard>> {
  const ids = new Set([...plan.removed, ...plan.moved.keys(), ...plan.levels.keys()]);
  await lockCards(work.sql, ids, act === 'delete');
  return await loadCards(work, ctx, ids);
}

/** The writes of the cards that stay: another parent, levels, and approvals that break by the move. */
export function moveWrites(work: Work, plan: RemovalPlan, cards: Map<string, StoredCard>): CardWrite[] {
  const removed = new Set(plan.removed);
  return [...new Set([...plan.moved.keys(), ...plan.levels.keys()])].flatMap((id) => {
    const before = removed.has(id) ? undefined : cards.get(id);
    if (!before) return [];
    const type = typeOf(work.metamodel, before);
    const leveled = withLevel(plan, before);
    const parent_id = plan.moved.get(id);
    const after =
      parent_id === undefined ? rescored(type, leveled) : settled(type, before, { ...leveled, parent_id });
    return { before, after };
  });
}

/** What else was affected, as members of the answer's JSON. */
export function affected(plan: RemovalPlan): string {
  const children = JSON.stringify([...plan.cascaded, ...plan.moved.keys()]);
  return `"affected_children_ids":${children},"affected_related_card_ids":${JSON.stringify(plan.related)}`;
}
