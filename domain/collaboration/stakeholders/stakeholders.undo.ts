import { cardsTopic } from '../../inventory/cards/cards.events.ts';
import { loadCards, lockCards, typeOf } from '../../inventory/cards/cards.load.ts';
import { rescoreCards } from '../../inventory/cards/cards.save.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { insertRow } from '../../kernel/events/stored-rows.ts';
import type { UndoneEvent, UndoRefusal, UndoSpec } from '../../kernel/undo/undo.types.ts';
import { toldRow } from '../told.rows.ts';
import { type StakeholderRow, stakeholderEvent } from './stakeholders.events.ts';

/** Brings an assignment back to what it was, with the card's score; a user or card that is gone is in the way. */
async function undo(work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const { sql } = work;
  const cardId = event.card_id!;
  await lockCards(work, [cardId]);
  const card = (await loadCards(work, ctx, [cardId])).get(cardId);
  if (!card) return { code: 'missing_card', message: `The card ${cardId} is gone.` };
  const { rows } = await sql.raw('select to_jsonb(s) as row from stakeholders s where id = ?', [event.id]);
  const present: StakeholderRow | null = rows[0]?.row ?? null;
  const userId = String(event.data.user_id);
  const user = await sql('users').where({ id: userId }).first('display_name');
  if (!user) return { code: 'missing_user', message: `The user ${userId} is gone.` };

  let after: StakeholderRow | null = null;
  if (event.event_type === 'stakeholder.added') {
    await sql('stakeholders').where({ id: event.id }).delete();
  } else if (event.event_type === 'stakeholder.removed') {
    after = (await insertRow(sql, 'stakeholders', toldRow(event, 'old'))) as StakeholderRow;
  } else if (present) {
    const role = String(event.data.changes.role!.old);
    await sql('stakeholders').where({ id: event.id }).update({ role });
    after = { ...present, role };
  }
  if (!present && !after) return null;
  const type = typeOf(work.metamodel, card);
  work.emit(stakeholderEvent(card, type, user.display_name, present, after));
  work.raise(cardsTopic(type.key));
  await rescoreCards(work, ctx, [cardId]);
  await work.extensions.stakeholdersChanged(work, type.key, [cardId]);
  return null;
}

export const stakeholderUndo: UndoSpec = {
  entity: 'stakeholder',
  table: 'stakeholders',
  events: {
    created: ['stakeholder.added'],
    updated: ['stakeholder.role_changed'],
    deleted: ['stakeholder.removed'],
  },
  undo,
};
