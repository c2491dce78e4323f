import { embed, query } from '../../../platform/database.ts';
import { EstateError, invalidFields } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { inBatches, type RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requireOnCards } from '../../kernel/permissions/policy.ts';
import { readSetting } from '../../kernel/settings/settings.read.ts';
import { noRuns } from '../calculations/calculations.follow.ts';
import { recalculate, recordRuns } from '../calculations/recalculate.ts';
import { hasEndIn, loadRelations } from '../relations/relations.load.ts';
import { saveRelations } from '../relations/relations.save.ts';
import { deleteTags } from '../tags/tags.cards.ts';
import { cardEvent, cardsTopic } from './cards.events.ts';
import {
  loadCards,
  loadChangeable,
  lockCards,
  lockHierarchy,
  requireCard,
  type StoredCard,
  typeOf,
} from './cards.load.ts';
import type { CardColumns } from './cards.model.ts';
import { visibleCards } from './cards.projection.ts';
import { rescored } from './cards.rows.ts';
import { type CardWrite, emitComputed, saveCards, withDerivedValues } from './cards.save.ts';
import { ancestorsOf, idsBelow, levelsAfter } from './cards.tree.ts';
import { EDIT } from './cards.write.ts';
import { LEVEL_FIELD } from './rules/capability.ts';
import { diffCard } from './rules/diff.ts';

/** How many cards an error names. */
const MAX_NAMED = 100;

/** What happens to children: they are removed too, lose their parent, or move to their grandparent. */
type ChildStrategy = 'cascade' | 'disconnect' | 'reparent';

export interface RemovalRequest {
  child_strategy?: ChildStrategy | null;
  related_card_ids?: string[];
  cascade_all_related?: boolean;
}

/** The effect of archiving or deleting cards. */
export interface RemovalPlan {
  /** Ids of all cards that are archived or deleted; the requested cards are first. */
  removed: string[];
  /** Of these, the descendants. */
  cascaded: string[];
  /** Of these, the related cards. */
  related: string[];
  /** Cards that remain and get another parent. */
  moved: Map<string, string | null>;
  /** The new levels of remaining capabilities, by id. */
  levels: Map<string, string>;
}

type Act = 'archive' | 'delete';

/** The right needed for archiving and restoring. */
export const ARCHIVE = { app: 'inventory.archive', card: 'card.archive' } as const;
/** The right needed for deleting. */
export const DELETE = { app: 'inventory.delete', card: 'card.delete' } as const;
const removalRights = { archive: ARCHIVE, delete: DELETE };

/**
 * Determines which cards are removed and which remain, under the exclusive hierarchy lock. Archiving considers active
 * cards only. Deleting removes archived children according to the strategy, or detaches them if no strategy is given. A
 * child that is itself requested needs no strategy.
 * @throws EstateError `children_present`, `too_many_descendants`, `validation_failed`.
 */
async function planRemoval(
  work: Work,
  ctx: Ctx,
  primaries: StoredCard[],
  request: RemovalRequest,
  act: Act,
): Promise<RemovalPlan> {
  const { sql } = work;
  const strategy = request.child_strategy ?? undefined;
  const ids = primaries.map((card) => card.id);
  const removed = new Set(ids);
  const children = (await childrenOf(sql, ids, act)).filter((child) => !removed.has(child.id));
  const active = children.filter((child) => child.status === 'ACTIVE');
  if (active.length > 0 && strategy === undefined) throw childrenPresent(active, primaries.length > 1);
  const cascaded: string[] = [];
  if (strategy === 'cascade' && children.length > 0) {
    for (const id of await idsBelow(sql, ids, act === 'archive')) {
      if (!removed.has(id)) cascaded.push(id);
      removed.add(id);
    }
  }
  const related = (await relatedOf(work, ctx, ids, request, act)).filter((id) => !removed.has(id));
  for (const id of related) removed.add(id);

  const staying = children.filter((child) => !removed.has(child.id));
  const moved = new Map<string, string | null>(staying.map((child) => [child.id, null]));
  if (strategy === 'reparent') {
    const stayingIds = staying.map((child) => child.id);
    const ancestors = await ancestorsOf(sql, stayingIds);
    for (const { id } of staying) moved.set(id, ancestors.get(id)!.find((up) => !removed.has(up)) ?? null);
  }
  for (const child of await childrenOf(sql, related, act)) {
    if (!removed.has(child.id)) moved.set(child.id, null);
  }
  const gone = new Set(act === 'delete' ? removed : []);
  const levels = await levelsAfter(work, { moved, gone });
  return { removed: [...removed], cascaded, related, moved, levels };
}

function childrenPresent(children: { parent_id: string }[], many: boolean): EstateError {
  const count = children.length;
  const parents = [...new Set(children.map((child) => child.parent_id))];
  return new EstateError(
    'children_present',
    `${many ? 'The cards have' : 'The card has'} ${count} ${count === 1 ? 'child' : 'children'}; choose a child_strategy.`,
    { extra: { child_count: count, ...(many ? { card_ids: parents.slice(0, MAX_NAMED) } : {}) } },
  );
}

async function childrenOf(
  sql: Work['sql'],
  parents: string[],
  act: Act,
): Promise<{ id: string; parent_id: string; status: string }[]> {
  if (parents.length === 0) return [];
  const active = act === 'archive' ? "and status = 'ACTIVE'" : '';
  return await query(sql).rows`select id, parent_id, status from cards
    where parent_id = any(${parents}::uuid[]) ${embed(active)} order by id`;
}

/** The related cards that are removed too: the selected ones, or every active one. */
async function relatedOf(
  { sql, metamodel }: Work,
  ctx: Ctx,
  primaries: string[],
  request: RemovalRequest,
  act: Act,
): Promise<string[]> {
  const named = (request.related_card_ids ?? []).map((id) => id.toLowerCase());
  if (named.length === 0 && !request.cascade_all_related) return [];
  const rows = await query(sql).rows<{ id: string; status: string }>`select c.id, c.status from cards c
     where c.id <> all(${primaries}::uuid[]) and (${embed(visibleCards(ctx))}) and c.id in (
       select target_id from relations
       where source_id = any(${primaries}::uuid[]) and type = any(${metamodel.visibleRelationTypes}::text[])
       union all select source_id from relations
       where target_id = any(${primaries}::uuid[]) and type = any(${metamodel.visibleRelationTypes}::text[]))
     order by c.id`;
  const peers = new Map(rows.map((row) => [row.id, row.status]));
  const errors = named.flatMap((id, index) => {
    const status = peers.get(id);
    if (status === 'ACTIVE' || (status !== undefined && act === 'delete')) return [];
    const message = status ? 'is archived already' : 'is no card related to this one';
    return { field: `related_card_ids.${index}`, code: 'not_related', message };
  });
  if (errors.length > 0) throw invalidFields(errors);
  const all = request.cascade_all_related
    ? [...peers].filter(([, status]) => status === 'ACTIVE').map(([id]) => id)
    : [];
  return [...new Set([...named, ...all])];
}

/** The card with the level that the plan gives it, if any. */
export function withLevel(plan: RemovalPlan, card: StoredCard): StoredCard {
  const level = plan.levels.get(card.id);
  return level === undefined ? card : { ...card, attributes: { ...card.attributes, [LEVEL_FIELD]: level } };
}

/**
 * Plans the removal of cards under the exclusive hierarchy lock, and locks and loads all cards that it changes.
 * @throws EstateError as {@link planRemoval}, and `forbidden` without the right on each removed card, and that to edit
 * each moved one.
 */
export async function prepareRemoval(
  work: Work,
  ctx: Ctx,
  primaries: StoredCard[],
  request: RemovalRequest,
  act: Act,
) {
  const plan = await planRemoval(work, ctx, primaries, request, act);
  const ids = new Set([...plan.removed, ...plan.moved.keys(), ...plan.levels.keys()]);
  await lockCards(work, ids, act === 'delete' ? 'update' : 'no key update');
  const cards = await loadCards(work, ctx, ids);
  const required = (wanted: Iterable<string>) => [...wanted].map((id) => requireCard(cards, id));
  const removed = required(plan.removed);
  requireOnCards(ctx, removalRights[act], removed);
  requireOnCards(ctx, EDIT, required(plan.moved.keys()));
  return { plan, cards, removed };
}

/** The writes of the cards that remain: another parent, levels, and approvals that the move breaks. */
export function moveWrites(work: Work, plan: RemovalPlan, cards: Map<string, StoredCard>): CardWrite[] {
  const removed = new Set(plan.removed);
  return [...new Set([...plan.moved.keys(), ...plan.levels.keys()])].flatMap((id) => {
    const before = removed.has(id) ? undefined : cards.get(id);
    if (!before) return [];
    const type = typeOf(work.metamodel, before);
    const leveled = withLevel(plan, before);
    const parent_id = plan.moved.get(id);
    const after =
      parent_id === undefined
        ? rescored(type, leveled)
        : withDerivedValues(type, before, { ...leveled, parent_id });
    return { before, after };
  });
}

/** The other cards concerned, as members of the response's JSON. */
export function affectedMembers(plan: RemovalPlan): string {
  const children = JSON.stringify([...plan.cascaded, ...plan.moved.keys()]);
  return `"affected_children_ids":${children},"affected_related_card_ids":${JSON.stringify(plan.related)}`;
}

/**
 * Deletes a card permanently, active or archived, its children according to the strategy and, if requested, related
 * cards. Relations, tags, stakeholders and all attachments are deleted too; its events remain, and the last one
 * contains all its values.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `children_present`, `too_many_descendants`,
 * `validation_failed`, `sibling_name_taken`.
 */
export async function deleteCard(ctx: Ctx, id: string, request: RemovalRequest): Promise<JsonText> {
  return await command(ctx, async (work) => {
    await lockHierarchy(work.sql, 'exclusive');
    const primary = await loadChangeable(work, ctx, id, DELETE);
    const plan = await deleteAll(work, ctx, [primary], request);
    return `{"deleted_card_ids":${JSON.stringify(plan.removed)},${affectedMembers(plan)}}`;
  });
}

/** Deletes cards under the exclusive hierarchy lock. @throws EstateError as {@link deleteCard}. */
export async function deleteAll(
  work: Work,
  ctx: Ctx,
  primaries: StoredCard[],
  request: RemovalRequest,
): Promise<RemovalPlan> {
  const { plan, removed } = await prepareRemoval(work, ctx, primaries, request, 'delete');
  await deleteRelations(work, ctx, plan.removed);
  await work.extensions.deleteWithCards(work, removed);
  await deleteTags(work, plan.removed);
  await deleteRows(work, ctx, removed);
  // Read again: remaining cards may have lost relations, and with them data quality.
  const staying = await loadCards(work, ctx, [...plan.moved.keys(), ...plan.levels.keys()]);
  await saveCards(work, ctx, moveWrites(work, plan, staying));
  return plan;
}

/** Deletes all relations of cards that are deleted. */
export async function deleteRelations(work: Work, ctx: Ctx, cardIds: string[]): Promise<void> {
  const { relations, ends } = await loadRelations(work.sql, hasEndIn(cardIds));
  const writes = relations.map((before) => ({ before, after: null }));
  await saveRelations(work, ctx, writes, ends, { leaving: new Set(cardIds) });
}

/**
 * Deletes the rows of cards and records their last values; no row may reference them any more. Values that their
 * parents compute from them are updated. `about` are additional members of each event's data.
 */
export async function deleteRows(
  work: Work,
  ctx: Ctx,
  cards: StoredCard[],
  about: Record<string, unknown> = {},
): Promise<void> {
  const gone = await query(work.sql).rows<
    Pick<CardColumns, 'id' | 'created_at' | 'created_by'>
  >`delete from cards where id = any(${cards.map((card) => card.id)}::uuid[]) returning id, created_by, to_json(created_at) as created_at`;
  const made = new Map(gone.map(({ id, ...facts }) => [id, facts]));
  for (const card of cards) {
    const type = typeOf(work.metamodel, card);
    const { archive_batch_id } = card;
    const more = { ...made.get(card.id), ...(archive_batch_id ? { archive_batch_id } : {}) };
    work.emit(cardEvent('card.deleted', type, card, diffCard(card, null), { ...more, ...about }));
    work.raise(cardsTopic(type.key));
  }
  const runs = noRuns();
  const written = cards.map((before) => ({ before, after: null, changes: {} }));
  const computed = await recalculate(work, ctx, written, new Map(), runs);
  await recordRuns(work, runs);
  emitComputed(work, computed.values());
}

/** Cards deleted by one transaction, during which nobody can move cards. */
const BATCH = 500;

/**
 * Deletes, in batches, the cards that were archived longer ago than the configured retention. Archived children that
 * are more recent remain, without a parent. Cards of hidden types remain until the type is shown.
 * @returns the number of deleted cards.
 */
export async function purgeArchive(job: RunningJob): Promise<number> {
  return await inBatches(job, 'deleted', BATCH, async (work) => await purgeBatch(work, job.ctx));
}

async function purgeBatch(work: Work, ctx: Ctx): Promise<number> {
  const days = await readSetting(work.sql, 'archive_retention_days');
  if (days === 0) return 0;
  await lockHierarchy(work.sql, 'exclusive');
  const ids = await query(work.sql).column<string>`select c.id from cards c
     where c.status = 'ARCHIVED' and c.archived_at < now() - make_interval(days => ${days})
     and c.type = any(${work.metamodel.visibleTypes}::text[])
       and not exists (select from cards k where k.parent_id = c.id and k.status = 'ACTIVE')
     order by c.archived_at, c.id limit ${embed(BATCH)}`;
  const cards = await loadCards(work, ctx, ids);
  if (ids.length > 0) await deleteAll(work, ctx, [...cards.values()], {});
  return ids.length;
}
