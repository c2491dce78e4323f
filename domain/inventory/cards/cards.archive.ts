import { EstateError, invalidFields } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requireOnCard, requireOnCards } from '../../kernel/permissions/policy.ts';
import {
  loadCards,
  loadChangeable,
  lockCard,
  lockCards,
  lockHierarchy,
  requireCard,
  type StoredCard,
  typeOf,
  writtenCard,
} from './cards.load.ts';
import {
  ARCHIVE,
  affectedMembers,
  moveWrites,
  prepareRemoval,
  type RemovalPlan,
  type RemovalRequest,
  withLevel,
} from './cards.removal.ts';
import { type CardWrite, newIds, saveCards } from './cards.save.ts';
import type { ApprovalStatus } from './rules/diff.ts';
import { missingForApproval } from './rules/quality.ts';

/**
 * Archives a card, its active children according to the strategy and, if requested, related cards. All cards that one
 * operation archives carry its id, so that they can be restored together.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `wrong_state`, `children_present`,
 * `too_many_descendants`, `validation_failed`, `sibling_name_taken`.
 */
export async function archiveCard(ctx: Ctx, id: string, request: RemovalRequest): Promise<JsonText> {
  return await command(ctx, async (work) => {
    await lockHierarchy(work.sql, 'exclusive');
    const primary = await loadChangeable(work, ctx, id, ARCHIVE);
    if (primary.status === 'ARCHIVED') throw new EstateError('wrong_state', 'The card is archived already.');
    const plan = await archiveAll(work, ctx, [primary], request);
    return `{"primary":${await writtenCard(work.sql, ctx, primary.id)},${affectedMembers(plan)}}`;
  });
}

/**
 * Archives active cards under the exclusive hierarchy lock. Cards that are archived with a card carry the id of that
 * card's archiving.
 * @throws EstateError as {@link archiveCard}.
 */
export async function archiveAll(
  work: Work,
  ctx: Ctx,
  primaries: StoredCard[],
  request: RemovalRequest,
): Promise<RemovalPlan> {
  const { plan, cards, removed } = await prepareRemoval(work, ctx, primaries, request, 'archive');
  const acts = await actsOf(work, plan, primaries, cards);
  const archived_at = new Date().toISOString();
  await saveCards(work, ctx, [
    ...removed.map((before): CardWrite => {
      const state = { status: 'ARCHIVED' as const, archived_at, archive_batch_id: acts.get(before.id)! };
      return { before, after: { ...withLevel(plan, before), ...state }, event: 'card.archived' };
    }),
    ...moveWrites(work, plan, cards),
  ]);
  return plan;
}

/** The id of the archiving operation of each card: one for each given card and its descendants. */
async function actsOf(
  work: Work,
  plan: RemovalPlan,
  primaries: StoredCard[],
  cards: ReadonlyMap<string, StoredCard>,
): Promise<Map<string, string>> {
  const ids = await newIds(work, primaries.length);
  const acts = new Map(primaries.map((card, n) => [card.id, ids[n]!]));
  const actOf = (id: string): string => {
    const known = acts.get(id);
    if (known) return known;
    const act = actOf(cards.get(id)!.parent_id!);
    acts.set(id, act);
    return act;
  };
  // A card related to several of them belongs to the first.
  for (const id of plan.related) acts.set(id, ids[0]!);
  for (const id of plan.cascaded) actOf(id);
  return acts;
}

/**
 * Restores an archived card and the selected cards that were archived with it. A card whose parent is archived is
 * restored together with it, or after it.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `wrong_state`, `validation_failed`,
 * `sibling_name_taken`.
 */
export async function restoreCard(
  ctx: Ctx,
  id: string,
  request: { also_restore_card_ids?: string[] },
): Promise<JsonText> {
  return await command(ctx, async (work) => {
    await lockHierarchy(work.sql, 'exclusive');
    const named = [...new Set((request.also_restore_card_ids ?? []).map((other) => other.toLowerCase()))];
    await lockCards(work, [id, ...named]);
    const cards = await loadCards(work, ctx, [id, ...named]);
    const primary = requireCard(cards, id);
    requireOnCard(ctx, ARCHIVE, primary);
    if (ctx.ifMatch) checkIfMatch(ctx, await writtenCard(work.sql, ctx, primary.id));
    if (primary.status === 'ACTIVE') throw new EstateError('wrong_state', 'The card is not archived.');
    const errors = named.flatMap((other, index) => {
      const card = cards.get(other);
      const passenger =
        card?.status === 'ARCHIVED' &&
        card.archive_batch_id !== null &&
        card.archive_batch_id === primary.archive_batch_id;
      if (passenger) return [];
      const message = 'is no archived card that was archived together with this one';
      return { field: `also_restore_card_ids.${index}`, code: 'no_passenger', message };
    });
    if (errors.length > 0) throw invalidFields(errors);
    const passengers = named.filter((other) => other !== primary.id);
    await restoreAll(work, ctx, [primary, ...passengers.map((other) => requireCard(cards, other))]);
    const text = await writtenCard(work.sql, ctx, primary.id);
    return `{"primary":${text},"restored_passenger_ids":${JSON.stringify(passengers)}}`;
  });
}

/**
 * Restores locked, archived cards under the exclusive hierarchy lock. A parent among them is restored with its
 * children.
 * @throws EstateError `forbidden`, `wrong_state` below an archived card, `sibling_name_taken`.
 */
export async function restoreAll(work: Work, ctx: Ctx, restored: StoredCard[]): Promise<void> {
  requireOnCards(ctx, ARCHIVE, restored);
  await requireActiveParents(work, restored);
  await saveCards(
    work,
    ctx,
    restored.map((before) => {
      const after = { ...before, status: 'ACTIVE' as const, archived_at: null, archive_batch_id: null };
      return { before, after, event: 'card.restored' };
    }),
  );
}

/** Checks that no active card would be below an archived one. */
async function requireActiveParents({ sql }: Work, restored: StoredCard[]): Promise<void> {
  const ids = new Set(restored.map((card) => card.id));
  const parents = restored.flatMap((card) =>
    card.parent_id === null || ids.has(card.parent_id) ? [] : [card.parent_id],
  );
  if (parents.length === 0) return;
  const archived = await sql('cards').whereIn('id', parents).where({ status: 'ARCHIVED' }).first('id');
  if (!archived) return;
  throw new EstateError(
    'wrong_state',
    'The parent of the card is archived: restore it first, restore both together, or give the card another parent.',
    { extra: { archived_parent_id: archived.id } },
  );
}

export type ApprovalAction = 'approve' | 'reject' | 'reset';

const statusAfter: Record<ApprovalAction, ApprovalStatus> = {
  approve: 'APPROVED',
  reject: 'REJECTED',
  reset: 'DRAFT',
};

export const APPROVE = { app: 'inventory.approval_status', card: 'card.approval_status' } as const;

/**
 * Approves, rejects or resets an active card. Nothing is written if it already has the status.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `wrong_state`, and
 * `approval_blocked_mandatory_missing` naming mandatory relations and tag groups that the card lacks.
 */
export async function setApproval(ctx: Ctx, id: string, action: ApprovalAction): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const card = await lockCard(work, ctx, id, APPROVE);
    await saveCards(work, ctx, [approvalWrite(work, card, action)]);
    return await writtenCard(work.sql, ctx, card.id);
  });
}

/** The write of an approval. @throws EstateError as {@link setApproval}. */
export function approvalWrite(work: Work, card: StoredCard, action: ApprovalAction): CardWrite {
  if (card.status === 'ARCHIVED') {
    throw new EstateError('wrong_state', 'An archived card has no approval; restore it first.');
  }
  if (action === 'approve') {
    const missing = missingForApproval(typeOf(work.metamodel, card), card.filled);
    if (missing.missing_relations.length + missing.missing_tag_groups.length > 0) {
      const detail = 'The card lacks mandatory relations or tags.';
      throw new EstateError('approval_blocked_mandatory_missing', detail, { extra: { ...missing } });
    }
  }
  const after = { ...card, approval_status: statusAfter[action] };
  return { before: card, after, event: `card.approval_status.${action}` };
}
