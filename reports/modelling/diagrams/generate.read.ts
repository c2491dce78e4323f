import type { Ctx } from '../../../domain/kernel/context.ts';
import { notFound } from '../../../platform/errors.ts';
import { activeCards, reportCards } from '../../kernel/report.cards.ts';
import { relatedPairs } from '../../kernel/report.ends.ts';
import type { CardGroup } from './generate.shelves.ts';
import type { DrawnCard, DrawnRelation } from './generate.types.ts';

export interface Around {
  card_id: string;
  depth: number;
  direction: 'both' | 'outgoing' | 'incoming';
  /** Keys of relation types. */
  relations: string[];
  filter?: string;
  most: number;
}

export interface FoundGraph {
  /** The one in the middle first, the nearest before others. */
  cards: DrawnCard[];
  relations: DrawnRelation[];
  truncated: boolean;
}

/** The cards around one, hop by hop, until there are enough. @throws EstateError `not_found`, and as the filter's. */
export async function readAround(ctx: Ctx, asked: Around): Promise<FoundGraph> {
  const active = activeCards(ctx);
  const { rows: middle } = await ctx.db.raw(
    `select c.id, c.name, c.type from cards c where c.id = ?::uuid and ${active.sql}`,
    [asked.card_id, ...active.bindings],
  );
  if (!middle[0]) throw notFound('card', asked.card_id);
  const near = await reportCards(ctx, asked.filter);
  const cards: DrawnCard[] = [middle[0]];
  let front = [middle[0].id as string];
  let truncated = false;
  const out =
    'select r.target_id as id from relations r where r.source_id = any(?::uuid[]) and r.type = any(?::text[])';
  const into =
    'select r.source_id as id from relations r where r.target_id = any(?::uuid[]) and r.type = any(?::text[])';
  const ways = { both: [out, into], outgoing: [out], incoming: [into] }[asked.direction];
  for (let hop = 0; hop < asked.depth && front.length > 0 && !truncated; hop += 1) {
    const room = asked.most - cards.length;
    const { rows } = await ctx.db.raw(
      `select c.id, c.name, c.type from (${ways.join(' union ')}) near join cards c on c.id = near.id
       where c.id <> all(?::uuid[]) and ${near.sql} order by c.name_key, c.id limit ?`,
      [
        ...ways.flatMap(() => [front, asked.relations]),
        cards.map(({ id }) => id),
        ...near.bindings,
        room + 1,
      ],
    );
    truncated = rows.length > room;
    const reached = rows.slice(0, room) as DrawnCard[];
    cards.push(...reached);
    front = reached.map(({ id }) => id);
  }
  const ids = cards.map(({ id }) => id);
  const { rows: relations } = await ctx.db.raw(
    `select r.source_id as source, r.target_id as target, r.type from relations r
     where r.source_id = any(?::uuid[]) and r.target_id = any(?::uuid[]) and r.type = any(?::text[])
     order by r.source_id, r.target_id, r.type`,
    [ids, ids, asked.relations],
  );
  return { cards, relations, truncated };
}

export interface Grouped {
  type: string;
  group_by: string;
  filter?: string;
  most: number;
  /** What the frame of the cards that are related to none is called. */
  rest: string;
}

/** The cards of a type under those of another, by name; a card that is related to several stands under each. */
export async function readGroups(
  ctx: Ctx,
  { type, group_by, filter, most, rest }: Grouped,
): Promise<{ groups: CardGroup[]; truncated: boolean }> {
  const cards = await reportCards(ctx, filter);
  const active = activeCards(ctx);
  const pairs = relatedPairs(ctx, type, group_by);
  const { rows } = await ctx.db.raw(
    `with n as (select c.id, c.name, c.type, c.name_key from cards c where c.type = ? and ${cards.sql}),
     g as (select c.id, c.name, c.type, c.name_key from cards c where c.type = ? and ${active.sql}),
     p as (select ${pairs.once} e.card_id, e.other_id from (${pairs.sql}) e join g on g.id = e.other_id)
     select json_build_object('id', n.id, 'name', n.name, 'type', n.type) as card,
       case when g.id is not null then json_build_object('id', g.id, 'name', g.name, 'type', g.type) end as "group"
     from n left join p on p.card_id = n.id left join g on g.id = p.other_id
     order by g.id is null, g.name_key, g.id, n.name_key, n.id limit ?`,
    [type, ...cards.bindings, group_by, ...active.bindings, ...pairs.bindings, most + 1],
  );
  const groups = new Map<string, CardGroup>();
  for (const { card, group } of rows.slice(0, most) as { card: DrawnCard; group: DrawnCard | null }[]) {
    const key = group?.id ?? '';
    const known = groups.get(key) ?? { card: group, label: group?.name ?? rest, cards: [] };
    groups.set(key, known);
    known.cards.push(card);
  }
  return { groups: [...groups.values()], truncated: rows.length > most };
}
