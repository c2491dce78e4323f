import type { Knex } from 'knex';
import { EstateError } from '../../../platform/errors.ts';
import type { Work } from '../../kernel/context.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import { cardsTopic } from '../cards/cards.events.ts';
import { rescoreCards } from '../cards/cards.save.ts';
import { type ChangeRun, workOf } from '../metamodel/changes/changes.types.ts';
import { type TaggedCard, tagEvent } from './tags.events.ts';

const CHUNK = 500;

/**
 * Whether what cards have fits the group as it is now.
 * @throws EstateError `tag_in_use` with the number of cards that it does not fit.
 */
export async function requireFits(sql: Knex.Transaction, group: StoredRow): Promise<void> {
  const types = group.restrict_to_types as string[] | null;
  const { rows } = await sql.raw(
    `select count(*) filter (where tags > 1)::int as several,
       count(*) filter (where not coalesce(type = any(?::text[]), true))::int as elsewhere
     from (select c.id, c.type, count(*) as tags from card_tags k join tags t on t.id = k.tag_id
           join cards c on c.id = k.card_id where t.tag_group_id = ? group by c.id, c.type) tagged`,
    [types, group.id] as never,
  );
  const { several, elsewhere } = rows[0];
  if (group.mode === 'single' && several > 0) {
    throw new EstateError('tag_in_use', `${several} cards have several tags of the group.`, {
      extra: { card_count: several },
    });
  }
  if (elsewhere > 0) {
    throw new EstateError('tag_in_use', `${elsewhere} cards of other types have a tag of the group.`, {
      extra: { card_count: elsewhere },
    });
  }
}

/** A tag as it is taken off a card. */
interface TakenTag extends TaggedCard {
  tag_id: string;
  tag_name: string;
  group: string;
}

/**
 * Takes tags off all cards, with an event for each. Their scores follow with `rescore`, when the metamodel is as it
 * will be.
 */
export async function takeTagsOff(run: ChangeRun, tagIds: string[]): Promise<{ rescore(): Promise<void> }> {
  const { sql } = run.work;
  const [held] = await sql('card_tags').whereIn('tag_id', tagIds).count('* as links');
  const writing = await workOf(run, Number(held!.links));
  const cards = new Set<string>();
  for (;;) {
    const { rows } = await sql.raw(
      `with gone as (
         delete from card_tags where ctid in (
           select ctid from card_tags where tag_id = any(?::uuid[]) limit ${CHUNK}) returning card_id, tag_id
       )
       select c.id, c.type, c.name, t.id as tag_id, t.name as tag_name, g.name as "group"
       from gone join cards c on c.id = gone.card_id join tags t on t.id = gone.tag_id
       join tag_groups g on g.id = t.tag_group_id order by c.id, t.id`,
      [tagIds],
    );
    tellTaken(writing, rows);
    for (const { id } of rows as TakenTag[]) cards.add(id);
    await run.held?.flush();
    if (rows.length < CHUNK) break;
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

/** Takes all tags off cards that are about to be deleted, with an event for each. */
export async function deleteTags(work: Work, cardIds: readonly string[]): Promise<void> {
  const { rows } = await work.sql.raw(
    `with gone as (delete from card_tags where card_id = any(?::uuid[]) returning card_id, tag_id)
     select c.id, c.type, c.name, t.id as tag_id, t.name as tag_name, g.name as "group"
     from gone join cards c on c.id = gone.card_id join tags t on t.id = gone.tag_id
     join tag_groups g on g.id = t.tag_group_id order by c.id, t.id`,
    [cardIds] as never,
  );
  tellTaken(work, rows);
}

function tellTaken(work: Work, taken: TakenTag[]): void {
  for (const { tag_id, tag_name, group, ...card } of taken) {
    work.emit(tagEvent(card, { id: tag_id, name: tag_name, group }, false));
    work.raise(cardsTopic(card.type));
  }
}
