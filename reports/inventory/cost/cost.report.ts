import Type from 'typebox';
import { arrayOf, Uuid } from '../../../domain/kernel/shapes.ts';
import { embed, fragment } from '../../../platform/database.ts';
import { type ChartContext, typeLabel } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { itemsWithSums } from '../../kernel/report.lines.ts';
import { typeOf, typeParam } from '../../kernel/report.params.ts';
import { attributesOnce, jsonLine, numberIn } from '../../kernel/report.sql.ts';
import { defineReport, reportSchema } from '../../kernel/report.ts';

const Result = reportSchema('CostReport', {
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
  async compute({ lines, ctx, params, cards }) {
    const { costKeys } = typeOf(ctx, 'type', params.type);
    const cost = costKeys.map((key) => numberIn('v.attributes', key)).join(' + ') || '0';
    const item = jsonLine({ id: { id: 'p.id' }, name: { text: 'p.name' }, cost: { json: 'p.cost' } });
    // one line per item, and the total on the last line
    const read = await lines(fragment`with priced as materialized (
          select c.id, c.name, ${embed(cost)} as cost from cards c ${embed(attributesOnce)} where c.type = ${params.type} and ${embed(cards)})
        select l.line from (
          select 1 as part, p.cost, p.id, ${embed(item)} as line from priced p where p.cost <> 0
          union all select 2, null, null, '{"total":' || coalesce(sum(p.cost), 0) || '},' from priced p) l
        order by l.part, l.cost desc, l.id`);
    return itemsWithSums(read);
  },
  long: 'items',
  tables: ({ items }) => [reportTable('items', { id: 'key', name: 'text', cost: 'money' }, items)],
  chart: ({ items }, { type }, context) => costChart(items, type, context),
});

/** One bar per card, highest cost first. */
const costChart = (items: { name: string; cost: number }[], type: string, context: ChartContext): Chart => ({
  kind: 'bars',
  title: `Cost: ${typeLabel(context, type)}`,
  itemAxis: typeLabel(context, type),
  valueAxis: 'Sum of all costs',
  unit: 'currency',
  series: ['Cost'],
  items: items.map(({ name, cost }) => ({ name, values: [cost] })),
});
