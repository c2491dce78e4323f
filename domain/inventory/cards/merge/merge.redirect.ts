import { embed, query, type Sql } from '../../../../platform/database.ts';
import type { Ctx } from '../../../kernel/context.ts';
import { visibleCards } from '../cards.projection.ts';

/** The visible card into which another was merged; undefined if there is none. */
export async function survivorOf(ctx: Ctx, id: string): Promise<string | undefined> {
  const [survivor] = await query(ctx.db).column<string>`with recursive led as (
       select survivor_id as id from card_redirects where card_id = ${id}::uuid
       union
       select r.survivor_id from led join card_redirects r on r.card_id = led.id
     ) select c.id from led join cards c on c.id = led.id where ${embed(visibleCards(ctx))} limit 1`;
  return survivor;
}

/** The id of a card with those of all cards that were merged into it, directly or through other merges. */
export async function withMerged(sql: Sql, id: string): Promise<string[]> {
  return await query(sql).column<string>`with recursive whole as (
       select ${id}::uuid as id
       union
       select r.card_id from whole join card_redirects r on r.survivor_id = whole.id
     ) select id from whole`;
}

/**
 * An SQL expression for the surviving card of a merged one, across repeated merges; else the card itself.
 * @param card an SQL expression for its id.
 */
export const survivingCard = (card: string): string =>
  `case when exists (select from card_redirects d where d.card_id = ${card}) then (
     with recursive led as (
       select d.survivor_id as id from card_redirects d where d.card_id = ${card}
       union
       select d.survivor_id from led join card_redirects d on d.card_id = led.id
     ) select id from led where not exists (select from card_redirects d where d.card_id = led.id)
   ) else ${card} end`;
