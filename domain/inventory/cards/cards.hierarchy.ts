import { queryRows } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { unseenCard, visibleCards } from './cards.visible.ts';

/**
 * Where a card stands: its ancestors of all levels with the root first, its level (a root is 1) and one page of
 * its children that are in the same state (active or archived) as itself, by name.
 * @throws EstateError `not_found`, `forbidden`.
 */
export async function readHierarchy(
  ctx: Ctx,
  id: string,
  params: { page: number; page_size: number },
): Promise<JsonText> {
  const visible = visibleCards(ctx);
  const rows = await queryRows<{ item: JsonText }>(
    ctx.db,
    `with recursive self as (
       select c.id, c.parent_id, c.status from cards c where c.id = ?::uuid and (${visible.sql})
     ), chain as (
       select c.id, c.parent_id, c.name, c.type, 1 as distance
       from self join cards c on c.id = self.parent_id
       union all
       select c.id, c.parent_id, c.name, c.type, chain.distance + 1
       from chain join cards c on c.id = chain.parent_id
     ) cycle id set looped using path,
     ancestors as (
       select json_agg(json_build_object('id', c.id, 'name', c.name, 'type', c.type) order by chain.distance desc)
                filter (where ${visible.sql}) as list,
              count(*) as number
       from chain join cards c on c.id = chain.id where not chain.looped
     )
     select json_build_object(
         'ancestors', coalesce(ancestors.list, '[]'),
         'children', coalesce((
           select json_agg(json_build_object('id', k.id, 'name', k.name, 'type', k.type) order by k.name_key, k.id)
           from (select c.id, c.name, c.type, c.name_key from cards c
                 where c.parent_id = self.id and c.status = self.status and (${visible.sql})
                 order by c.name_key, c.id limit ? offset ?) k), '[]'),
         'children_total', (select count(*) from cards c
                            where c.parent_id = self.id and c.status = self.status and (${visible.sql})),
         'page', ?::int, 'page_size', ?::int,
         'level', ancestors.number + 1)::text as item
     from self, ancestors`,
    [
      id,
      ...visible.bindings,
      ...visible.bindings,
      ...visible.bindings,
      params.page_size,
      (params.page - 1) * params.page_size,
      ...visible.bindings,
      params.page,
      params.page_size,
    ],
  );
  if (!rows[0]) throw unseenCard(ctx, notFound('card', id));
  return rows[0].item;
}
