import { query } from '../../../platform/database.ts';
import { EstateError, type FieldError, invalidFields, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { TagGroup } from '../../kernel/metamodel/metamodel.model.ts';
import { METAMODEL_TOPIC } from '../../kernel/metamodel/metamodel.store.ts';
import { deleteRows, insertRow, lockRow, type RowModel, updateRow } from '../../kernel/resources/rows.ts';
import { columnsBefore, type UndoneEvent, type UndoRefusal } from '../../kernel/undo/undo.types.ts';
import { cardsTopic } from '../cards/cards.events.ts';
import { loadCards, lockCard, lockCards, writtenCard } from '../cards/cards.load.ts';
import { rescoreCards } from '../cards/cards.save.ts';
import { EDIT } from '../cards/cards.write.ts';
import { openRun } from '../metamodel/changes/changes.run.ts';
import { updateInventory } from '../metamodel/changes/restate.ts';
import { catalogueEvent, type NamedTag, tagEvent } from './tags.events.ts';
import { Tag } from './tags.model.ts';

interface KnownTag extends NamedTag {
  group_id: string;
  mode: 'single' | 'multi';
  types: string[] | null;
  /** Whether the card has the tag. */
  present: boolean;
  /** Whether the card has another tag of the group. */
  beside: boolean;
}

/**
 * Adds tags to a card and updates its data quality. @returns the whole card.
 * @throws EstateError `not_found`, `forbidden`, `validation_failed` naming each tag that is unknown or not for the type,
 * `single_tag` when a group allows one tag and the card would have two.
 */
export async function addTags(ctx: Ctx, cardId: string, tagIds: string[]): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const card = await lockCard(work, ctx, cardId, EDIT);
    const rows = await query(sql).rows<KnownTag>`select t.id, t.name, g.name as "group", g.id as group_id,
      g.mode, g.restrict_to_types as types,
         exists (select from card_tags k where k.card_id = ${card.id}::uuid and k.tag_id = t.id) as present,
         exists (select from card_tags k join tags o on o.id = k.tag_id where k.card_id = ${card.id}::uuid
           and o.tag_group_id = g.id and o.id <> t.id) as beside
       from tags t join tag_groups g on g.id = t.tag_group_id where t.id = any(${tagIds}::uuid[])`;
    const known = new Map(rows.map((tag) => [tag.id, tag]));
    const faults: FieldError[] = [];
    const single = new Map<string, string>();
    for (const [n, given] of tagIds.entries()) {
      const id = given.toLowerCase();
      const tag = known.get(id);
      const field = `tag_ids.${n}`;
      if (!tag) faults.push({ field, code: 'unknown_tag', message: `there is no tag ${given}` });
      else if (tag.types && !tag.types.includes(card.type)) {
        const message = `the tags of ${tag.group} are not for cards of the type ${card.type}`;
        faults.push({ field, code: 'tag_not_allowed', message });
      } else if (tag.mode === 'single') {
        if (tag.beside || (single.get(tag.group_id) ?? id) !== id) {
          throw new EstateError(
            'single_tag',
            `A card has at most one tag of ${tag.group}; remove the other first.`,
          );
        }
        single.set(tag.group_id, id);
      }
    }
    if (faults.length > 0) throw invalidFields(faults);
    const added = rows.filter((tag) => !tag.present).sort((a, b) => (a.id < b.id ? -1 : 1));
    if (added.length > 0) {
      await sql('card_tags').insert(added.map((tag) => ({ card_id: card.id, tag_id: tag.id })));
      for (const tag of added) work.emit(tagEvent(card, tag, true));
      work.raise(cardsTopic(card.type));
      await rescoreCards(work, ctx, [card.id]);
    }
    return await writtenCard(sql, ctx, card.id);
  });
}

/** Removes a tag from a card and updates its data quality. @throws EstateError `not_found`, `forbidden`. */
export async function removeTag(ctx: Ctx, cardId: string, tagId: string): Promise<void> {
  await command(ctx, async (work) => {
    const { sql } = work;
    const card = await lockCard(work, ctx, cardId, EDIT);
    const [tag] = await query(sql).rows<NamedTag>`with deleted as (delete from card_tags
      where card_id = ${card.id} and tag_id = ${tagId} returning tag_id)
       select t.id, t.name, g.name as "group" from deleted join tags t on t.id = deleted.tag_id
       join tag_groups g on g.id = t.tag_group_id`;
    if (!tag) throw notFound('tag of the card', tagId);
    work.emit(tagEvent(card, tag, false));
    work.raise(cardsTopic(card.type));
    await rescoreCards(work, ctx, [card.id]);
  });
}

/** Adds a tag to a card again, or removes it again, and updates the card's score. */
export async function undoCardTag(work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const { sql } = work;
  const added = event.event_type === 'tag.added';
  const { old: before, new: after } = event.data.changes.tag_id!;
  const tagId = String(added ? after : before);
  await lockCards(work, [event.id]);
  const card = (await loadCards(work, ctx, [event.id])).get(event.id);
  if (!card) return { code: 'missing_card', message: `The card ${event.id} does not exist.` };
  const [tag] = await query(sql).rows<NamedTag>`select t.id, t.name, g.name as "group" from tags t
    join tag_groups g on g.id = t.tag_group_id where t.id = ${tagId}`;
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
  await updateInventory(run);
  await run.held?.record();
  return null;
}
