import Type, { type Static } from 'typebox';
import { COSTS_TOPIC } from '../../../domain/inventory/costs/costs.model.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { translated } from '../../../domain/kernel/metamodel/languages.ts';
import { TranslationsSchema } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { readSetting, SETTINGS_TOPIC } from '../../../domain/kernel/settings/settings.read.ts';
import { arrayOf, Choice, DateOnly, IntegerIn, OptionalText } from '../../../domain/kernel/shapes.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import { type ChartContext, typeNames } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { choices } from '../../kernel/report.params.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, type ReportInput, reportSchema } from '../../kernel/report.ts';

const Result = reportSchema('CostPeriodsReport', {
  currency: Type.String({ examples: ['EUR'], description: 'That of the workspace' }),
  items: arrayOf(
    {
      period: Type.String({ examples: ['2026', '2026-03'] }),
      period_start: DateOnly,
      period_end: DateOnly,
      kind: Type.String({ examples: ['licence'] }),
      label: Type.String({ examples: ['Licence'], description: 'Of the kind' }),
      amount: Type.Number(),
    },
    { description: 'By period and kind; those without costs are omitted' },
  ),
  kinds: arrayOf(
    {
      key: Type.String({ examples: ['licence'] }),
      label: Type.String({ examples: ['Licence'] }),
      translations: Type.Optional(TranslationsSchema),
    },
    { description: 'The kinds of costs, with their labels in other languages' },
  ),
  from: Type.String({ ...DateOnly, description: 'The first day of the periods' }),
  to: Type.String({ ...DateOnly, description: 'Their last day' }),
  has_earlier: Type.Boolean({ description: 'Whether there are amounts before the periods' }),
  has_later: Type.Boolean({ description: 'Whether there are amounts after them' }),
  total: Type.Number(),
  left_out: Type.Integer({ description: 'Costs in currencies without an exchange rate, which are left out' }),
});
type Result = Static<typeof Result>;

const DAY_MS = 86_400_000;
const steps = ['year', 'month'] as const;
/** The most periods of one result. */
const MAX_PERIODS = 240;
const day = (description: string) => Type.Optional(Type.String({ ...DateOnly, description }));

const params = {
  type: OptionalText(100, 'Key of a card type; default: all types', choices({ of: 'types' })),
  of: Choice(
    ['cards', 'relations'],
    'The costs of cards, or those of relations of which one of the cards has an end; `relations` needs `relations.view`',
    'cards',
  ),
  by: Choice(
    steps,
    'Fiscal years, which are named after the calendar year in which they end, or months',
    'year',
  ),
  from: day(
    'A day of the first period; default: in the first year with amounts, by month in the current year',
  ),
  to: day('A day of the last period; default: in the last year with amounts, by month in the current year'),
  years: IntegerIn(
    1,
    100,
    'By year, without `from` or `to`: how many years before and after the current one are shown at most',
    10,
  ),
};
interface Params {
  type?: string;
  of: 'cards' | 'relations';
  by: (typeof steps)[number];
  from?: string;
  to?: string;
  years: number;
}

interface Period {
  period: string;
  first: string;
  last: string;
}

/** The first and the last day with amounts; null without any. */
interface Span {
  first: string | null;
  last: string | null;
}

/**
 * The periods of a request: by default the current fiscal year, and the years around it that have amounts.
 * @throws EstateError `validation_failed` for too many, or none.
 */
async function periodsOf(
  { sql, params: { by, from, to, years }, asOf }: ReportInput<Params>,
  span: Span,
): Promise<Period[]> {
  const month = await readSetting(sql, 'fiscal_year_start');
  const today = asOf.toISOString().slice(0, 10);
  const [first, last] = by === 'year' ? [span.first, span.last] : [null, null];
  const around = fragment`make_interval(years => ${years})`;
  const start = fragment`fiscal_year_start(coalesce(${from ?? null}::date,
      least(greatest(least(${first}::date, ${today}::date), ${today}::date - ${embed(around)})::date, ${to ?? null}::date)), ${month})`;
  const beginning =
    by === 'year'
      ? start
      : fragment`coalesce(date_trunc('month', ${from ?? null}::date)::date, ${embed(start)})`;
  const end = fragment`coalesce(${to ?? null}::date, (fiscal_year_start(
      greatest(least(greatest(${last}::date, ${today}::date), ${today}::date + ${embed(around)})::date, ${from ?? null}::date), ${month})
      + interval '1 year - 1 day')::date)`;
  const label = by === 'year' ? "to_char(b + interval '1 year - 1 day', 'YYYY')" : "to_char(b, 'YYYY-MM')";
  const periods = await query(sql).rows<Period>`select ${embed(label)} as period, b::date::text as first,
      (b + interval '1 ${embed(by)}' - interval '1 day')::date::text as last
    from generate_series((${embed(beginning)})::timestamp, (${embed(end)})::timestamp, interval '1 ${embed(by)}') b
    order by b limit ${MAX_PERIODS + 1}`;
  if (periods.length === 0) throw invalidField('to', 'before_start', 'is before from');
  if (periods.length > MAX_PERIODS) {
    throw invalidField('from', 'too_many', `begins more than ${MAX_PERIODS} periods`);
  }
  return periods;
}

/** The join of the costs `t` with visible relations of which one end meets the condition. */
function ofRelations({ ctx, visible }: ReportInput<Params>, condition: Fragment): Fragment {
  const types = ctx.metamodel.visibleRelationTypes;
  return fragment`join relations r on r.id = t.relation_id where r.type = any(${types}::text[])
    and r.source_id in (select c.id from cards c where ${embed(visible)})
    and r.target_id in (select c.id from cards c where ${embed(visible)})
    and exists (select from cards c where c.id in (r.source_id, r.target_id) and ${embed(condition)})`;
}

/** The costs of cards by period and kind. */
export const costPeriodsReport = defineReport({
  name: 'cost-periods',
  id: 'readCostPeriodsReport',
  summary: 'Read the costs of cards or relations by period and kind',
  description:
    'The costs of cards, or of relations, in fiscal years or months. An amount is the same on each day of its period, and is converted with the current exchange rates.',
  permission: 'reports.ea_dashboard',
  needs: ['costs.view'],
  params,
  result: Result,
  typeParams: ['type'],
  permissionNote: 'relations.view for the costs of relations',
  check(ctx, { of }) {
    if (of === 'relations') requirePermission(ctx.caller, 'relations.view');
  },
  topics: ({ type, of }) => [
    // both ends of a relation must be visible
    type === undefined || of === 'relations' ? 'cards' : `cards:${type}`,
    ...(of === 'relations' ? ['relations'] : []),
    COSTS_TOPIC,
    SETTINGS_TOPIC,
  ],
  isDaily: true,
  async compute(input) {
    const { sql, cards, params: asked } = input;
    const kinds = await readSetting(sql, 'cost_kinds');
    const ofType = asked.type === undefined ? fragment`true` : fragment`c.type = ${asked.type}`;
    const selected = fragment`${embed(ofType)} and ${embed(cards)}`;
    const owners =
      asked.of === 'cards'
        ? fragment`join cards c on c.id = t.card_id where ${embed(selected)}`
        : ofRelations(input, selected);
    const span = await query(sql).row<Span>`select min(t.period_start)::text as first,
      max(t.period_end)::text as last from costs t ${embed(owners)}`;
    const periods = await periodsOf(input, span!);
    const [from, to] = [periods[0]!.first, periods.at(-1)!.last];
    const rows = await query(sql).rows<{
      first: string | null;
      kind: string | null;
      amount: string;
      n: number;
    }>`
      with k as materialized (
        select t.kind, t.amount, t.period_start, t.period_end, t.currency
        from costs t ${embed(owners)} and t.period_end >= ${from}::date and t.period_start <= ${to}::date
      ), rates as materialized (
        select d.currency, exchange_rate(d.currency) as rate from (select distinct currency from k) d
      ), p as (
        select * from unnest(${periods.map(({ first }) => first)}::date[],
          ${periods.map(({ last }) => last)}::date[]) as p (first, last)
      )
      select p.first::text as first, k.kind,
        round(sum(cost_share(k.amount, k.period_start, k.period_end, p.first, p.last) * r.rate), 2) as amount,
        0 as n
      from k join rates r on r.currency = k.currency and r.rate is not null
      join p on p.first <= k.period_end and p.last >= k.period_start
      group by p.first, k.kind
      union all
      select null, null, 0, count(*)::int from k join rates r on r.currency = k.currency where r.rate is null`;
    const byFirst = new Map(periods.map((period) => [period.first, period]));
    const order = new Map(kinds.map(({ key }, n) => [key, n]));
    const items = rows
      .flatMap(({ first, kind, amount }) => {
        const period = byFirst.get(first ?? '');
        if (!period || kind === null) return [];
        const label = kinds.find(({ key }) => key === kind)?.label ?? kind;
        const { period: name, first: period_start, last: period_end } = period;
        return { period: name, period_start, period_end, kind, label, amount: Number(amount) };
      })
      .sort(
        (a, b) =>
          a.period_start.localeCompare(b.period_start) ||
          (order.get(a.kind) ?? kinds.length) - (order.get(b.kind) ?? kinds.length) ||
          a.kind.localeCompare(b.kind),
      );
    const total = items.reduce((sum, { amount }) => sum + amount, 0);
    return JSON.stringify({
      currency: await readSetting(sql, 'currency'),
      items,
      kinds,
      from,
      to,
      has_earlier: span!.first !== null && span!.first < from,
      has_later: span!.last !== null && span!.last > to,
      total: Number(total.toFixed(2)),
      left_out: rows.reduce((sum, { n }) => sum + n, 0),
    });
  },
  tables: ({ items }: Result) => [
    reportTable(
      'items',
      {
        period: 'key',
        period_start: 'date',
        period_end: 'date',
        kind: 'key',
        label: 'text',
        amount: 'money',
      } as const,
      items,
    ),
  ],
  chart: (result: Result, { type, by, of }, context): Chart => {
    const { items } = result;
    const byKey = new Map(result.kinds.map((kind) => [kind.key, kind]));
    const nameOf = ({ kind, label }: Result['items'][number]) =>
      translated(label, byKey.get(kind)?.translations, context.language);
    const series = [...new Set(items.map(nameOf))];
    const periods = [...new Set(items.map(({ period }) => period))];
    const amounts = new Map(items.map((item) => [`${item.period} ${nameOf(item)}`, item.amount]));
    const title = reportText(context, of === 'relations' ? 'costPeriods.relations' : 'costPeriods.title');
    return {
      kind: 'bars',
      title:
        type === undefined
          ? title
          : reportText(context, 'costPeriods.ofType', { title, ...typeNames(context, type) }),
      ...(items.length > 0 || result.has_earlier || result.has_later
        ? { note: noteOf(result, by, context) }
        : { empty: reportText(context, 'costPeriods.empty') }),
      itemAxis: reportText(context, by === 'year' ? 'axis.fiscalYear' : 'axis.month'),
      valueAxis: reportText(context, 'axis.amount'),
      unit: 'currency',
      series,
      items: periods.map((period) => ({
        name: period,
        values: series.map((label) => amounts.get(`${period} ${label}`) ?? 0),
      })),
    };
  },
});

/** Which periods a chart shows, and whether there are amounts outside of them. */
function noteOf(
  { from, to, has_earlier, has_later }: Result,
  by: Params['by'],
  context: ChartContext,
): string {
  // a fiscal year is named after the calendar year in which it ends
  const [year] = new Date(Date.parse(from) + 364 * DAY_MS).toISOString().split('-');
  const shown =
    by === 'year'
      ? reportText(context, 'costPeriods.years', { from: year!, to: to.slice(0, 4) })
      : reportText(context, 'costPeriods.months', { from: from.slice(0, 7), to: to.slice(0, 7) });
  const sides = has_earlier ? (has_later ? 'both' : 'before') : has_later ? 'after' : 'none';
  return reportText(context, `costPeriods.${sides}`, { shown });
}
