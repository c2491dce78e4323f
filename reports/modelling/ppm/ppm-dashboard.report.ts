import Type, { type Static } from 'typebox';
import { readSetting, SETTINGS_TOPIC } from '../../../domain/kernel/settings/settings.read.ts';
import { arrayOf, Count, Nullable, object } from '../../../domain/kernel/shapes.ts';
import { fiscalYearOf } from '../../../domain/modelling/ppm/fiscal-years.ts';
import { NEWEST_FIRST } from '../../../domain/modelling/ppm/initiative.kinds.ts';
import { INITIATIVE } from '../../../domain/modelling/ppm/ppm.model.ts';
import { embed, query } from '../../../platform/database.ts';
import { countedBars } from '../../kernel/charts/charts.counted.ts';
import type { ChartContext } from '../../kernel/charts/charts.labels.ts';
import { formatShare } from '../../kernel/charts/charts.numbers.ts';
import type { BarsChart, Chart, FiguresChart } from '../../kernel/charts/charts.types.ts';
import { groupedFiguresTable, reportTable } from '../../kernel/report.formats.ts';
import { numberIn } from '../../kernel/report.sql.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, type ReportInput, type ReportTable, reportSchema } from '../../kernel/report.ts';
import { initiativeTopics, ofPortfolio, showsCosts } from './ppm.shared.ts';

const Counts = Type.Record(Type.String(), Count);
const Amount = Nullable(Type.Number({ description: 'Null without costs.view' }));
const Health = object(
  { onTrack: Count, atRisk: Count, offTrack: Count, noReport: Count },
  { description: 'Initiatives by the health in their newest status report' },
);

const Result = reportSchema('PpmDashboard', {
  total_initiatives: Count,
  by_subtype: Counts,
  by_status: Counts,
  total_budget: Amount,
  total_actual: Amount,
  health_schedule: Health,
  health_cost: Health,
  health_scope: Health,
  by_fiscal_year: Nullable(
    arrayOf(
      {
        fiscal_year: Type.Integer(),
        budget: Type.Number(),
        planned: Type.Number({ description: 'Sum of cost lines with a date in the year' }),
        actual: Type.Number(),
      },
      { description: 'Null without costs.view' },
    ),
  ),
});
type Result = Static<typeof Result>;

/** Amounts of one fiscal year; planned and actual only include cost lines with a date. */
type Year = NonNullable<Result['by_fiscal_year']>[number];

type Input = ReportInput<object>;

/** Initiatives by subtype, status and health, and their sums. */
async function countInitiatives({ sql, cards }: Input): Promise<Omit<Result, 'by_fiscal_year' | 'position'>> {
  const counts = (by: string): string =>
    `(select coalesce(jsonb_object_agg(k, n), '{}') from (
       select ${by} as k, count(*) as n from i where ${by} is not null group by 1 order by 1) g)`;
  const health = (name: string): string =>
    `(select jsonb_build_object('onTrack', count(*) filter (where ${name} = 'onTrack'),
       'atRisk', count(*) filter (where ${name} = 'atRisk'),
       'offTrack', count(*) filter (where ${name} = 'offTrack'),
       'noReport', count(*) filter (where ${name} is null)) from i)`;
  const counted = await query(sql).row<Omit<Result, 'by_fiscal_year' | 'position'>>`with i as materialized (
       select c.subtype, c.attributes ->> 'initiativeStatus' as status,
         ${embed(numberIn('c.attributes', 'costBudget'))} as budget, ${embed(numberIn('c.attributes', 'costActual'))} as actual,
         r.schedule_health, r.cost_health, r.scope_health
       from cards c left join lateral (
         select * from ppm_reports t where t.card_id = c.id order by ${embed(NEWEST_FIRST)} limit 1
       ) r on true
       where c.type = ${INITIATIVE} and ${embed(cards)}
     )
     select (select count(*)::int from i) as total_initiatives, ${embed(counts('subtype'))} as by_subtype,
       ${embed(counts('status'))} as by_status,
       (select coalesce(sum(budget), 0)::float8 from i) as total_budget,
       (select coalesce(sum(actual), 0)::float8 from i) as total_actual,
       ${embed(health('schedule_health'))} as health_schedule, ${embed(health('cost_health'))} as health_cost,
       ${embed(health('scope_health'))} as health_scope`;
  return counted!;
}

/** Budget, planned and actual costs by fiscal year. */
async function sumByYear({ sql, cards }: Input): Promise<Year[]> {
  const month = await readSetting(sql, 'fiscal_year_start');
  const rows = await query(sql)
    .rows`with i as materialized (select c.id from cards c where c.type = ${INITIATIVE} and ${embed(cards)})
     select b.fiscal_year as year, null as month, sum(b.amount)::float8 as budget, 0::float8 as planned,
       0::float8 as actual
     from ppm_budget_lines b join i on i.id = b.card_id group by 1
     union all
     select null, to_char(l.date, 'YYYY-MM'), 0, sum(l.planned)::float8, sum(l.actual)::float8
     from ppm_cost_lines l join i on i.id = l.card_id where l.date is not null group by 2`;
  const years = new Map<number, Year>();
  for (const { year, month: of, budget, planned, actual } of rows) {
    const fiscal_year: number = year ?? fiscalYearOf(`${of}-01`, month);
    const sum = years.get(fiscal_year) ?? { fiscal_year, budget: 0, planned: 0, actual: 0 };
    sum.budget += budget;
    sum.planned += planned;
    sum.actual += actual;
    years.set(fiscal_year, sum);
  }
  return [...years.values()].sort((a, b) => a.fiscal_year - b.fiscal_year);
}

/** Status, health and costs of the portfolio of initiatives. */
export const ppmDashboardReport = defineReport({
  ...ofPortfolio,
  name: 'ppm-dashboard',
  id: 'readPpmDashboard',
  summary: 'Read the status, health and costs of the portfolio of initiatives',
  description:
    'Health is that of each initiative’s newest status report. Without costs.view all amounts are null. Fiscal years begin with the month in the settings, and are named after the calendar year in which they end.',
  params: {},
  result: Result,
  topics: () => [...initiativeTopics, SETTINGS_TOPIC],
  async compute(input) {
    const counted = await countInitiatives(input);
    const costs = showsCosts(input.ctx)
      ? { by_fiscal_year: await sumByYear(input) }
      : { total_budget: null, total_actual: null, by_fiscal_year: null };
    return JSON.stringify({ ...counted, ...costs });
  },
  tables: (result) => {
    const { total_initiatives, total_budget, total_actual, by_subtype } = result;
    const { health_schedule, health_cost, health_scope } = result;
    const portfolio = { total_initiatives, total_budget, total_actual };
    const health = { health_schedule, health_cost, health_scope };
    const figures = { portfolio, by_subtype, by_status: statusCounts(result), ...health };
    return [groupedFiguresTable(figures), yearsTable(result)];
  },
  chart: (result, _params, context) => ppmDashboardChart(result, context),
});

const yearsTable = ({ by_fiscal_year }: Result): ReportTable =>
  reportTable(
    'fiscal_years',
    { fiscal_year: 'number', budget: 'money', planned: 'money', actual: 'money' },
    by_fiscal_year ?? [],
  );

/** Initiatives by status; `unknown` are those without one. */
function statusCounts({ total_initiatives, by_status }: Result): Record<string, number> {
  const rest = total_initiatives - Object.values(by_status).reduce((sum, count) => sum + count, 0);
  return rest > 0 ? { ...by_status, unknown: rest } : by_status;
}

/** Status and health of the initiatives and, if costs are visible, the amounts of each year. */
function ppmDashboardChart(result: Result, context: ChartContext): Chart {
  const { total_initiatives, total_budget, total_actual, health_schedule } = result;
  const reported = total_initiatives - health_schedule.noReport;
  const spent = total_budget
    ? reportText(context, 'ppm.spent', { share: formatShare((total_actual ?? 0) / total_budget, context) })
    : reportText(context, 'ppm.noBudget');
  const money: FiguresChart['items'] =
    total_budget === null
      ? []
      : [
          {
            name: reportText(context, 'ppm.budget'),
            value: total_budget,
            unit: 'currency',
            hint: reportText(context, 'ppm.ofAll'),
          },
          { name: reportText(context, 'ppm.actual'), value: total_actual, unit: 'currency', hint: spent },
        ];
  return {
    kind: 'panels',
    title: reportText(context, 'ppm.title'),
    panels: [
      {
        kind: 'figures',
        title: reportText(context, 'ppm.portfolio'),
        items: [
          {
            name: reportText(context, 'ppm.title'),
            value: total_initiatives,
            unit: 'count',
            hint: reportText(context, 'ppm.subtypes', { count: Object.keys(result.by_subtype).length }),
          },
          {
            name: reportText(context, 'ppm.reported'),
            value: reported,
            unit: 'count',
            hint: reportText(context, 'ppm.without', { count: health_schedule.noReport }),
          },
          ...money,
        ],
      },
      countedBars(
        context,
        INITIATIVE,
        'initiativeStatus',
        statusCounts(result),
        reportText(context, 'ppm.noStatus'),
      ),
      healthBars(result, context),
      ...(result.by_fiscal_year?.length ? [yearBars(result.by_fiscal_year, context)] : []),
    ],
  };
}

const healthBars = (
  { health_schedule, health_cost, health_scope }: Result,
  context: ChartContext,
): BarsChart => ({
  kind: 'bars',
  title: reportText(context, 'ppm.health'),
  itemAxis: reportText(context, 'ppm.healthAxis'),
  valueAxis: reportText(context, 'ppm.title'),
  unit: 'count',
  series: [
    reportText(context, 'ppm.onTrack'),
    reportText(context, 'ppm.atRisk'),
    reportText(context, 'ppm.offTrack'),
    reportText(context, 'ppm.noReport'),
  ],
  paints: [{ quality: 3 }, { quality: 1 }, { quality: 0 }, 'none'],
  sums: false,
  empty: reportText(context, 'ppm.noHealth'),
  items: [
    { name: reportText(context, 'ppm.schedule'), of: health_schedule },
    { name: reportText(context, 'axis.cost'), of: health_cost },
    { name: reportText(context, 'ppm.scope'), of: health_scope },
  ]
    .filter(({ of }) => of.onTrack + of.atRisk + of.offTrack > 0)
    .map(({ name, of }) => ({ name, values: [of.onTrack, of.atRisk, of.offTrack, of.noReport] })),
});

const yearBars = (years: NonNullable<Result['by_fiscal_year']>, context: ChartContext): BarsChart => ({
  kind: 'bars',
  title: reportText(context, 'ppm.byYear'),
  itemAxis: reportText(context, 'axis.fiscalYear'),
  valueAxis: reportText(context, 'axis.amount'),
  unit: 'currency',
  series: [
    reportText(context, 'ppm.budget'),
    reportText(context, 'ppm.planned'),
    reportText(context, 'ppm.actual'),
  ],
  beside: true,
  items: years.map(({ fiscal_year, budget, planned, actual }) => ({
    name: String(fiscal_year),
    values: [budget, planned, actual],
  })),
});
