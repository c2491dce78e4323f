import { type ChartContext, distinctLabels, typeLabel } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';

const UNGROUPED = { key: '', name: 'Ungrouped' };

interface Group {
  id: string;
  name: string;
  parent_id: string | null;
  items: { name: string }[];
}

/** A tile for each card in the area of its group; a group without cards is an empty area. */
export function landscapeChart(
  groups: Group[],
  ungrouped: { name: string }[],
  { type, group_by }: { type: string; group_by: string },
  context: ChartContext,
): Chart {
  const byId = new Map(groups.map((group) => [group.id, group]));
  const labels = distinctLabels(groups, ({ parent_id }) => {
    const names: string[] = [];
    for (let above = byId.get(parent_id ?? ''); above; above = byId.get(above.parent_id ?? '')) {
      names.push(above.name);
    }
    return names;
  });
  return {
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
      ...groups.map(({ id }, at) => ({ key: id, name: labels[at]! })),
      ...(ungrouped.length > 0 ? [UNGROUPED] : []),
    ],
    memberName: typeLabel(context, type),
  };
}
