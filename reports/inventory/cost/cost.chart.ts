import { type ChartContext, typeLabel } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';

/** A bar for the costs of each card, the highest first. */
export const costChart = (
  items: { name: string; cost: number }[],
  type: string,
  context: ChartContext,
): Chart => ({
  kind: 'bars',
  title: `Cost: ${typeLabel(context, type)}`,
  itemAxis: typeLabel(context, type),
  valueAxis: 'Sum of all costs',
  unit: 'currency',
  series: ['Cost'],
  items: items.map(({ name, cost }) => ({ name, values: [cost] })),
});
