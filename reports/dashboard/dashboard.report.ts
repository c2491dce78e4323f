import { may } from '../../domain/access/policy.ts';
import type { Ctx } from '../../domain/context.ts';
import { feedEnds } from '../../domain/events/changes.ts';
import type { Sql } from '../../platform/database.ts';
import { countChangedTypes } from '../kpis/kpis.counts.ts';
import { type Figures, figuresOf } from '../kpis/kpis.figures.ts';
import type { Report } from '../report.ts';

/** Days back to the snapshot that trends compare with. */
const COMPARISON_DAYS = 30;
const RECENT = 10;

interface Trend {
  current: number;
  previous: number | null;
  delta_abs: number | null;
  /** Null when there is nothing to compare with, or it was 0. */
  delta_pct: number | null;
}

/** One decimal. */
const round = (value: number) => Math.round(value * 10) / 10;

function trend(current: number, previous: number | undefined): Trend {
  if (previous === undefined) return { current, previous: null, delta_abs: null, delta_pct: null };
  const delta = round(current - previous);
  return {
    current,
    previous,
    delta_abs: delta,
    delta_pct: previous === 0 ? null : round((delta / previous) * 100),
  };
}

/** The snapshot of 30 days ago, else the oldest that is at least a day old. */
async function comparison(sql: Sql): Promise<{ slot: Date; metrics: Figures } | undefined> {
  const { rows } = await sql.raw(
    `(select slot, metrics from kpi_snapshots where slot <= now() - make_interval(days => ?) order by slot desc limit 1)
     union all
     (select slot, metrics from kpi_snapshots where slot <= now() - interval '1 day' order by slot limit 1)
     limit 1`,
    [COMPARISON_DAYS],
  );
  return rows[0];
}

/** The newest events of cards and relations, costs always cut: the answer is shared by many callers. */
async function recentEvents(sql: Sql, ctx: Ctx): Promise<unknown[]> {
  const hidden = ctx.metamodel.hiddenTypes;
  const costs = may(ctx.caller, 'costs.view');
  const { rows } = await sql.raw(
    `select e.id, e.card_id, c.name as card_name, e.event_type,
            ${costs ? 'e.data' : "cut_costs(e.data, coalesce(e.cost_keys, '{}'))"} as data,
            u.display_name as user_display_name, utc(e.at) as created_at
     from events e left join cards c on c.id = e.card_id left join users u on u.id = e.user_id
     where e.scope = 'inventory' and e.card_id is not null
       and split_part(e.event_type, '.', 1) in ('card', 'relation', 'tag') ${may(ctx.caller, 'relations.view') ? '' : 'and e.relation_id is null'}
       and not (coalesce(e.card_type, '') = any(?::text[])) and not (coalesce(e.peer_card_type, '') = any(?::text[]))
     order by e.position desc limit ?`,
    [hidden, hidden, RECENT],
  );
  return rows;
}

/** Key figures of the landscape, the newest events, and how the figures moved. */
export const dashboardReport: Report<Record<string, never>> = {
  name: 'dashboard',
  dependsOn: (topic) => /^(cards:|relations:|metamodel$|users$|kpis$)/.test(topic),
  variant: (ctx) =>
    [
      may(ctx.caller, 'costs.view'),
      may(ctx.caller, 'relations.view'),
      new Date().toISOString().slice(0, 10),
    ].join(),
  async compute(sql, ctx, _params, cache) {
    const today = new Date().toISOString().slice(0, 10);
    const { newest } = await feedEnds(sql);
    const figures = figuresOf(await countChangedTypes(sql, cache, ctx.metamodel.visibleTypes, today));
    const before = await comparison(sql);
    const status = (of: Figures, key: string) => of.approval_statuses[key] ?? 0;
    const previous = before?.metrics;
    return JSON.stringify({
      ...figures,
      recent_events: await recentEvents(sql, ctx),
      trends: {
        comparison_days: before
          ? Math.round((Date.now() - before.slot.getTime()) / 86_400_000)
          : COMPARISON_DAYS,
        snapshot_available: before !== undefined,
        snapshot_date: before ? before.slot.toISOString().slice(0, 10) : null,
        total_cards: trend(figures.total_cards, previous?.total_cards),
        avg_data_quality: trend(figures.avg_data_quality, previous?.avg_data_quality),
        approved_count: trend(status(figures, 'APPROVED'), previous && status(previous, 'APPROVED')),
        broken_count: trend(status(figures, 'BROKEN'), previous && status(previous, 'BROKEN')),
      },
      position: String(newest),
    });
  },
};
