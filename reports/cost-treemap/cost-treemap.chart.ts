import { type ChartContext, fieldLabel, typeLabel } from '../charts/charts.labels.ts';
import type { Chart } from '../charts/charts.types.ts';

/** An area for the costs of each card, within that of its group. */
export const costTreemapChart = (
  items: { name: string; cost: number; group?: string }[],
  { type, cost_field }: { type: string; cost_field: string },
  context: ChartContext,
): Chart => ({
  kind: 'treemap',
  title: `Cost: ${typeLabel(context, type)}`,
  valueAxis: fieldLabel(context, type, cost_field),
  unit: 'currency',
  // what is earned has no area
  items: items
    .filter(({ cost }) => cost > 0)
    .map(({ name, cost, group }) => ({ name, value: cost, ...(group === undefined ? {} : { group }) })),
});
