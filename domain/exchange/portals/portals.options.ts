import { embed, query, queryRows } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx } from '../../kernel/context.ts';
import { whereClause } from '../../kernel/lists/lists.sql.ts';
import type { Condition, Fragment } from '../../kernel/lists/lists.types.ts';
import { matching } from './portals.cards.ts';
import type { PortalRow } from './portals.model.ts';
import { relationsFor, type Shown, type ShownRelation } from './portals.rules.ts';
import { relatedCards, shownCards } from './portals.scope.ts';

/** The query parameters of the cards to which those of a portal are related. */
export interface OptionsQuery {
  /** The key of a shown relation type, or of the card type at its other end. */
  type_key: string;
  search?: string;
  page: number;
  page_size: number;
}

/** The relations of a query. @throws EstateError 422 if the portal shows none with the key. */
export function optionRelations(shown: Shown, key: string): ShownRelation[] {
  const relations = relationsFor(shown, key);
  if (relations.length > 0) return relations;
  throw invalidField('type_key', 'not_offered', 'is no relation that this portal shows');
}

/** The active cards to which shown cards are related, by name. @param ctx that of the portal's reader. */
export async function optionsPage(
  ctx: Ctx,
  row: PortalRow,
  relations: ShownRelation[],
  { search, page, page_size: size }: OptionsQuery,
): Promise<string> {
  const w = whereClause(await shownCards(ctx, row));
  const related = relatedCards(ctx, relations, (own) => ({
    sql: `r.${own} in (select c.id from cards c${w.sql})`,
    bindings: w.bindings,
  }));
  const named: Condition[] = search?.trim() ? [await matching(ctx.db, search, false)] : [];
  const found = whereClause([
    { sql: `c.id in (select x.id from (${related.sql}) x)`, bindings: related.bindings },
    ...named,
  ]);
  const [answer] = await query(ctx.db).rows<{ text: string }>`with found as materialized (select c.id, c.name,
    c.name_key from cards c${embed(found)})
     select json_build_object('items', (select coalesce(json_agg(json_build_object('id', id, 'name', name)
         order by name_key, id), '[]')
       from (select * from found order by name_key, id limit ${size} offset ${(page - 1) * size}) listed),
       'total', (select count(*) from found), 'page', ${page}::int, 'page_size', ${size}::int)::text as text`;
  return answer!.text;
}

/**
 * All of them by name, or undefined if there are more than `max`. Each card of the other types is tested until enough
 * are found, which is fast for few and for many.
 */
export async function listFewOptions(
  ctx: Ctx,
  row: PortalRow,
  relations: ShownRelation[],
  max: number,
): Promise<string> {
  const w = whereClause(await shownCards(ctx, row));
  const visible = visibleCards(ctx);
  const related = (['outgoing', 'incoming'] as const).flatMap((direction): Fragment[] => {
    const keys = relations.filter((relation) => relation[direction]).map(({ type }) => type.key);
    // OFFSET prevents the planner from reading all relations first.
    const [own, other] = direction === 'outgoing' ? ['source_id', 'target_id'] : ['target_id', 'source_id'];
    const sql = `exists (select from relations r where r.${other} = o.id and r.type = any(?::text[])
      and exists (select from cards c${w.sql} and c.id = r.${own}) offset 0)`;
    return keys.length === 0 ? [] : [{ sql, bindings: [keys, ...w.bindings] }];
  });
  const types = [...new Set(relations.map(({ other }) => other))];
  const [list] = await queryRows<{ items: string }>(
    ctx.db,
    `with found as materialized (
       select o.id, o.name, o.name_key from cards o
       where o.type = any(?::text[]) and o.status = 'ACTIVE'
         and exists (select from cards c where c.id = o.id and (${visible.sql}))
         and (${related.map(({ sql }) => sql).join(' or ')})
       limit ?)
     select (case when count(*) > ? then '[]'
       else coalesce(json_agg(json_build_object('id', id, 'name', name) order by name_key, id), '[]') end)::text as items
     from found`,
    [types, ...visible.bindings, ...related.flatMap(({ bindings }) => bindings), max + 1, max],
  );
  return list!.items;
}
