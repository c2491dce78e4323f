import { query } from '../../../../platform/database.ts';
import { EstateError, fieldError, invalidField } from '../../../../platform/errors.ts';
import { commandWith } from '../../../kernel/command.ts';
import type { Ctx, Work } from '../../../kernel/context.ts';
import type { CardType, Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import {
  type CardForPolicy,
  forbidden,
  OBSERVER,
  requireOnCards,
  seesCosts,
} from '../../../kernel/permissions/policy.ts';
import { refreshRelationCosts } from '../../costs/costs.sums.ts';
import { hasEndIn, loadRelations } from '../../relations/relations.load.ts';
import type { StoredRelation } from '../../relations/relations.model.ts';
import { cardinalityExceeded, diffRelation, limitedSides } from '../../relations/relations.rules.ts';
import { type RelationWrite, saveRelations } from '../../relations/relations.save.ts';
import { cardEvent } from '../cards.events.ts';
import {
  loadCards,
  lockCards,
  lockHierarchy,
  requireCard,
  type StoredCard,
  typeOf,
  writtenCard,
} from '../cards.load.ts';
import { refuseHiddenCosts } from '../cards.projection.ts';
import { ARCHIVE, deleteRows } from '../cards.removal.ts';
import { rescored } from '../cards.rows.ts';
import { type CardWrite, newIds, type SavedCard, saveCards, withDerivedValues } from '../cards.save.ts';
import { ancestorsOf, levelsAfter, requireParent } from '../cards.tree.ts';
import { EDIT } from '../cards.write.ts';
import { hasLevels, LEVEL_FIELD, MACRO } from '../rules/capability.ts';
import { mergeAttributes } from '../rules/merge.ts';
import { mergeTags, moveAttached, storeMerge } from './merge.attached.ts';
import { chosenInput, type FieldChoices, survivingValues } from './merge.fields.ts';

/** A relation that another one replaces after a merge. */
interface FoldedRelation {
  id: string;
  type: string;
  /** The relation that remains, with the values that it lacked. */
  kept_id: string;
}

/** The effect of a merge on relations. */
interface MergedRelations {
  writes: RelationWrite[];
  folded: FoldedRelation[];
  /** Relations between the merged cards themselves. */
  dropped: { id: string; type: string }[];
  moved: number;
}

/**
 * Moves the merged cards' relations to the survivor. Of two relations between the same cards one remains, preferably
 * the survivor's own, with the values that it lacks from the other; relations between the merged cards are deleted.
 * @throws EstateError `cardinality_exceeded` when the survivor would have more than its type allows.
 */
function planRelations(
  metamodel: Metamodel,
  relations: StoredRelation[],
  survivorId: string,
  gone: ReadonlySet<string>,
): MergedRelations {
  const plan: MergedRelations = { writes: [], folded: [], dropped: [], moved: 0 };
  const endOf = (id: string) => (gone.has(id) ? survivorId : id);
  const touched = (relation: StoredRelation) => gone.has(relation.source_id) || gone.has(relation.target_id);
  const kept = new Map<string, { before: StoredRelation; after: StoredRelation }>();
  // The survivor's own relations come first, so that they are the ones that remain.
  for (const before of relations.toSorted((a, b) => Number(touched(a)) - Number(touched(b)))) {
    const after = { ...before, source_id: endOf(before.source_id), target_id: endOf(before.target_id) };
    if (after.source_id === after.target_id) {
      plan.dropped.push({ id: before.id, type: before.type });
      plan.writes.push({ before, after: null });
      continue;
    }
    const key = `${after.type} ${after.source_id} ${after.target_id}`;
    const there = kept.get(key);
    if (there) {
      plan.folded.push({ id: before.id, type: before.type, kept_id: there.before.id });
      plan.writes.push({ before, after: null });
      there.after = {
        ...there.after,
        attributes: mergeAttributes(before.attributes, there.after.attributes),
        description: there.after.description ?? before.description,
      };
    } else {
      kept.set(key, { before, after });
      if (touched(before)) plan.moved += 1;
    }
  }
  for (const write of kept.values()) {
    if (Object.keys(diffRelation(write.before, write.after)).length > 0) plan.writes.push(write);
  }
  const writes = [...kept.values()].map(({ after }) => after);
  requireCardinality(metamodel, writes, survivorId);
  return plan;
}

/** Only the survivor can exceed its cardinality: other cards have no more relations than before. */
function requireCardinality(metamodel: Metamodel, relations: StoredRelation[], survivorId: string): void {
  const first = new Map<string, string>();
  for (const relation of relations) {
    const type = metamodel.relationTypes.get(relation.type)!;
    for (const side of limitedSides(type)) {
      if (relation[`${side}_id`] !== survivorId) continue;
      const key = `${type.key} ${side}`;
      const there = first.get(key);
      if (there) throw cardinalityExceeded(type, side, there);
      first.set(key, relation.id);
    }
  }
}

interface MergeRequest {
  survivor_id: string;
  merged_ids: string[];
  fields?: FieldChoices;
  dry_run: boolean;
}

/**
 * Merges cards of one type into one of them. The survivor retains its values, takes values that it lacks from the
 * others, and takes the values given by the choices. Their relations, children, tags, stakeholders and attachments are
 * moved to it. The merged cards are deleted, and their ids redirect to it.
 * @throws EstateError `not_found`, `forbidden` without the rights to edit and to archive each card, and where a stakeholder
 * role would show costs that the caller does not see; `validation_failed`,
 * `wrong_state`, `cardinality_exceeded`, `sibling_name_taken`, `external_id_taken`, `parent_cycle`,
 * `capability_too_deep`.
 */
export async function mergeCards(ctx: Ctx, request: MergeRequest) {
  return await commandWith(ctx, { dryRun: request.dry_run }, (work) => mergeWithin(work, ctx, request));
}

/** {@link mergeCards} within a command, which a dry run rolls back. */
export async function mergeWithin(outer: Work, ctx: Ctx, request: MergeRequest) {
  let events = 0;
  const work: Work = {
    ...outer,
    emit(event) {
      events += 1;
      outer.emit(event);
    },
  };
  const { sql, metamodel } = work;
  const survivorId = request.survivor_id.toLowerCase();
  const ids = [...new Set(request.merged_ids.map((id) => id.toLowerCase()))];
  if (ids.includes(survivorId)) {
    throw invalidField('merged_ids', 'survivor', 'names the surviving card itself');
  }
  await lockHierarchy(sql, 'exclusive');
  const all = [survivorId, ...ids];
  // From here the hierarchy cannot change; other values can change until the cards are locked.
  const seen = await cardsOf(work, ctx, all);
  requireMergeRights(ctx, [...seen.byId.values()]);
  requireMergeable(seen.survivor, seen.merged);
  const input = chosenInput(request.fields ?? {}, seen.byId);
  const tree = await planTree(work, ctx, { ...seen, chosen: input.parent_id });
  const peers = (await loadRelations(sql, hasEndIn(all))).ends.keys();
  await lockCards(work, new Set([...all, ...tree.moved.keys(), ...tree.levels.keys(), ...peers]), 'update');

  const cards = await cardsOf(work, ctx, all);
  const { type, survivor, merged } = cards;
  requireMergeable(survivor, merged);
  requireMergeRights(ctx, [...cards.byId.values()]);
  requireOnCards(ctx, EDIT, (await loadCards(work, ctx, tree.moved.keys())).values());
  const patch = chosenInput(request.fields ?? {}, cards.byId);
  const costsShown = [survivor, ...merged].every((card) => seesCosts(ctx, card));
  // The survivor receives costs and stakeholder roles: together they could reveal costs to a user who could not see
  // them before.
  if (!costsShown && (await mergeShowsCosts(work, all))) throw forbidden('costs.view');
  refuseHiddenCosts(type.costKeys, patch.attributes, costsShown);
  const values = survivingValues(metamodel, type, survivor, merged, patch);

  const gone = new Set(ids);
  const { relations, ends } = await loadRelations(sql, hasEndIn(all));
  ends.set(survivorId, { id: survivorId, name: survivor.name, type: survivor.type });
  const relationPlan = planRelations(metamodel, relations, survivorId, gone);

  const kept = new Map(relationPlan.folded.map(({ id, kept_id }) => [id, kept_id]));
  await saveRelations(work, ctx, relationPlan.writes, ends, { leaving: new Set(all), kept });
  await refreshRelationCosts(work, ctx, new Set(kept.values()), ends);
  const attached = await moveAttached(work, cards);
  const tags = await mergeTags(work, cards);
  const [mergeId] = await newIds(work, 1);
  await deleteRows(work, ctx, merged, { merged_into: survivorId, merge_id: mergeId });
  const saved = await saveSurviving(work, ctx, { survivorId, values, tree, gone });
  await work.extensions.stakeholdersChanged(work, type.key, [survivorId]);

  const counts: Record<string, number> = {
    child: [...tree.moved].filter(([, parent]) => parent === survivorId).length,
    relation: relationPlan.moved,
    tag: tags.added.length,
    ...attached,
  };
  await storeMerge(work, ctx, mergeId!, cards);
  const after = saved.find(({ before }) => before.id === survivorId)?.after ?? survivor;
  const event = cardEvent('card.merged', type, after, {});
  work.emit({
    ...event,
    data: {
      ...event.data,
      merge_id: mergeId,
      merged_cards: merged.map(({ id, name }) => ({ id, name })),
      moved: counts,
      // With this one: an undo reads them.
      event_count: events + 1,
    },
  });
  return {
    merge_id: request.dry_run ? null : mergeId!,
    dry_run: request.dry_run,
    survivor: await writtenCard(sql, ctx, survivorId),
    merged_card_ids: ids,
    moved: counts,
    folded_relations: relationPlan.folded,
    dropped_relations: relationPlan.dropped,
    dropped_tags: tags.dropped,
  };
}

/** Whether a user has a stakeholder role that shows costs on some of the cards but not on the others. */
async function mergeShowsCosts({ sql }: Work, ids: string[]): Promise<boolean> {
  return await query(sql).value<boolean>`select exists (select from stakeholders
    where card_id = any(${ids}::uuid[]) and role <> ${OBSERVER}
                    group by user_id having count(distinct card_id) < ${ids.length}) as shows`;
}

/** Requires the rights to edit and to archive each card. @throws EstateError `forbidden`. */
export function requireMergeRights(ctx: Ctx, cards: CardForPolicy[]): void {
  requireOnCards(ctx, EDIT, cards);
  requireOnCards(ctx, ARCHIVE, cards);
}

async function cardsOf(work: Work, ctx: Ctx, [survivorId, ...ids]: string[]) {
  const byId = await loadCards(work, ctx, [survivorId!, ...ids]);
  const survivor = requireCard(byId, survivorId!);
  const merged = ids.map((id) => requireCard(byId, id));
  return { type: typeOf(work.metamodel, survivor), survivor, merged, byId };
}

/**
 * Writes the survivor and dependent cards, after the merged cards were deleted and everything was moved to the
 * survivor.
 */
async function saveSurviving(
  work: Work,
  ctx: Ctx,
  change: {
    survivorId: string;
    values: ReturnType<typeof survivingValues>;
    tree: Awaited<ReturnType<typeof planTree>>;
    gone: ReadonlySet<string>;
  },
): Promise<SavedCard[]> {
  const { survivorId, values, tree, gone } = change;
  const { moved, levels } = tree;
  const cards = await loadCards(work, ctx, new Set([survivorId, ...moved.keys(), ...levels.keys()]));
  const writes = [...cards.values()].flatMap((before): CardWrite[] => {
    if (gone.has(before.id)) return [];
    const type = typeOf(work.metamodel, before);
    const isSurvivor = before.id === survivorId;
    const { parent_id: _, ...own } = values;
    const parent_id = moved.has(before.id) ? moved.get(before.id)! : before.parent_id;
    const after: StoredCard = { ...before, ...(isSurvivor ? own : {}), parent_id };
    const level = levels.get(before.id);
    if (level !== undefined) after.attributes = { ...after.attributes, [LEVEL_FIELD]: level };
    // A card of which only the level changes was not edited by a user.
    const byHand = isSurvivor || moved.has(before.id);
    return [{ before, after: byHand ? withDerivedValues(type, before, after) : rescored(type, after) }];
  });
  return await saveCards(work, ctx, writes);
}

/**
 * Determines the new parents of the merged cards' children and of the survivor, under the exclusive hierarchy lock.
 * Children move to the survivor. Cards between a merged card and a survivor below it move up instead, to the nearest
 * ancestor that remains.
 * @param chosen the survivor's new parent; undefined leaves it where it is.
 * @throws EstateError `validation_failed`, `parent_cycle`, `capability_too_deep`.
 */
async function planTree(
  work: Work,
  ctx: Ctx,
  {
    type,
    survivor,
    merged,
    chosen,
  }: { type: CardType; survivor: StoredCard; merged: StoredCard[]; chosen: string | null | undefined },
) {
  const { sql } = work;
  const gone = new Set(merged.map((card) => card.id));
  const above = await ancestorsOf(sql, [survivor.id, ...gone]);
  const children = await query(sql).rows`select id, parent_id from cards
    where parent_id = any(${[...gone]}::uuid[]) order by id`;
  /** The nearest remaining card among the ancestors of a card. */
  const staying = (id: string) => above.get(id)!.find((up) => !gone.has(up)) ?? null;
  const aboveSurvivor = new Set(above.get(survivor.id));
  const moved = new Map<string, string | null>();
  for (const child of children as { id: string; parent_id: string }[]) {
    if (gone.has(child.id)) continue;
    const between = child.id === survivor.id || aboveSurvivor.has(child.id);
    moved.set(child.id, between ? staying(child.parent_id) : survivor.id);
  }
  if (chosen !== undefined && chosen !== survivor.parent_id) {
    const parent = chosen !== null && gone.has(chosen) ? staying(chosen) : chosen;
    await requireParent(work, ctx, type, parent);
    moved.set(survivor.id, parent);
  }
  const parent = moved.has(survivor.id) ? moved.get(survivor.id) : survivor.parent_id;
  if (hasLevels(type) && survivor.attributes[LEVEL_FIELD] === MACRO && parent !== null) {
    throw invalidField('fields.parent_id', 'macro_not_root', 'a Macro stays a root');
  }
  return { moved, levels: await levelsAfter(work, { moved, gone }) };
}

/** The error for a merge of cards of several types or in the wrong state. */
function requireMergeable(survivor: StoredCard, merged: StoredCard[]): void {
  const errors = merged.flatMap((card, n) =>
    card.type === survivor.type
      ? []
      : fieldError(`merged_ids.${n}`, 'type_differs', `must be a card of the type ${survivor.type}`),
  );
  if (errors.length > 0) {
    throw new EstateError('validation_failed', 'Only cards of one type can be merged.', { errors: errors });
  }
  if (survivor.status !== 'ACTIVE') {
    throw new EstateError('wrong_state', 'The surviving card is archived; restore it first.');
  }
}
