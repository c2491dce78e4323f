import { loadCards, lockCards } from '../../inventory/cards/cards.load.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { deleteRows, insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import type { UndoneEvent, UndoRefusal } from '../../kernel/undo/undo.types.ts';
import { Stakeholder, type StakeholderRow } from '../collaboration.model.ts';
import { eventRow } from '../event.rows.ts';
import { emitStakeholder } from './stakeholders.commands.ts';

/** Restores an assignment and the card's score; refused where the user or the card was deleted. */
export async function undoStakeholder(work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const { sql } = work;
  const cardId = event.card_id!;
  await lockCards(work, [cardId]);
  const card = (await loadCards(work, ctx, [cardId])).get(cardId);
  if (!card) return { code: 'missing_card', message: `The card ${cardId} was deleted.` };
  const present = await lockRow(sql, Stakeholder, { id: event.id });
  const userId = String(event.data.user_id);
  const user = await sql('users').where({ id: userId }).first('display_name');
  if (!user) return { code: 'missing_user', message: `The user ${userId} was deleted.` };

  let after: StakeholderRow | null = null;
  if (event.event_type === 'stakeholder.added') {
    await deleteRows(sql, Stakeholder, (query) => query.where({ id: event.id }));
  } else if (event.event_type === 'stakeholder.removed') {
    after = await insertRow(sql, Stakeholder, eventRow<StakeholderRow>(event, 'old'));
  } else if (present) {
    const role = String(event.data.changes.role!.old);
    after = await updateRow(sql, Stakeholder, { id: event.id }, { role });
  }
  if (!present && !after) return null;
  await emitStakeholder(work, ctx, card, user.display_name, present ?? null, after);
  return null;
}
