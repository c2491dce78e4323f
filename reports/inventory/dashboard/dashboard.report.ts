import Type, { type Static } from 'typebox';
import { DateOnly, Nullable, object } from '../../../domain/kernel/shapes.ts';
import { query, type Sql } from '../../../platform/database.ts';
import {
  type ChartContext,
  phaseKeys,
  phaseLabel,
  typePaint,
  typePlural,
} from '../../kernel/charts/charts.labels.ts';
import { formatCount, formatShare } from '../../kernel/charts/charts.numbers.ts';
import { chartText } from '../../kernel/charts/charts.texts.ts';
import type { BarsChart, Chart } from '../../kernel/charts/charts.types.ts';
import { isNarrowed } from '../../kernel/report.cards.ts';
import { groupedFiguresTable } from '../../kernel/report.formats.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, type ReportInput, reportSchema } from '../../kernel/report.ts';
import { countChangedTypes, countTypes } from '../kpis/kpis.counts.ts';
import { type Figures, figureSchemas, figuresOf } from '../kpis/kpis.figures.ts';
import { eventsTable, RecentEvents, recentEvents } from './dashboard.events.ts';

const Trend = object({
  current: Type.Number(),
  previous: Nullable(Type.Number()),
  delta_abs: Nullable(Type.Number()),
  delta_pct: Nullable(Type.Number()),
});

const Result = reportSchema('Dashboard', {
  ...figureSchemas,
  recent_events: RecentEvents,
  trends: object({
    comparison_days: Type.Integer(),
    snapshot_available: Type.Boolean(),
    snapshot_date: Nullable(DateOnly),
    total_cards: Trend,
    avg_data_quality: Trend,
    approved_count: Trend,
    broken_count: Trend,
  }),
});

/** Age in days of the snapshot with which trends compare. */
const COMPARISON_DAYS = 30;
const RECENT = 10;

type Trend = Static<typeof Trend>;
type Result = Static<typeof Result>;

type Input = ReportInput<object>;

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

/** The snapshot of 30 days before, else the oldest that is at least a day older than it. */
async function comparison(sql: Sql, asOf: Date): Promise<{ slot: Date; metrics: Figures } | undefined> {
  const rows = await query(sql)
    .rows`(select slot, metrics from kpi_snapshots where slot <= ${asOf}::timestamptz - make_interval(days => ${COMPARISON_DAYS})
      order by slot desc limit 1)
     union all
     (select slot, metrics from kpi_snapshots where slot <= ${asOf}::timestamptz - interval '1 day' order by slot limit 1)
     limit 1`;
  return rows[0];
}

/** Counts of the cards; the current counts of all cards are cached by type. */
async function countsOf(input: Input): Promise<Figures> {
  const { sql, ctx, cards, isHistorical, asOf, cache } = input;
  const today = asOf.toISOString().slice(0, 10);
  const types = ctx.metamodel.visibleTypes;
  return figuresOf(
    isNarrowed(input) || isHistorical
      ? await countTypes(sql, types, today, cards)
      : await countChangedTypes(sql, cache, types, today),
  );
}

/** Key figures of the inventory, their trends, and the newest events. */
export const dashboardReport = defineReport({
  name: 'dashboard',
  id: 'readDashboard',
  summary: 'Read the key figures of the inventory',
  description:
    'Trends compare with the stored snapshot of 30 days before. They are null with a filter, or if the caller does not see all cards.',
  permission: 'reports.ea_dashboard',
  params: {},
  result: Result,
  reads: {
    cards: ['type', 'name', 'status', 'approval_status', 'data_quality', 'lifecycle'],
    others: false,
  },
  topics: () => ['cards', 'relations', 'users', 'kpis'],
  isDaily: true,
  async compute(input) {
    const { asOf } = input;
    const figures = await countsOf(input);
    const before = isNarrowed(input) ? undefined : await comparison(input.sql, asOf);
    const status = (of: Figures, key: string) => of.approval_statuses[key] ?? 0;
    const previous = before?.metrics;
    return JSON.stringify({
      ...figures,
      recent_events: await recentEvents(input, RECENT),
      trends: {
        comparison_days: before
          ? Math.round((asOf.getTime() - before.slot.getTime()) / 86_400_000)
          : COMPARISON_DAYS,
        snapshot_available: before !== undefined,
        snapshot_date: before ? before.slot.toISOString().slice(0, 10) : null,
        total_cards: trend(figures.total_cards, previous?.total_cards),
        avg_data_quality: trend(figures.avg_data_quality, previous?.avg_data_quality),
        approved_count: trend(status(figures, 'APPROVED'), previous && status(previous, 'APPROVED')),
        broken_count: trend(status(figures, 'BROKEN'), previous && status(previous, 'BROKEN')),
      },
    });
  },
  tables: (result) => {
    const { total_cards, avg_data_quality, by_type, approval_statuses } = result;
    const { data_quality_distribution, lifecycle_distribution } = result;
    const landscape = { total_cards, avg_data_quality };
    const distributions = { data_quality_distribution, lifecycle_distribution };
    const groups = { landscape, by_type, approval_statuses, ...distributions };
    return [groupedFiguresTable(groups), eventsTable('recent_events', result.recent_events)];
  },
  chart: (result, _params, context) => dashboardChart(result, context),
});

/** What a figure is compared with: its trend, or its share of all cards. */
function trendHint(
  context: ChartContext,
  { delta_abs }: Trend,
  { comparison_days: days }: Result['trends'],
  otherwise: string,
): string {
  if (delta_abs === null) return otherwise;
  const sign = delta_abs > 0 ? '+' : delta_abs < 0 ? '−' : '±';
  const change = `${sign}${formatCount(Math.abs(delta_abs), context)}`;
  return reportText(context, 'dashboard.trend', { change, days, otherwise });
}

/** The key figures, and distributions of the cards. */
function dashboardChart(result: Result, context: ChartContext): Chart {
  const { total_cards, avg_data_quality, approval_statuses, by_type, lifecycle_distribution, trends } =
    result;
  const share = (count: number) =>
    reportText(context, 'dashboard.share', {
      share: formatShare(total_cards === 0 ? 0 : count / total_cards, context),
    });
  const approved = approval_statuses.APPROVED ?? 0;
  const broken = approval_statuses.BROKEN ?? 0;
  const types = Object.entries(by_type)
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a);
  const dated = total_cards - (lifecycle_distribution.none ?? 0);
  const distribution = Object.entries(result.data_quality_distribution);
  const bars = (title: string, itemAxis: string, items: BarsChart['items'], note?: string): BarsChart => ({
    kind: 'bars',
    title,
    ...(note === undefined ? {} : { note }),
    itemAxis,
    valueAxis: reportText(context, 'axis.cards'),
    unit: 'count',
    series: [reportText(context, 'axis.cards')],
    items,
  });
  const phases = phaseKeys.map((phase) => ({
    name: phaseLabel(phase, context),
    values: [lifecycle_distribution[phase] ?? 0],
    paint: { phase },
  }));
  return {
    kind: 'panels',
    title: reportText(context, 'dashboard.title'),
    panels: [
      {
        kind: 'figures',
        title: reportText(context, 'dashboard.landscape'),
        items: [
          {
            name: reportText(context, 'axis.cards'),
            value: total_cards,
            unit: 'count',
            hint: trendHint(
              context,
              trends.total_cards,
              trends,
              reportText(context, 'dashboard.inTypes', {
                count: types.length,
              }),
            ),
          },
          {
            name: reportText(context, 'dashboard.quality'),
            value: avg_data_quality,
            unit: 'percent',
            hint: trendHint(
              context,
              trends.avg_data_quality,
              trends,
              reportText(context, 'dashboard.complete'),
            ),
          },
          {
            name: reportText(context, 'dashboard.approved'),
            value: approved,
            unit: 'count',
            hint: trendHint(context, trends.approved_count, trends, share(approved)),
          },
          {
            name: reportText(context, 'dashboard.broken'),
            value: broken,
            unit: 'count',
            hint: trendHint(context, trends.broken_count, trends, share(broken)),
            ...(broken > 0 ? { tone: 'warn' as const } : {}),
          },
        ],
      },
      bars(
        reportText(context, 'dashboard.byType'),
        reportText(context, 'axis.type'),
        types.map(([type, count]) => ({
          name: typePlural(context, type),
          values: [count],
          paint: typePaint(context, type),
        })),
      ),
      bars(
        reportText(context, 'dashboard.byPhase'),
        reportText(context, 'axis.phase'),
        [...phases, { name: chartText(context, 'phase.none'), values: [total_cards - dated], paint: 'none' }],
        reportText(context, 'dashboard.dated', { dated, total: total_cards }),
      ),
      bars(
        reportText(context, 'dashboard.byQuality'),
        reportText(context, 'axis.dataQuality'),
        distribution.map(([range, count], at) => ({
          name: `${range.replace('-', '–')} %`,
          values: [count],
          paint: { quality: Math.min(3, at) as 0 | 1 | 2 | 3 },
        })),
      ),
    ],
  };
}
