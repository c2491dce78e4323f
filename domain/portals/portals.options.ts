import { invalidField } from '../../platform/errors.ts';
import type { Ctx } from '../context.ts';
import { clause } from '../lists/lists.sql.ts';
import type { Condition } from '../lists/lists.types.ts';
import { matching } from './portals.cards.ts';
import { relationsFor, type Shown, type ShownRelation } from './portals.rules.ts';
import { relatedCards, shownCards } from './portals.scope.ts';
import type { PortalRow } from './portals.types.ts';

/** What is asked of the cards that those of a portal are related to. */
export interface OptionsQuery {
  /** The key of a shown relation type, or of the card type at its other end. */
  type_key: string;
  search?: string;
  page: number;
  page_size: number;
}

/** The relations that a question is about. @throws EstateError 422 where the portal shows none of that key. */
export function optionRelations(shown: Shown, { type_key }: OptionsQuery): ShownRelation[] {
  const relations = relationsFor(shown, type_key);
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
  const w = clause(await shownCards(ctx, row));
  const related = relatedCards(ctx, relations, (own) => ({
    sql: `r.${own} in (select c.id from cards c${w.sql})`,
    bindings: w.bindings,
  }));
  const named: Condition[] = search?.trim() ? [await matching(ctx.db, search, false)] : [];
  const found = clause([
    { sql: `c.id in (select x.id from (${related.sql}) x)`, bindings: related.bindings },
    ...named,
  ]);
  const { rows } = await ctx.db.raw(
    `with found as materialized (select c.id, c.name, c.name_key from cards c${found.sql})
     select json_build_object('items', (select coalesce(json_agg(json_build_object('id', id, 'name', name)
         order by name_key, id), '[]')
       from (select * from found order by name_key, id limit ? offset ?) listed),
       'total', (select count(*) from found), 'page', ?::int, 'page_size', ?::int)::text as text`,
    [...found.bindings, size, (page - 1) * size, page, size] as never,
  );
  return rows[0].text;
}
