import { EstateError, notFound } from '../../../../platform/errors.ts';
import { command } from '../../../kernel/command.ts';
import type { Ctx, Work } from '../../../kernel/context.ts';
import { forbidden, may, requirePermission } from '../../../kernel/permissions/policy.ts';
import { seedsOfType } from '../../calculations/recalculate.ts';
import { cardEvent } from '../cards.events.ts';
import { loadCards, lockCards, lockHierarchy, type StoredCard, typeOf, writtenCard } from '../cards.load.ts';
import { levelWrites, rescoreCards, saveCards } from '../cards.save.ts';
import { levelsAfter } from '../cards.tree.ts';
import type { MergeJournal, Undoing } from './merge.attached.ts';
import { type MergeConflict, mergeConflict, missing } from './merge.attached.ts';
import { costFields, requireMergeRights } from './merge.command.ts';
import { restoreAttached, restoreTags } from './merge.undo.attached.ts';
import { checkParents, restoreMergedCards, restoreRelations, revertCards } from './merge.undo.cards.ts';

interface UndoMergeRequest {
  dry_run: boolean;
  /** Does not change what was changed since the merge, and restores the rest. */
  force: boolean;
}

/** A row of `card_merges`. */
interface MergeRow {
  id: string;
  survivor_id: string;
  card_type: string;
  journal: MergeJournal;
  undone_at: Date | null;
}

/**
 * Undoes a merge: the merged cards are restored with their ids, values, relations and attachments; the changes of the
 * merge to the survivor and dependent cards are reverted. Later writes to other fields and later attachments of the
 * survivor remain.
 * @throws EstateError `not_found`, `forbidden`, `wrong_state` when it was undone before, `merge_conflict` with the list
 * of what has changed since.
 */
export async function undoMerge(ctx: Ctx, id: string, request: UndoMergeRequest) {
  return await command(ctx, (work) => undo(work, ctx, id, request), { dryRun: request.dry_run });
}

async function undo(work: Work, ctx: Ctx, id: string, request: UndoMergeRequest) {
  const { sql } = work;
  await lockHierarchy(sql, 'exclusive');
  const merge: MergeRow | undefined = await sql('card_merges').where({ id }).forUpdate().first();
  if (!merge) throw notFound('merge', id);
  const { journal, survivor_id: survivorId } = merge;
  const survivor = await lockAll(work, ctx, merge);
  requireFormerCosts(ctx, work, merge);
  if (merge.undone_at !== null) throw new EstateError('wrong_state', 'The merge was undone before.');
  if (!survivor) {
    throw mergeConflict([missing('card', survivorId, 'the surviving card was deleted, or merged itself')]);
  }

  const conflicts: MergeConflict[] = [];
  const undoing: Undoing = {
    work,
    ctx,
    journal,
    survivorId,
    mayLieBelow: await checkParents(work, journal),
    conflict: (conflict) => void conflicts.push(conflict),
  };
  try {
    await revertCards(undoing);
    await restoreMergedCards(undoing);
    await restoreAttached(undoing);
    await restoreTags(undoing);
    await restoreRelations(undoing);
    await settleTree(undoing);
  } catch (error) {
    if (!(error instanceof EstateError) || error.status >= 500) throw error;
    const { existing_id = null } = error.extra;
    const stands = existing_id === null ? '' : ` (${existing_id})`;
    const message = `${error.message}${stands}`;
    throw mergeConflict([
      ...conflicts,
      { entity: 'card', id: survivorId, field: null, code: error.code, message },
    ]);
  }
  if (conflicts.length > 0 && !request.force) throw mergeConflict(conflicts);

  const restored = journal.cards.map((card) => String(card.id));
  const back = [survivorId, ...restored, ...journal.saved.map((card) => card.id)];
  const parents = journal.cards.flatMap((card) => (card.parent_id ? [String(card.parent_id)] : []));
  const seeds = seedsOfType(work, survivor.type, [...back, ...parents]);
  await rescoreCards(work, ctx, back, seeds);
  await work.extensions.stakeholdersChanged(work, survivor.type, [survivorId, ...restored]);
  await closeMerge(work, ctx, merge.id);
  const type = typeOf(work.metamodel, survivor);
  const event = cardEvent('card.unmerged', type, survivor, {});
  work.emit({ ...event, data: { ...event.data, merge_id: merge.id, restored_card_ids: restored } });
  return {
    merge_id: merge.id,
    dry_run: request.dry_run,
    survivor: await writtenCard(sql, ctx, survivorId),
    restored_card_ids: restored,
    conflicts,
  };
}

/** Locks every card that the undo may write. @returns the survivor, if it still exists. */
async function lockAll(work: Work, ctx: Ctx, merge: MergeRow): Promise<StoredCard | undefined> {
  const { journal, survivor_id: survivorId } = merge;
  const relations = [...journal.relations, ...journal.changed.map(({ after }) => after)];
  const ends = relations.flatMap((relation) => [String(relation.source_id), String(relation.target_id)]);
  await lockCards(work, new Set([survivorId, ...journal.saved.map((card) => card.id), ...ends]));
  const survivor = (await loadCards(work, ctx, [survivorId])).get(survivorId);
  if (survivor) requireMergeRights(ctx, [survivor]);
  else
    for (const right of ['inventory.edit', 'inventory.archive'] as const)
      requirePermission(ctx.caller, right);
  return survivor;
}

/**
 * Refuses to restore values that were costs at the time of the merge, if their field is no longer a cost: the undo
 * would reveal them.
 * @throws EstateError `forbidden` naming `costs.view`.
 */
function requireFormerCosts(ctx: Ctx, { metamodel }: Work, { card_type, journal }: MergeRow): void {
  if (may(ctx.caller, 'costs.view') || !journal.cost_fields) return;
  const { card, relations } = journal.cost_fields;
  const now = costFields(metamodel, card_type);
  const cardKeys = card.filter((key) => !now.card.includes(key));
  const shows = (keys: readonly string[], attributes: unknown) =>
    keys.some((key) => Object.hasOwn((attributes ?? {}) as object, key));
  const rows = [...journal.relations, ...journal.changed.map(({ before }) => before)];
  const isShown =
    journal.cards.some(({ attributes }) => shows(cardKeys, attributes)) ||
    journal.saved.some(({ changes }) => cardKeys.some((key) => `attributes.${key}` in changes)) ||
    rows.some(({ type, attributes }) => {
      const former = relations[String(type)] ?? [];
      return shows(
        former.filter((key) => !now.relations[String(type)]?.includes(key)),
        attributes,
      );
    });
  if (isShown) throw forbidden('costs.view');
}

/** Checks that the restored cards and the cards that moved back form a hierarchy; levels are updated. */
async function settleTree({ work, ctx, journal }: Undoing): Promise<void> {
  const ids = [
    ...journal.cards.map((card) => String(card.id)),
    ...journal.saved.flatMap(({ id, changes }) => ('parent_id' in changes ? id : [])),
  ];
  const cards = await loadCards(work, ctx, ids);
  const moved = new Map([...cards.values()].map((card) => [card.id, card.parent_id]));
  const levels = await levelsAfter(work, { moved });
  await saveCards(work, ctx, levelWrites(work, await loadCards(work, ctx, levels.keys()), levels));
}

/** Deletes the redirects of a merge. */
async function closeMerge({ sql }: Work, ctx: Ctx, id: string): Promise<void> {
  await sql('card_redirects').where({ merge_id: id }).delete();
  await sql('card_merges').where({ id }).update({ undone_by: ctx.caller.userId, undone_at: sql.fn.now() });
}
