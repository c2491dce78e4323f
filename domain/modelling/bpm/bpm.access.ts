import type { Sql } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { type CardWithAccess, findCard, requireVisibleCard } from '../../collaboration/cards.access.ts';
import { loadCards, lockCards, type StoredCard } from '../../inventory/cards/cards.load.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { type CardRight, requireOnCard } from '../../kernel/permissions/policy.ts';
import { PROCESS } from './bpm.model.ts';

/** The rights on the flow of a process: by permission, or by a stakeholder role on the process. */
export const rights = {
  /** See drafts and earlier published versions. */
  viewDrafts: { app: 'bpm.view', card: 'card.view' },
  /** Save the diagram, and link its elements. */
  edit: { app: 'bpm.edit', card: 'card.bpm_edit' },
  /** Write drafts and submit them. */
  drafts: { app: 'bpm.manage_drafts', card: 'card.bpm_manage_drafts' },
  /** Approve or reject submitted versions. */
  approve: { app: 'bpm.approve_flows', card: 'card.bpm_approve' },
} as const satisfies Record<string, CardRight>;

/** A visible process. @throws EstateError `not_found` also for cards of other types, `forbidden`. */
export async function requireSeenProcess(sql: Sql, ctx: Ctx, id: string): Promise<CardWithAccess> {
  const card = await requireVisibleCard(sql, ctx, id);
  if (card.type !== PROCESS) throw notFound('process', id);
  return card;
}

/** {@link requireSeenProcess} for callers who may see drafts. @throws EstateError `not_found`, `forbidden`. */
export async function requireDraftViewer(sql: Sql, ctx: Ctx, id: string): Promise<CardWithAccess> {
  const card = await requireSeenProcess(sql, ctx, id);
  requireOnCard(ctx, rights.viewDrafts, card);
  return card;
}

/**
 * Checks that the caller may write to the process, before a model is read, which takes time; saving checks it again.
 * @throws EstateError `not_found`, `forbidden`.
 */
export async function requireWriter(ctx: Ctx, id: string, right: CardRight): Promise<void> {
  const process = await findCard(ctx.db, ctx, id);
  const isShown = ctx.metamodel.visibleTypes.includes(PROCESS);
  if (process?.type !== PROCESS || !isShown) throw notFound('process', id);
  requireOnCard(ctx, right, process);
}

/**
 * A process, locked: writes to its diagrams, links and flows are executed one after the other.
 * @throws EstateError `not_found`, `forbidden`, `wrong_state` for an archived one.
 */
export async function lockProcess(work: Work, ctx: Ctx, id: string, right: CardRight): Promise<StoredCard> {
  await lockCards(work, [id]);
  const card = (await loadCards(work, ctx, [id])).get(id.toLowerCase());
  if (!card || card.type !== PROCESS) throw notFound('process', id);
  requireOnCard(ctx, right, card);
  if (card.status !== 'ACTIVE') throw new EstateError('wrong_state', 'The process is archived.');
  return card;
}
