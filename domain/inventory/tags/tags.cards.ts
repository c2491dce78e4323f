import { counted } from '../../../platform/counted.ts';
import { embed, query, type Transaction } from '../../../platform/database.ts';
import { EstateError, type FieldError, invalidFields, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { type EventDraft, rowEvent } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { DEFAULT_LANGUAGE } from '../../kernel/metamodel/languages.ts';
import type { TagGroupRow } from '../../kernel/metamodel/metamodel.model.ts';
import { METAMODEL_TOPIC } from '../../kernel/metamodel/metamodel.store.ts';
import { insertRows } from '../../kernel/resources/rows.ts';
import type { UndoneEvent, UndoRefusal } from '../../kernel/undo/undo.types.ts';
import { cardsTopic } from '../cards/cards.events.ts';
import { loadCards, lockCard, lockCards, writtenCard } from '../cards/cards.load.ts';
import { rescoreCards } from '../cards/cards.save.ts';
import { EDIT } from '../cards/cards.write.ts';
import { updateInventory } from '../metamodel/changes/changes.inventory.ts';
import { openRun } from '../metamodel/changes/changes.run.ts';
import { type ChangeRun, changeWork } from '../metamodel/changes/changes.types.ts';
import { Tag, type TagRow } from './tags.model.ts';

/** A card in the events of its tags. */
interface TaggedCard {
  id: string;
  type: string;
  name: string;
}

/** A tag with the name of its group. */
interface NamedTag {
  id: string;
  name: string;
  group: string;
}

/** The event of a tag that was added to a card, or removed from it. */
export function tagEvent(card: TaggedCard, tag: NamedTag, added: boolean): EventDraft {
  return {
    event_type: added ? 'tag.added' : 'tag.removed',
    card_id: card.id,
    card_type: card.type,
    data: {
      id: card.id,
      type: card.type,
      name: card.name,
      tag_name: tag.name,
      group_name: tag.group,
      changes: { tag_id: added ? { old: null, new: tag.id } : { old: tag.id, new: null } },
    },
  };
}

/** The event of a written tag or tag group. */
export function catalogueEvent(
  entity: 'tag' | 'tag_group',
  before: object | null,
  after: object | null,
): EventDraft {
  const { id, name } = (after ?? before) as { id: string; name: string };
  return rowEvent(entity, before, after, { id, name });
}

/**
 * Creates tags besides other writes, which needs no lock of the metamodel as long as none is the first of a mandatory group: then
 * no rule changes. Concurrent writers of one tag wait for each other by its unique index, in the order of names.
 */
export async function createTags(
  work: Work,
  tags: readonly Pick<TagRow, 'id' | 'name' | 'tag_group_id'>[],
): Promise<void> {
  if (tags.length === 0) return;
  const key = (tag: (typeof tags)[number]) => `${tag.tag_group_id} ${tag.name.toLowerCase()}`;
  const ordered = tags.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
  const rows = ordered.map((tag) => ({ ...tag, sort_order: 0 }));
  for (const row of await insertRows(work.sql, Tag, rows)) work.emit(catalogueEvent('tag', null, row));
  work.raise(METAMODEL_TOPIC);
}

const CHUNK = 500;

/**
 * Checks that the tags of the group on cards are still allowed.
 * @throws EstateError `tag_in_use` with the number of cards with a tag that is not allowed.
 */
export async function requireFits(sql: Transaction, group: TagGroupRow): Promise<void> {
  const counts = await query(sql).row<{ several: number; elsewhere: number }>`
       select count(*) filter (where tags > 1)::int as several,
       count(*) filter (where not coalesce(type = any(${group.restrict_to_types}::text[]),
       true))::int as elsewhere
     from (select c.id, c.type, count(*) as tags from card_tags k join tags t on t.id = k.tag_id
           join cards c on c.id = k.card_id where t.tag_group_id = ${group.id} group by c.id, c.type) tagged`;
  const { several, elsewhere } = counts!;
  if (group.mode === 'single' && several > 0) {
    throw new EstateError('tag_in_use', `Several tags of the group are on ${counted(several, 'card')}.`, {
      extra: { card_count: several },
    });
  }
  if (elsewhere > 0) {
    const detail = `A tag of the group is on ${counted(elsewhere, 'card')} of other types.`;
    throw new EstateError('tag_in_use', detail, { extra: { card_count: elsewhere } });
  }
}

/** A tag that was removed from a card. */
interface RemovedTag extends TaggedCard {
  tag_id: string;
  tag_name: string;
  group: string;
}

/** Deletes the tags of cards by a condition on `card_tags`, limited in number if requested. */
async function deleteCardTags(work: Work, where: string, ids: readonly string[]): Promise<RemovedTag[]> {
  const removed = await query(work.sql).rows<RemovedTag>`with deleted as (delete from card_tags
    where ${embed({ sql: where, bindings: [ids] })} returning card_id, tag_id)
     select c.id, c.type, c.name, t.id as tag_id, t.name as tag_name, g.name as "group"
     from deleted join cards c on c.id = deleted.card_id join tags t on t.id = deleted.tag_id
     join tag_groups g on g.id = t.tag_group_id order by c.id, t.id`;
  for (const { tag_id, tag_name, group, ...card } of removed) {
    work.emit(tagEvent(card, { id: tag_id, name: tag_name, group }, false));
    work.raise(cardsTopic(card.type));
  }
  return removed;
}

/**
 * Removes tags from all cards, with an event for each. Call `rescore` when the new metamodel is active: it updates the
 * data quality of the cards.
 */
export async function removeTags(run: ChangeRun, tagIds: string[]): Promise<{ rescore(): Promise<void> }> {
  const { sql } = run.work;
  const [count] = await sql('card_tags').whereIn('tag_id', tagIds).count('* as links');
  const writing = await changeWork(run, Number(count!.links));
  const cards = new Set<string>();
  const where = `ctid in (select ctid from card_tags where tag_id = any(?::uuid[]) limit ${CHUNK})`;
  for (let more = true; more; ) {
    const removed = await deleteCardTags(writing, where, tagIds);
    for (const { id } of removed) cards.add(id);
    await run.held?.flush();
    more = removed.length === CHUNK;
  }
  return {
    async rescore() {
      const ids = [...cards];
      for (let from = 0; from < ids.length; from += CHUNK) {
        const scoring: Work = { ...writing, metamodel: run.work.metamodel };
        await rescoreCards(scoring, run.ctx, ids.slice(from, from + CHUNK));
        await run.held?.flush();
      }
    },
  };
}

/** Removes all tags from cards that are going to be deleted, with an event for each. */
export async function deleteTags(work: Work, cardIds: readonly string[]): Promise<void> {
  await deleteCardTags(work, 'card_id = any(?::uuid[])', cardIds);
}

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
    const errors: FieldError[] = [];
    const single = new Map<string, string>();
    for (const [n, given] of tagIds.entries()) {
      const id = given.toLowerCase();
      const tag = known.get(id);
      const field = `tag_ids.${n}`;
      if (!tag) errors.push({ field, code: 'unknown_tag', message: `there is no tag ${given}` });
      else if (tag.types && !tag.types.includes(card.type)) {
        const message = `the tags of ${tag.group} are not for cards of the type ${card.type}`;
        errors.push({ field, code: 'tag_not_allowed', message });
      } else if (tag.mode === 'single') {
        if (tag.beside || (single.get(tag.group_id) ?? id) !== id) {
          const detail = `A card has at most one tag of ${tag.group}; remove the other first.`;
          throw new EstateError('single_tag', detail);
        }
        single.set(tag.group_id, id);
      }
    }
    if (errors.length > 0) throw invalidFields(errors);
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

/** Keeps a tag that other writes have added to cards: its removal would take it from them. */
export async function keepUsedTag({ sql }: Work, event: UndoneEvent): Promise<UndoRefusal | null> {
  if (event.event_type !== 'tag.created') return null;
  const { cards } = (await query(sql).row<{ cards: number }>`select count(*)::int as cards from card_tags
    where tag_id = ${event.id}`)!;
  if (cards === 0) return null;
  return { code: 'tag_in_use', message: `The tag is still on ${counted(cards, 'card')}.` };
}

/** Updates the data quality that depends on a restored tag or tag group. */
export async function rescoreAfterUndo(work: Work, ctx: Ctx): Promise<null> {
  const run = openRun(work, ctx, { language: DEFAULT_LANGUAGE });
  await updateInventory(run);
  await run.held?.record();
  return null;
}
