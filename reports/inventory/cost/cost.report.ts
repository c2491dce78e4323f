import Type from 'typebox';
import { arrayOf, Uuid } from '../../../domain/kernel/shapes.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import { type ChartContext, typeLabel, typeNames } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { typeOf, typeParam } from '../../kernel/report.params.ts';
import { attributesOnce, jsonLine, numberIn } from '../../kernel/report.sql.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, pagedReportSchema } from '../../kernel/report.ts';

const Result = pagedReportSchema('CostReport', {
  items: arrayOf({ id: Uuid, name: Type.String(), cost: Type.Number() }),
  total: Type.Number(),
});

/** The sum of all cost fields of each card. */
export const costReport = defineReport({
  name: 'cost',
  id: 'readCostReport',
  summary: 'Read the costs of the cards of a type',
  description: 'The sum of all cost fields of each card, highest first; cards without costs are omitted.',
  permission: 'reports.ea_dashboard',
  needs: ['costs.view'],
  params: { type: typeParam('Application') },
  result: Result,
  reads: { cards: 'any', others: false },
  typeParams: ['type'],
  topics: ({ type }) => [`cards:${type}`],
  async compute({ sql, rows, ctx, params, cards }) {
    const { costKeys } = typeOf(ctx, 'type', params.type);
    const cost = costKeys.map((key) => numberIn('v.attributes', key)).join(' + ') || '0';
    const priced = fragment`select c.id, c.name, ${embed(cost)} as cost from cards c ${embed(attributesOnce)}
      where c.type = ${params.type} and ${embed(cards)}`;
    const items = await rows({
      from: fragment`(${embed(priced)}) p where p.cost <> 0`,
      alias: 'p',
      keys: [
        { sql: '-p.cost', type: 'numeric' },
        { sql: 'p.id', type: 'uuid' },
      ],
      line: jsonLine({ id: { id: 'p.id' }, name: { text: 'p.name' }, cost: { json: 'p.cost' } }),
    });
    const total = await query(sql).value`select coalesce(sum(p.cost), 0)::text from (${embed(priced)}) p`;
    return ['{"items":[\n', items, `\n],"total":${total}}`];
  },
  isPaged: true,
  long: 'items',
  tables: ({ items }) => [reportTable('items', { id: 'key', name: 'text', cost: 'money' }, items)],
  chart: ({ items }, { type }, context) => costChart(items, type, context),
});

/** One bar per card with its share and the running sum, highest cost first. */
function costChart(
  all: Iterable<{ id: string; name: string; cost: number }>,
  type: string,
  context: ChartContext,
): Chart {
  const items = [...all];
  return {
    kind: 'bars',
    title: reportText(context, 'cost.title', typeNames(context, type)),
    ...(items.length > 0
      ? { note: reportText(context, 'cost.note', { count: items.length }) }
      : { empty: reportText(context, 'cost.empty') }),
    itemAxis: typeLabel(context, type),
    valueAxis: reportText(context, 'cost.sum'),
    unit: 'currency',
    series: [reportText(context, 'axis.cost')],
    shares: true,
    most: 21,
    items: items.map(({ id, name, cost }) => ({ id, name, values: [cost] })),
  };
}
