import { sqlState } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { cardsTopic } from '../../inventory/cards/cards.events.ts';
import {
  loadCards,
  lockCards,
  requireCard,
  type StoredCard,
  typeOf,
} from '../../inventory/cards/cards.load.ts';
import { rescoreCards } from '../../inventory/cards/cards.save.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { findItem } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { forbidden, requireOnCard, seesCosts, showsCosts } from '../../kernel/permissions/policy.ts';
import { deleteRows, insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { Stakeholder, type StakeholderRow } from '../collaboration.model.ts';
import { requireActiveUser, type WrittenItem } from '../items.ts';
import { stakeholderEvent } from './stakeholders.events.ts';
import { stakeholderList } from './stakeholders.list.ts';

const MANAGE = { app: 'stakeholders.manage', card: 'card.manage_stakeholders' } as const;

export interface StakeholderInput {
  user_id: string;
  role: string;
}

/**
 * Gives a user a role on a card, and recomputes the card's data quality. Only callers who see the card's costs may give a role
 * that shows them.
 * @throws EstateError `not_found`, `forbidden`, `validation_failed`, `duplicate_stakeholder`.
 */
export async function addStakeholder(
  ctx: Ctx,
  cardId: string,
  input: StakeholderInput,
): Promise<WrittenItem> {
  return await command(ctx, async (work) => {
    const card = await lockedCard(work, ctx, cardId);
    requireOnCard(ctx, MANAGE, card);
    requireRole(work, card, input.role);
    requireSeenCosts(ctx, card, input.role);
    const user = await requireActiveUser(work.sql, input.user_id, 'user_id');
    return await assign(work, ctx, card, user, input.role);
  });
}

/** Writes an assignment after all checks. @throws EstateError `duplicate_stakeholder`. */
export async function assign(
  work: Work,
  ctx: Ctx,
  card: StoredCard,
  user: { id: string; display_name: string },
  role: string,
): Promise<WrittenItem> {
  const row = await guardDuplicate(() =>
    insertRow(work.sql, Stakeholder, { card_id: card.id, user_id: user.id, role }),
  );
  await emitStakeholder(work, ctx, card, user.display_name, null, row);
  return { id: row.id, text: (await findItem(work.sql, stakeholderList, row.id))! };
}

/**
 * Changes the role of an assignment by the rules of giving one. `user_id` may be sent, but must be unchanged.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `validation_failed`, `duplicate_stakeholder`.
 */
export async function changeStakeholder(
  ctx: Ctx,
  id: string,
  input: { role: string; user_id?: string },
): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { card, row, name } = await lockedAssignment(work, ctx, id);
    if (input.user_id !== undefined && input.user_id.toLowerCase() !== row.user_id) {
      throw invalidField(
        'user_id',
        'immutable',
        'cannot be changed; remove the assignment and create another',
      );
    }
    if (input.role !== row.role) {
      requireRole(work, card, input.role);
      requireSeenCosts(ctx, card, input.role);
      const after = await guardDuplicate(() =>
        updateRow(work.sql, Stakeholder, { id: row.id }, { role: input.role }),
      );
      await emitStakeholder(work, ctx, card, name, row, after);
    }
    return (await findItem(work.sql, stakeholderList, row.id))!;
  });
}

/** Takes a role from its holder. @throws EstateError `not_found`, `forbidden`, `precondition_failed`. */
export async function removeStakeholder(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    const { card, row, name } = await lockedAssignment(work, ctx, id);
    await unassign(work, ctx, card, name, row);
  });
}

/** Deletes an assignment whose card is locked. */
export async function unassign(
  work: Work,
  ctx: Ctx,
  card: StoredCard,
  name: string,
  row: StakeholderRow,
): Promise<void> {
  await deleteRows(work.sql, Stakeholder, (query) => query.where({ id: row.id }));
  await emitStakeholder(work, ctx, card, name, row, null);
}

/** A card of a visible type, locked because its score depends on its stakeholders. @throws EstateError `not_found`. */
export async function lockedCard(work: Work, ctx: Ctx, id: string): Promise<StoredCard> {
  await lockCards(work, [id]);
  return requireCard(await loadCards(work, ctx, [id]), id);
}

async function lockedAssignment(work: Work, ctx: Ctx, id: string) {
  const known = await work.sql('stakeholders').where({ id }).first('card_id');
  if (!known) throw notFound('stakeholder', id);
  const card = await lockedCard(work, ctx, known.card_id).catch((error: unknown) => {
    throw error instanceof EstateError ? notFound('stakeholder', id) : error;
  });
  requireOnCard(ctx, MANAGE, card);
  const row = await lockRow(work.sql, Stakeholder, { id: id.toLowerCase() });
  // another transaction may have removed it before this one got the lock of the card
  if (!row) throw notFound('stakeholder', id);
  if (ctx.ifMatch) checkIfMatch(ctx, (await findItem(work.sql, stakeholderList, id))!);
  const user = await work.sql('users').where({ id: row.user_id }).first('display_name');
  return { card, row, name: user.display_name as string };
}

/** Emits the event of a written assignment, and updates what depends on it. */
export async function emitStakeholder(
  work: Work,
  ctx: Ctx,
  card: StoredCard,
  name: string,
  before: StakeholderRow | null,
  after: StakeholderRow | null,
): Promise<void> {
  const type = typeOf(work.metamodel, card);
  work.emit(stakeholderEvent(card, type, name, before, after));
  work.raise(cardsTopic(type.key));
  await rescoreCards(work, ctx, [card.id]);
  await work.extensions.stakeholdersChanged(work, type.key, [card.id]);
}

function requireRole(work: Work, card: StoredCard, role: string): void {
  const roles = typeOf(work.metamodel, card).stakeholderRoles.map(({ key }) => key);
  if (roles.includes(role)) return;
  throw invalidField(
    'role',
    'unknown_value',
    `is not a role on cards of the type ${card.type}: ${roles.join(', ')}`,
  );
}

function requireSeenCosts(ctx: Ctx, card: StoredCard, role: string): void {
  if (showsCosts(role) && !seesCosts(ctx, card)) throw forbidden('costs.view');
}

async function guardDuplicate<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (sqlState(error) !== '23505') throw error;
    throw new EstateError('duplicate_stakeholder', 'The user already has this role on the card.', {
      cause: error,
    });
  }
}
