import {
  type ChartContext,
  distinctLabels,
  fieldLabel,
  typeLabel,
} from '../../kernel/charts/charts.labels.ts';
import type { Chart, TreemapChart } from '../../kernel/charts/charts.types.ts';

/** An area for the costs of each card, within that of its group. */
export const costTreemapChart = (
  {
    items,
    groups,
  }: {
    items: { name: string; cost: number; group?: string; group_id?: string | null }[];
    groups: { id: string | null; name: string; parent_name?: string | null }[] | null;
  },
  { type, cost_field }: { type: string; cost_field: string },
  context: ChartContext,
): Chart => ({
  ...groupsOf(groups),
  kind: 'treemap',
  title: `Cost: ${typeLabel(context, type)}`,
  valueAxis: fieldLabel(context, type, cost_field),
  unit: 'currency',
  // what is earned has no area
  items: items
    .filter(({ cost }) => cost > 0)
    .map(({ name, cost, group, group_id }) => ({
      name,
      value: cost,
      ...(group === undefined ? {} : { group: group_id ?? group }),
    })),
});

function groupsOf(
  groups: { id: string | null; name: string; parent_name?: string | null }[] | null,
): Pick<TreemapChart, 'groups'> {
  if (!groups) return {};
  const labels = distinctLabels(groups, ({ parent_name }) => (parent_name ? [parent_name] : []));
  return { groups: groups.map(({ id, name }, at) => ({ key: id ?? name, name: labels[at]! })) };
}
