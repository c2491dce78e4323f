import { INITIATIVE } from '../../../domain/modelling/ppm/ppm.model.ts';
import { countedBars } from '../../kernel/charts/charts.counted.ts';
import { type ChartContext, typeLabel } from '../../kernel/charts/charts.labels.ts';
import type { BarsChart, Chart, FiguresChart } from '../../kernel/charts/charts.types.ts';

type Health = Record<'onTrack' | 'atRisk' | 'offTrack' | 'noReport', number>;

interface Portfolio {
  total_initiatives: number;
  by_status: Record<string, number>;
  health_schedule: Health;
  health_cost: Health;
  health_scope: Health;
  total_budget: number | null;
  total_actual: number | null;
  by_fiscal_year: { fiscal_year: number; budget: number; planned: number; actual: number }[] | null;
}

/** How the initiatives stand, their health, and where costs may be seen the money of each year. */
export function ppmDashboardChart(answer: Portfolio, context: ChartContext): Chart {
  const money: FiguresChart['items'] =
    answer.total_budget === null
      ? []
      : [
          { name: 'Budget', value: answer.total_budget, unit: 'currency' },
          { name: 'Actual', value: answer.total_actual, unit: 'currency' },
        ];
  return {
    kind: 'panels',
    title: 'Portfolio of initiatives',
    panels: [
      {
        kind: 'figures',
        title: typeLabel(context, INITIATIVE),
        items: [{ name: 'Cards', value: answer.total_initiatives, unit: 'count' }, ...money],
      },
      countedBars(context, INITIATIVE, 'initiativeStatus', answer.by_status),
      healthBars(answer),
      ...(answer.by_fiscal_year ? [yearBars(answer.by_fiscal_year)] : []),
    ],
  };
}

const healthBars = ({ health_schedule, health_cost, health_scope }: Portfolio): BarsChart => ({
  kind: 'bars',
  title: 'Health by the newest status reports',
  itemAxis: 'Health',
  valueAxis: 'Initiatives',
  unit: 'count',
  series: ['On track', 'At risk', 'Off track', 'No report'],
  items: [
    { name: 'Schedule', of: health_schedule },
    { name: 'Cost', of: health_cost },
    { name: 'Scope', of: health_scope },
  ].map(({ name, of }) => ({ name, values: [of.onTrack, of.atRisk, of.offTrack, of.noReport] })),
});

const yearBars = (years: NonNullable<Portfolio['by_fiscal_year']>): BarsChart => ({
  kind: 'bars',
  title: 'Money by fiscal year',
  itemAxis: 'Fiscal year',
  valueAxis: 'Amount',
  unit: 'currency',
  series: ['Budget', 'Planned', 'Actual'],
  beside: true,
  items: years.map(({ fiscal_year, budget, planned, actual }) => ({
    name: String(fiscal_year),
    values: [budget, planned, actual],
  })),
});

/** The initiatives along time, the first to begin first; in groups, these in the order of the report. */
export function ppmGanttChart(
  items: { name: string; start_date: string | null; end_date: string | null; group_name: string | null }[],
  grouped: boolean,
  context: ChartContext,
): Chart {
  const dated = items.filter(({ start_date, end_date }) => start_date ?? end_date);
  const order = grouped
    ? dated
    : dated.toSorted((a, b) => ((a.start_date ?? a.end_date)! < (b.start_date ?? b.end_date)! ? -1 : 1));
  const left = items.length - dated.length;
  return {
    kind: 'roadmap',
    title: `${typeLabel(context, INITIATIVE)} along time`,
    ...(left > 0 ? { note: `Not drawn: ${left} without a start or an end` } : {}),
    itemAxis: typeLabel(context, INITIATIVE),
    phases: ['From start to end', 'End'],
    today: context.today,
    items: order.map(({ name, start_date, end_date, group_name }) => ({
      name: grouped ? `${group_name ?? 'Ungrouped'}: ${name}` : name,
      dates: [start_date, end_date],
    })),
  };
}
