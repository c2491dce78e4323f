import { embed, query } from '../../../platform/database.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { inBatches } from '../../kernel/jobs/jobs.running.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { readSetting } from '../../kernel/settings/settings.read.ts';
import { noRuns } from '../calculations/calculations.follow.ts';
import { recalculate, recordRuns } from '../calculations/recalculate.ts';
import { hasEndIn, loadRelations } from '../relations/relations.load.ts';
import { saveRelations } from '../relations/relations.save.ts';
import { deleteTags } from '../tags/tags.use.ts';
import { cardEvent, cardsTopic } from './cards.events.ts';
import { loadCards, loadChangeable, lockHierarchy, type StoredCard, typeOf } from './cards.load.ts';
import type { CardColumns } from './cards.model.ts';
import {
  affectedMembers,
  DELETE,
  moveWrites,
  prepareRemoval,
  type RemovalPlan,
  type RemovalRequest,
} from './cards.removal.ts';
import { emitComputed, saveCards } from './cards.save.ts';
import { diffCard } from './rules/diff.ts';

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
