import type { Knex } from 'knex';
import { counted } from '../../../platform/counted.ts';
import { query, queryRows } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import type { Work } from '../../kernel/context.ts';
import type { TagGroupRow } from '../../kernel/metamodel/metamodel.model.ts';
import { cardsTopic } from '../cards/cards.events.ts';
import { rescoreCards } from '../cards/cards.save.ts';
import { type ChangeRun, changeWork } from '../metamodel/changes/changes.types.ts';
import { type TaggedCard, tagEvent } from './tags.events.ts';

const CHUNK = 500;

/**
 * Checks that the tags of the group on cards are still allowed.
 * @throws EstateError `tag_in_use` with the number of cards with a tag that is not allowed.
 */
export async function requireFits(sql: Knex.Transaction, group: TagGroupRow): Promise<void> {
  const counts = await query(sql).row<{
    several: number;
    elsewhere: number;
  }>`select count(*) filter (where tags > 1)::int as several,
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
    throw new EstateError(
      'tag_in_use',
      `A tag of the group is on ${counted(elsewhere, 'card')} of other types.`,
      {
        extra: { card_count: elsewhere },
      },
    );
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
  const removed = await queryRows<RemovedTag>(
    work.sql,
    `with deleted as (delete from card_tags where ${where} returning card_id, tag_id)
     select c.id, c.type, c.name, t.id as tag_id, t.name as tag_name, g.name as "group"
     from deleted join cards c on c.id = deleted.card_id join tags t on t.id = deleted.tag_id
     join tag_groups g on g.id = t.tag_group_id order by c.id, t.id`,
    [ids],
  );
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
