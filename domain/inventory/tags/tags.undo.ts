import { queryRows } from '../../../platform/database.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import { TagGroup } from '../../kernel/metamodel/metamodel.model.ts';
import { METAMODEL_TOPIC } from '../../kernel/metamodel/metamodel.store.ts';
import { deleteRows, insertRow, lockRow, type RowModel, updateRow } from '../../kernel/resources/rows.ts';
import { columnsBefore, type UndoneEvent, type UndoRefusal } from '../../kernel/undo/undo.types.ts';
import { cardsTopic } from '../cards/cards.events.ts';
import { loadCards, lockCards } from '../cards/cards.load.ts';
import { rescoreCards } from '../cards/cards.save.ts';
import { openRun } from '../metamodel/changes/changes.run.ts';
import { restateInventory } from '../metamodel/changes/restate.ts';
import { catalogueEvent, type NamedTag, tagEvent } from './tags.events.ts';
import { Tag } from './tags.model.ts';

/** Adds a tag to a card again, or removes it again, and updates the card's score. */
export async function undoCardTag(work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const { sql } = work;
  const added = event.event_type === 'tag.added';
  const { old: before, new: after } = event.data.changes.tag_id!;
  const tagId = String(added ? after : before);
  await lockCards(work, [event.id]);
  const card = (await loadCards(work, ctx, [event.id])).get(event.id);
  if (!card) return { code: 'missing_card', message: `The card ${event.id} does not exist.` };
  const [tag] = await queryRows<NamedTag>(
    sql,
    `select t.id, t.name, g.name as "group" from tags t join tag_groups g on g.id = t.tag_group_id where t.id = ?`,
    [tagId],
  );
  if (!tag) return added ? null : { code: 'missing_tag', message: `The tag ${tagId} does not exist.` };
  const row = { card_id: card.id, tag_id: tagId };
  const changed = added
    ? await sql('card_tags').where(row).delete()
    : (await sql('card_tags').insert(row).onConflict().ignore().returning('tag_id')).length;
  if (changed === 0) return null;
  work.emit(tagEvent(card, tag, !added));
  work.raise(cardsTopic(card.type));
  await rescoreCards(work, ctx, [card.id]);
  return null;
}

/** Restores a tag group. */
export async function undoTagGroup(work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  return await undoRow(work, ctx, event, TagGroup);
}

/** Restores a tag. */
export async function undoTag(work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const group = event.data.changes.tag_group_id?.old;
  if (event.event_type === 'tag.deleted' && !(await lockRow(work.sql, TagGroup, { id: String(group) }))) {
    return { code: 'missing_group', message: `The tag group ${group} does not exist.` };
  }
  return await undoRow(work, ctx, event, Tag);
}

/** Restores a group or a tag, and the scores that depend on it. */
async function undoRow(
  work: Work,
  ctx: Ctx,
  { id, ...event }: UndoneEvent,
  model: RowModel,
): Promise<UndoRefusal | null> {
  const { sql } = work;
  const values = columnsBefore({ id, ...event });
  const present = (await lockRow(sql, model, { id })) ?? null;
  const entity = model === Tag ? 'tag' : 'tag_group';
  let after: StoredRow | null = null;
  if (event.event_type === `${entity}.created`) {
    if (!present) return null;
    await deleteRows(sql, model, (query) => query.where({ id }));
  } else if (event.event_type === `${entity}.deleted`) {
    if (present) return null;
    after = await insertRow(sql, model, { id, ...values });
  } else {
    if (!present) {
      return { code: 'missing', message: `The ${model === Tag ? 'tag' : 'tag group'} does not exist.` };
    }
    after = await updateRow(sql, model, { id }, values);
  }
  work.emit(catalogueEvent(entity, present, after));
  work.raise(METAMODEL_TOPIC);
  const run = openRun(work, ctx, { language: 'en' });
  await restateInventory(run);
  await run.held?.record();
  return null;
}
