import { embed, query } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { requireFindings, visibleCardsSql } from '../runs/runs.ts';
import { type ConcentrationFigures, concentrationFigures } from './concentration.rules.ts';
import { CRITICAL, shareOfCosts } from './suppliers.read.ts';

/**
 * The concentration of suppliers, from the current inventory and the groups that the last run found.
 * @throws EstateError `forbidden`.
 */
export async function readConcentration(ctx: Ctx): Promise<ConcentrationFigures> {
  requireFindings(ctx);
  // An application of two suppliers of one group counts once for the group, in the category of the first of them.
  const rows = await query(ctx.db).rows`with supplied as materialized (
       select s.group_name, s.category, s.id as supplier_id, c.id as card_id, c.type,
         c.attributes ->> 'businessCriticality' in ${embed(CRITICAL)} as critical,
         ${embed(shareOfCosts(ctx))} as cost
       from supplier_cards k join suppliers s on s.id = k.supplier_id and s.vendor_type <> 'product'
         join cards c on c.id = k.card_id
       where k.role = 'supplied' and ${embed(visibleCardsSql(ctx))}
     ), by_card as materialized (
       select group_name, card_id, type, coalesce(critical, false) as critical,
         (array_agg(category order by supplier_id))[1] as category, sum(cost) as cost
       from supplied group by group_name, card_id, type, critical
     ), sole as (
       select card_id from by_card group by card_id having count(*) = 1
     )
     select b.group_name as "group", b.category,
       count(*) filter (where b.type = 'Application')::int as apps,
       count(*) filter (where b.type = 'ITComponent')::int as components,
       count(*) filter (where b.critical)::int as "criticalApps",
       count(*) filter (where b.critical and o.card_id is not null)::int as "soleCriticalApps",
       sum(b.cost) as cost,
       (select count(distinct card_id)::int from by_card where critical) as total
     from by_card b left join sole o using (card_id)
     group by b.group_name, b.category
     order by b.group_name, b.category`;
  return concentrationFigures(rows, rows[0]?.total ?? 0);
}
