import { queryRows } from '../../../platform/database.ts';
import { EstateError, type FieldError, invalidFields, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requireOnCard } from '../../kernel/permissions/policy.ts';
import { cardsTopic } from '../cards/cards.events.ts';
import { loadCards, lockCards, requireCard, writtenCard } from '../cards/cards.load.ts';
import { EDIT } from '../cards/cards.patch.ts';
import { rescoreCards } from '../cards/cards.save.ts';
import { type NamedTag, tagEvent } from './tags.events.ts';

interface KnownTag extends NamedTag {
  group_id: string;
  mode: 'single' | 'multi';
  types: string[] | null;
  /** Whether the card has it. */
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
    await lockCards(work, [cardId]);
    const card = requireCard(await loadCards(work, ctx, [cardId]), cardId);
    requireOnCard(ctx, EDIT, card);
    const rows = await queryRows<KnownTag>(
      sql,
      `select t.id, t.name, g.name as "group", g.id as group_id, g.mode, g.restrict_to_types as types,
         exists (select from card_tags k where k.card_id = ?::uuid and k.tag_id = t.id) as present,
         exists (select from card_tags k join tags o on o.id = k.tag_id where k.card_id = ?::uuid
           and o.tag_group_id = g.id and o.id <> t.id) as beside
       from tags t join tag_groups g on g.id = t.tag_group_id where t.id = any(?::uuid[])`,
      [card.id, card.id, tagIds],
    );
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
    await lockCards(work, [cardId]);
    const card = requireCard(await loadCards(work, ctx, [cardId]), cardId);
    requireOnCard(ctx, EDIT, card);
    const [tag] = await queryRows<NamedTag>(
      sql,
      `with deleted as (delete from card_tags where card_id = ? and tag_id = ? returning tag_id)
       select t.id, t.name, g.name as "group" from deleted join tags t on t.id = deleted.tag_id
       join tag_groups g on g.id = t.tag_group_id`,
      [card.id, tagId],
    );
    if (!tag) throw notFound('tag of the card', tagId);
    work.emit(tagEvent(card, tag, false));
    work.raise(cardsTopic(card.type));
    await rescoreCards(work, ctx, [card.id]);
  });
}
