import Type, { type Static } from 'typebox';
import { embed, query } from '../../../platform/database.ts';
import { visibleAttributes, visibleCards } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { isEnabled, loadSettings } from '../../kernel/settings/settings.read.ts';
import { arrayOf, Count, Nullable, object, Uuid } from '../../kernel/shapes.ts';
import { missingForAi } from '../ai/ai.provider.ts';
import { VENDOR_TYPE } from '../duplicates/duplicates.fields.ts';
import { visibleClusters } from '../duplicates/duplicates.visible.ts';

/** The data quality thresholds of silver and gold cards. */
const [SILVER, GOLD] = [50, 80];
const MOST_ISSUES = 10;

/** Quality and costs of the visible cards. */
export const OverviewSchema = object(
  {
    total_cards: Count,
    cards_by_type: Type.Record(Type.String(), Count),
    quality_avg: Type.Number(),
    quality_bronze: Type.Integer({ minimum: 0, description: 'Cards whose data quality is under 50' }),
    quality_silver: Type.Integer({ minimum: 0, description: 'From 50 up to 80' }),
    quality_gold: Type.Integer({ minimum: 0, description: 'From 80' }),
    total_cost: Nullable(Type.Number({ description: 'In a year; null without `costs.view`' })),
    vendor_count: Count,
    duplicate_clusters: Type.Integer({ minimum: 0, description: 'Those without a decision' }),
    modernization_count: Count,
    top_issues: arrayOf(
      { id: Uuid, name: Type.String(), type: Type.String(), data_quality: Type.Number() },
      { description: 'The cards with the least data quality' },
    ),
  },
  { $id: 'AnalysisOverview' },
);

/** Reads the overview. @throws EstateError `forbidden`. */
export async function readOverview(ctx: Ctx): Promise<Static<typeof OverviewSchema>> {
  requirePermission(ctx.caller, 'ai_analysis.view');
  const rows = await query(ctx.db).rows`with c as materialized (
       select c.id, c.type, c.name, c.data_quality::double precision as data_quality,
         case when jsonb_typeof(a.seen -> 'costTotalAnnual') = 'number'
           then (a.seen ->> 'costTotalAnnual')::numeric end as cost
       from cards c, lateral (select ${embed(visibleAttributes(ctx))} as seen) a
       where c.status = 'ACTIVE' and ${embed(visibleCards(ctx))}
     )
     select count(*)::int as total_cards,
       (select coalesce(json_object_agg(type, n order by type), '{}')
        from (select type, count(*) as n from c group by type) t) as cards_by_type,
       coalesce(round(avg(data_quality)::numeric, 1), 0)::double precision as quality_avg,
       count(*) filter (where data_quality < ${embed(SILVER)})::int as quality_bronze,
       count(*) filter (where data_quality >= ${embed(SILVER)}
       and data_quality < ${embed(GOLD)})::int as quality_silver,
       count(*) filter (where data_quality >= ${embed(GOLD)})::int as quality_gold,
       coalesce(sum(cost), 0)::double precision as total_cost,
       count(*) filter (where type = ${VENDOR_TYPE})::int as vendor_count,
       (select count(*)::int from duplicate_clusters d where d.status in ('pending', 'investigating')
          and ${embed(visibleClusters(ctx))}) as duplicate_clusters,
       (select count(*)::int from modernizations m where m.is_current and m.card_id in (select id from c)
          and not exists (select from modernization_decisions d
          where d.status = 'dismissed' and d.card_id = m.card_id
            and d.modernization_type = m.modernization_type)) as modernization_count,
       (select coalesce(json_agg(t), '[]') from (
          select id, name, type, data_quality from c order by data_quality, id
          limit ${embed(MOST_ISSUES)}) t) as top_issues
     from c`;
  return { ...rows[0], total_cost: may(ctx.caller, 'costs.view') ? rows[0].total_cost : null };
}

/** Whether analyses are available, and whether a language model is configured. */
export async function readStatus(ctx: Ctx) {
  const settings = await loadSettings(ctx.db);
  const enabled = isEnabled(settings, 'ai_analysis');
  return { ai_configured: missingForAi(settings).length === 0, ready: enabled, enabled };
}
