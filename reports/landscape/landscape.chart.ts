import { type ChartContext, typeLabel } from '../charts/charts.labels.ts';
import type { Chart } from '../charts/charts.types.ts';

const UNGROUPED = { key: '', name: 'Ungrouped' };

/** A tile for each card in the area of its group; a group without cards is an empty area. */
export const landscapeChart = (
  groups: { id: string; name: string; items: { name: string }[] }[],
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
    ...groups.flatMap(({ id, items }) => items.map(({ name }) => ({ name, value: 1, group: id }))),
    ...ungrouped.map(({ name }) => ({ name, value: 1, group: UNGROUPED.key })),
  ],
  groups: [
    ...groups.map(({ id, name }) => ({ key: id, name })),
    ...(ungrouped.length > 0 ? [UNGROUPED] : []),
  ],
});
