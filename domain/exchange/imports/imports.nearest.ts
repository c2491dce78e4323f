import { embed, query, type Transaction } from '../../../platform/database.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';

/** How the row `p` of a plan names another card, for the error `e`. */
export interface Named {
  /** SQL of the value. */
  value: string;
  /** SQL of the key of the card's type, null for any. */
  type: string;
}

/** For how many unknown external ids of an import the most similar one is searched. */
const MOST_SEARCHED = 20;
/** From which similarity of trigrams on an external id was probably meant. */
const SIMILAR = 0.4;

/** Adds the value to errors about cards that do not exist, and the external id of a visible card that was probably meant. */
export async function nameUnknown(sql: Transaction, ctx: Ctx, named: Named): Promise<void> {
  const found = await query(sql).count`update plan_errors e set value = left(${embed(named.value)}, 60)
    from plan_rows p where p.line = e.line and e.code in ('unknown_card', 'unknown_parent')`;
  if (found === 0) return;
  await query(sql).run`with unknown as (
      select distinct e.value, ${embed(named.type)} as type
      from plan_errors e join plan_rows p on p.line = e.line
      where e.code in ('unknown_card', 'unknown_parent') and e.field like '%external_id' limit ${embed(MOST_SEARCHED)}
    )
    update plan_errors e set nearest = n.external_id
    from unknown u cross join lateral (
      select c.external_id, similarity(lower(c.external_id), lower(u.value)) as similar
      from cards c
      where c.external_id is not null and (u.type is null or c.type = u.type) and (${embed(visibleCards(ctx))})
        and search_text(c.name_key, c.alias, c.external_id) %> lower(u.value)
      order by 2 desc, 1 limit 1
    ) n, plan_rows p
    where p.line = e.line and e.field like '%external_id' and e.code in ('unknown_card', 'unknown_parent')
      and e.value = u.value and ${embed(named.type)} is not distinct from u.type and n.similar >= ${embed(SIMILAR)}`;
}
