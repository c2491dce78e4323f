import { type ChartContext, typeLabel } from '../charts/charts.labels.ts';
import type { Chart } from '../charts/charts.types.ts';

/** A tile for each card in the area of its group. */
export const landscapeChart = (
  groups: { name: string; items: { name: string }[] }[],
  ungrouped: { name: string }[],
  { type, group_by }: { type: string; group_by: string },
  context: ChartContext,
): Chart => ({
  kind: 'treemap',
  title: `${typeLabel(context, type)} by ${typeLabel(context, group_by)}`,
  note: `Each tile is one of type ${typeLabel(context, type)}, in every group that it is related to`,
  valueAxis: 'cards',
  unit: 'count',
  even: true,
  items: [
    ...groups.flatMap(({ name, items }) => items.map((item) => ({ name: item.name, value: 1, group: name }))),
    ...ungrouped.map(({ name }) => ({ name, value: 1, group: 'Ungrouped' })),
  ],
});
