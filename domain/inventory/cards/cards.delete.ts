import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requireOnCard, requireOnCards } from '../../kernel/permissions/policy.ts';
import { noRuns } from '../calculations/calculations.local.ts';
import { noteRuns, recalculate } from '../calculations/recalculate.ts';
import type { NamedEnd } from '../relations/relations.events.ts';
import { saveRelations } from '../relations/relations.save.ts';
import type { StoredRelation } from '../relations/relations.types.ts';
import { deleteTags } from '../tags/tags.use.ts';
import { cardEvent, cardsTopic } from './cards.events.ts';
import { loadCards, lockHierarchy, requireCard, type StoredCard, typeOf, writtenCard } from './cards.load.ts';
import { EDIT } from './cards.patch.ts';
import {
  affected,
  lockRemoval,
  moveWrites,
  planRemoval,
  type RemovalPlan,
  type RemovalRequest,
} from './cards.removal.ts';
import { emitComputed, saveCards } from './cards.save.ts';
import { diffCard } from './rules/diff.ts';

/** Needed for deleting. */
export const DELETE = { app: 'inventory.delete', card: 'card.delete' } as const;

/**
 * Deletes a card for good, active or archived, with its children as the strategy says and related cards where
 * asked. Relations, tags, stakeholders and all that people attached to it go with it; its events stay, and the last one
 * tells all its values.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `children_present`, `too_many_descendants`,
 * `validation_failed`, `sibling_name_taken`.
 */
export async function deleteCard(ctx: Ctx, id: string, request: RemovalRequest): Promise<JsonText> {
  return await command(ctx, async (work) => {
    await lockHierarchy(work.sql, 'exclusive');
    const primary = requireCard(await loadCards(work, ctx, [id]), id);
    requireOnCard(ctx, DELETE, primary);
    if (ctx.ifMatch) checkIfMatch(ctx, await writtenCard(work.sql, ctx, primary.id));
    const plan = await deleteAll(work, ctx, [primary], request);
    return `{"deleted_card_ids":${JSON.stringify(plan.removed)},${affected(plan)}}`;
  });
}

/** Deletes cards under the exclusive hierarchy lock. @throws EstateError as {@link deleteCard}. */
export async function deleteAll(
  work: Work,
  ctx: Ctx,
  primaries: StoredCard[],
  request: RemovalRequest,
): Promise<RemovalPlan> {
  const plan = await planRemoval(work, ctx, primaries, request, 'delete');
  const cards = await lockRemoval(work, ctx, plan, 'delete');
  const removed = plan.removed.map((id) => requireCard(cards, id));
  requireOnCards(ctx, DELETE, removed);
  requireOnCards(
    ctx,
    EDIT,
    [...plan.moved.keys()].map((id) => requireCard(cards, id)),
  );
  await deleteRelations(work, ctx, plan.removed);
  await work.extensions.deleteWithCards(work, removed);
  await deleteTags(
    work,
    removed.map(({ id }) => id),
  );
  await deleteRows(work, ctx, removed);
  // read anew: what stays may have lost relations, and with them some of its score
  const staying = await loadCards(work, ctx, [...plan.moved.keys(), ...plan.levels.keys()]);
  await saveCards(work, ctx, moveWrites(work, plan, staying));
  return plan;
}

/** Deletes all relations of cards that leave. */
export async function deleteRelations(work: Work, ctx: Ctx, cardIds: string[]): Promise<void> {
  const { rows } = await work.sql.raw(
    `select r.id, r.type, r.source_id, r.target_id, r.attributes, r.description,
       s.name as source_name, s.type as source_type, t.name as target_name, t.type as target_type
     from relations r join cards s on s.id = r.source_id join cards t on t.id = r.target_id
     where r.id in (select id from relations where source_id = any(?::uuid[])
                    union select id from relations where target_id = any(?::uuid[]))
     order by r.id`,
    [cardIds, cardIds],
  );
  const ends = new Map<string, NamedEnd>();
  for (const row of rows) {
    ends.set(row.source_id, { id: row.source_id, name: row.source_name, type: row.source_type });
    ends.set(row.target_id, { id: row.target_id, name: row.target_name, type: row.target_type });
  }
  const writes = rows.map((before: StoredRelation) => ({ before, after: null }));
  await saveRelations(work, ctx, writes, ends, { leaving: new Set(cardIds) });
}

/**
 * Deletes the rows of cards and tells their last values; nothing may hang on them any more. What their parents compute
 * from them follows. `about` are further members of each event's data.
 */
export async function deleteRows(
  work: Work,
  ctx: Ctx,
  cards: StoredCard[],
  about: Record<string, unknown> = {},
): Promise<void> {
  const { rows: gone } = await work.sql.raw(
    'delete from cards where id = any(?::uuid[]) returning id, created_by, to_json(created_at) as created_at',
    [cards.map((card) => card.id)],
  );
  const made = new Map<string, { created_at: string; created_by: string | null }>(
    gone.map(({ id, ...facts }: { id: string; created_at: string; created_by: string | null }) => [
      id,
      facts,
    ]),
  );
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
  await noteRuns(work, runs);
  emitComputed(work, computed.values());
}
