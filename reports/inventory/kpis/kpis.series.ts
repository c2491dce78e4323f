import type { Ctx } from '../../../domain/kernel/context.ts';
import { query } from '../../../platform/database.ts';
import type { InLanguage } from '../../kernel/charts/charts.texts.ts';
import type { Chart, LinesChart, Paint } from '../../kernel/charts/charts.types.ts';
import { reportText } from '../../kernel/report.texts.ts';
import type { Figures } from './kpis.figures.ts';

/** Maximum number of drawn snapshots; of more, the last of each interval is drawn. */
const MOST = 400;
/** Factor of the usual interval above which a missing snapshot is drawn as a gap. */
const GAP = { all: 1.5, thinned: 2.5 };

/** Stored snapshots over time, oldest first. */
export interface KpiSeries {
  /** RFC 3339. A point without figures is a gap. */
  points: { at: string; figures: Figures | null }[];
  /** Total number of snapshots. */
  total: number;
}

/** Reads the snapshots of a period with gaps, evenly sampled if there are too many. */
export async function readKpiSeries(
  ctx: Ctx,
  from: string | undefined,
  to: string | undefined,
): Promise<KpiSeries> {
  const rows = await query(ctx.db).rows`with s as (
       select slot, metrics, extract(epoch from slot)::float8 as at,
              extract(epoch from slot - lag(slot) over (order by slot))::float8 as since
       from kpi_snapshots
       where slot >= coalesce(${from ?? null}::timestamptz, '-infinity') and slot < coalesce(${to ?? null}::timestamptz, 'infinity')),
     b as (select count(*)::int as total, min(at) as first, (max(at) - min(at)) / ${MOST} as step,
                  percentile_cont(0.5) within group (order by since) as usual from s)
     select distinct on (stretch) extract(epoch from s.slot)::float8 * 1000 as at, s.metrics as figures, b.total,
            case when b.total > ${MOST} then b.step * ${GAP.thinned} else b.usual * ${GAP.all} end * 1000 as gap,
            case when b.total > ${MOST} then floor((s.at - b.first) / b.step) else s.at end as stretch
     from s cross join b order by stretch, s.slot desc`;
  const points: KpiSeries['points'] = [];
  let before: number | undefined;
  for (const { at, figures, gap } of rows as { at: number; figures: Figures; gap: number | null }[]) {
    if (before !== undefined && gap !== null && at - before > gap) {
      points.push({ at: new Date((before + at) / 2).toISOString(), figures: null });
    }
    points.push({ at: new Date(at).toISOString(), figures });
    before = at;
  }
  return { points, total: rows[0]?.total ?? 0 };
}

/** The key figures over time, with gaps where no snapshot was stored. */
export function kpiChart({ points, total }: KpiSeries, context: InLanguage): Chart {
  const drawn = points.filter(({ figures }) => figures !== null).length;
  const note =
    drawn < total ? reportText(context, 'kpis.note', { nth: Math.ceil(total / drawn) }) : undefined;
  const lines = (
    title: string,
    valueAxis: string,
    unit: LinesChart['unit'],
    series: Record<string, (figures: Figures) => number | undefined>,
    paints: Paint[] = [],
  ): LinesChart & { wide: boolean } => ({
    kind: 'lines',
    title,
    wide: true,
    valueAxis,
    unit,
    times: points.map(({ at }) => at),
    series: Object.entries(series).map(([name, of], at) => ({
      name,
      ...(paints[at] && { paint: paints[at] }),
      values: points.map(({ figures }) => (figures === null ? null : (of(figures) ?? 0))),
    })),
  });
  const title = reportText(context, 'kpis.title');
  if (drawn === 0)
    return { kind: 'list', title, columns: [], rows: [], empty: reportText(context, 'kpis.empty') };
  const [cards, all] = [reportText(context, 'axis.cards'), reportText(context, 'kpis.all')];
  return {
    kind: 'panels',
    title,
    ...(note === undefined ? {} : { note }),
    panels: [
      lines(cards, cards, 'count', { [all]: ({ total_cards }) => total_cards }),
      lines(reportText(context, 'dashboard.quality'), reportText(context, 'axis.dataQuality'), 'percent', {
        [all]: ({ avg_data_quality }) => avg_data_quality,
      }),
      lines(
        reportText(context, 'kpis.approval'),
        cards,
        'count',
        {
          [reportText(context, 'dashboard.approved')]: ({ approval_statuses }) => approval_statuses.APPROVED,
          [reportText(context, 'dashboard.broken')]: ({ approval_statuses }) => approval_statuses.BROKEN,
        },
        // those of the picture of the administration
        [{ tone: 'ok' }, { quality: 1 }],
      ),
    ],
  };
}
